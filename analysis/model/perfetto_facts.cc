#include "analysis/model/perfetto_facts.h"

#include <array>
#include <cstddef>
#include <utility>

#include "analysis/model/kernel_priority.h"

namespace whylate::perfetto {
namespace {

template <typename Enum, size_t kSize>
using Words = std::array<std::pair<Enum, absl::string_view>, kSize>;

constexpr Words<SwitchOut, 5> kSwitchOuts = {{{SwitchOut::kRunnable, "runnable"},
                                              {SwitchOut::kBlocked, "blocked"},
                                              {SwitchOut::kThrottled, "throttled"},
                                              {SwitchOut::kExited, "exited"},
                                              {SwitchOut::kUnknown, "unknown"}}};
constexpr Words<SchedClass, 8> kClasses = {{{SchedClass::kStop, "stop"},
                                            {SchedClass::kDeadline, "deadline"},
                                            {SchedClass::kRealTime, "rt"},
                                            {SchedClass::kFair, "fair"},
                                            {SchedClass::kExt, "ext"},
                                            {SchedClass::kIdlePolicy, "idle_policy"},
                                            {SchedClass::kIdle, "idle"},
                                            {SchedClass::kUnknown, "unknown"}}};
constexpr Words<WakerContext, 5> kContexts = {{{WakerContext::kTask, "task"},
                                               {WakerContext::kHardIrq, "hardirq"},
                                               {WakerContext::kSoftIrq, "softirq"},
                                               {WakerContext::kNmi, "nmi"},
                                               {WakerContext::kUnknown, "unknown"}}};
constexpr Words<Pacing, 3> kPacings = {
    {{Pacing::kSkip, "skip"}, {Pacing::kCarry, "carry"}, {Pacing::kBackToBack, "back_to_back"}}};
constexpr Words<RoleKind, 7> kRoleKinds = {{{RoleKind::kWorkload, "workload"},
                                            {RoleKind::kLoad, "load"},
                                            {RoleKind::kKernel, "kernel"},
                                            {RoleKind::kObserver, "observer"},
                                            {RoleKind::kOther, "other"},
                                            {RoleKind::kIdle, "idle"},
                                            {RoleKind::kUnknown, "unknown"}}};

template <typename Enum, size_t kSize>
absl::string_view Word(const Words<Enum, kSize>& words, Enum value) {
  for (const auto& [enumerator, word] : words) {
    if (enumerator == value) return word;
  }
  return "unknown";
}

template <typename Enum, size_t kSize>
std::optional<Enum> Enumerator(const Words<Enum, kSize>& words, absl::string_view text) {
  for (const auto& [enumerator, word] : words) {
    if (word == text) return enumerator;
  }
  return std::nullopt;
}

std::optional<uint8_t> HexDigit(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint8_t>(c - '0');
  if (c >= 'A' && c <= 'F') return static_cast<uint8_t>(c - 'A' + 10);
  return std::nullopt;
}

constexpr int32_t kDeadlinePriority = -1;

constexpr uint32_t kTaskReport = 0x7f;
constexpr uint32_t kReportIdle = 0x80;
constexpr uint32_t kReportPreempted = 0x100;
constexpr uint32_t kReportDead = 0x10;
constexpr uint32_t kReportZombie = 0x20;
constexpr uint32_t kTaskIdle = 0x402;  // TASK_UNINTERRUPTIBLE | TASK_NOLOAD

}  // namespace

std::string AsciiOfBytes(absl::string_view bytes) {
  constexpr absl::string_view kHex = "0123456789ABCDEF";
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '%') {
      text += c;
    } else {
      text += '%';
      text += kHex[byte >> 4];
      text += kHex[byte & 15];
    }
  }
  return text;
}

std::string BytesOfAscii(absl::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && text.size() - i > 2) {
      const std::optional<uint8_t> high = HexDigit(text[i + 1]);
      const std::optional<uint8_t> low = HexDigit(text[i + 2]);
      if (high && low) {
        bytes += static_cast<char>(*high << 4 | *low);
        i += 2;
        continue;
      }
    }
    bytes += text[i];
  }
  return bytes;
}

absl::string_view WordOf(SwitchOut out) { return Word(kSwitchOuts, out); }
absl::string_view WordOf(SchedClass sched_class) { return Word(kClasses, sched_class); }
absl::string_view WordOf(WakerContext context) { return Word(kContexts, context); }
absl::string_view WordOf(Pacing pacing) { return Word(kPacings, pacing); }
absl::string_view WordOf(RoleKind kind) { return Word(kRoleKinds, kind); }

std::optional<SwitchOut> SwitchOutOf(absl::string_view word) {
  return Enumerator(kSwitchOuts, word);
}
std::optional<SchedClass> SchedClassOf(absl::string_view word) {
  return Enumerator(kClasses, word);
}
std::optional<WakerContext> WakerContextOf(absl::string_view word) {
  return Enumerator(kContexts, word);
}
std::optional<Pacing> PacingOf(absl::string_view word) { return Enumerator(kPacings, word); }
std::optional<RoleKind> RoleKindOf(absl::string_view word) { return Enumerator(kRoleKinds, word); }

std::optional<int32_t> ReportedPriority(Tid tid, const TaskStanding& standing) {
  switch (standing.sched_class) {
    case SchedClass::kDeadline:
      return kDeadlinePriority;
    case SchedClass::kRealTime:
      if (!standing.rt_priority || *standing.rt_priority < 1 || *standing.rt_priority > 99) break;
      return kHighestRealTime - *standing.rt_priority;
    case SchedClass::kFair:
    case SchedClass::kExt:
    case SchedClass::kIdlePolicy:
      if (!standing.nice || *standing.nice < -20 || *standing.nice > 19) break;
      return kNiceZero + *standing.nice;
    case SchedClass::kIdle:
      if (tid == Tid{0}) return kNiceZero;
      break;
    case SchedClass::kStop:
      return 0;
    case SchedClass::kUnknown:
      break;
  }
  return std::nullopt;
}

uint32_t ReportedState(SwitchOut out, uint32_t raw_state, bool preempt) {
  if (out == SwitchOut::kRunnable || out == SwitchOut::kThrottled) {
    return raw_state == 0 && !preempt ? 0 : kReportPreempted;
  }
  if (out == SwitchOut::kExited) return kReportDead;
  if ((raw_state & kTaskIdle) == kTaskIdle) return kReportIdle;
  return raw_state & kTaskReport;
}

SwitchOut OutOfReportedState(uint32_t reported) {
  if (reported == 0 || reported == kReportPreempted) return SwitchOut::kRunnable;
  if ((reported & (kReportDead | kReportZombie)) != 0) return SwitchOut::kExited;
  return SwitchOut::kBlocked;
}

}  // namespace whylate::perfetto
