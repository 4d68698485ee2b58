#include "analysis/import/prev_state.h"

#include "analysis/import/text_scan.h"

namespace whylate {
namespace {

constexpr uint32_t kStopped = 0x4;
constexpr uint32_t kDead = 0x10;
constexpr uint32_t kZombie = 0x20;
constexpr uint32_t kParked = 0x40;
constexpr uint32_t kIdle = 0x80;
constexpr uint32_t kPreempted = 0x100;

PrevState OfFlags(uint32_t flags) {
  PrevState state;
  state.flags = flags;
  if ((flags & (kDead | kZombie)) != 0) {
    state.out = SwitchOut::kExited;
  } else if ((flags & 0xff) != 0) {
    state.out = SwitchOut::kBlocked;
  } else {
    state.out = SwitchOut::kRunnable;
  }
  return state;
}

PrevState OfOldFlags(uint32_t number) {
  constexpr uint32_t kOldDead = 0x70;    // zombie, dead, and the state of a task that never returns
  constexpr uint32_t kOldAsleep = 0x0f;  // interruptible, uninterruptible, stopped, traced
  constexpr uint32_t kOldWaking = 0x100;   // woken before it was off its CPU
  constexpr uint32_t kOldWakeKill = 0x80;  // of a task on its way to sleep
  constexpr uint32_t kOldParked = 0x200;
  if ((number & kOldDead) != 0) return OfFlags(kDead);
  if ((number & kOldAsleep) != 0) return OfFlags(number & kOldAsleep);
  if (number == kOldParked) return OfFlags(kParked);
  if (number == kOldWaking || number == kOldWakeKill) return {SwitchOut::kBlocked, 0, false};
  return OfFlags(number == 0 ? 0 : kPreempted);
}

PrevState OfIndex(uint32_t number) {
  if (number == 0 || number >= kPreempted) return OfFlags(number == 0 ? 0 : kPreempted);
  // Past the last index are flags of a kernel that claims to be another.
  if (number > 8) return OfFlags(number);
  PrevState state = OfFlags(uint32_t{1} << (number - 1));
  state.is_index = number > 2;
  return state;
}

}  // namespace

std::optional<StateLayout> LayoutOfKernel(absl::string_view release) {
  const std::optional<int64_t> major = TakeNumber(&release);
  if (!major.has_value() || !TakePrefix(&release, ".")) return std::nullopt;
  const std::optional<int64_t> minor = TakeNumber(&release);
  if (!minor.has_value()) return std::nullopt;
  if (*major == 4 && *minor == 14) return StateLayout::kIndices;
  return *major < 4 || (*major == 4 && *minor < 14) ? StateLayout::kOldFlags : StateLayout::kFlags;
}

StateLayout LayoutOfLargest(uint32_t largest_state) {
  return largest_state > 2 * kPreempted ? StateLayout::kOldFlags : StateLayout::kFlags;
}

PrevState PrevStateOfNumber(uint32_t number, StateLayout layout) {
  switch (layout) {
    case StateLayout::kIndices:
      return OfIndex(number);
    case StateLayout::kOldFlags:
      return OfOldFlags(number);
    case StateLayout::kFlags:
      break;
  }
  return OfFlags(number);
}

std::optional<PrevState> PrevStateOfLetters(absl::string_view letters) {
  if (letters.empty() || letters.size() > 32) return std::nullopt;
  uint32_t flags = 0;
  bool is_runnable = false;       // says so
  bool is_marked = false;         // of what a task that could run has not
  uint32_t sleeping_letters = 0;  // S, D and T as the flags that 4.14 takes its indices for
  for (const char c : letters) {
    switch (c) {
      case '|':
        break;
      case 'R':
        is_runnable = true;
        break;
      case '+':
        is_runnable = true;
        flags |= kPreempted;
        break;
      case 'S':
        flags |= 0x1;
        sleeping_letters |= 0x1;
        break;
      case 'D':
        flags |= 0x2;
        sleeping_letters |= 0x2;
        break;
      case 'T':
        flags |= kStopped;
        sleeping_letters |= kStopped;
        break;
      case 't':
        flags |= 0x8;
        break;
      case 'X':
      case 'x':
        flags |= kDead;
        break;
      case 'Z':
        flags |= kZombie;
        break;
      case 'P':
        flags |= kParked;
        break;
      case 'I':
        flags |= kIdle;
        break;
      case 'K':  // with D: killable
      case 'W':  // waking; with D, in some versions, killable
      case 'N':  // no load; with D: idle
      case 'p':
        is_marked = true;
        break;
      default:
        return std::nullopt;
    }
  }
  // Alone, as old kernels print their bits past the eight: woken before it was off its CPU, or on its
  // way there. Nobody preempted it.
  if (flags == 0 && !is_runnable) {
    if (!is_marked) return std::nullopt;
    return PrevState{SwitchOut::kBlocked, 0, false};
  }
  // A task sleeps in one way only.
  const bool is_index = (sleeping_letters & (sleeping_letters - 1)) != 0;
  return is_index ? OfIndex(sleeping_letters) : OfFlags(flags);
}

}  // namespace whylate
