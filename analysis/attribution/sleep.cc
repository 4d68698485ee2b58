#include "analysis/attribution/sleep.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace whylate {
namespace {

// include/linux/sched.h
constexpr uint32_t kUninterruptible = 0x2;
constexpr uint32_t kStoppedOrTraced = 0x4 | 0x8;
constexpr uint32_t kFrozen = 0x8000;
constexpr uint32_t kStoppedTracedFrozen = kStoppedOrTraced | kFrozen;

// What a function of the kernel, on the stack of a sleep, says of it. The first row whose text the
// name of a function begins with, innermost function first.
struct FunctionRow {
  absl::string_view prefix;
  BlockKind kind;
};
constexpr FunctionRow kFunctions[] = {
    {"__refrigerator", BlockKind::kFrozen},
    {"do_freezer_trap", BlockKind::kFrozen},
    {"do_signal_stop", BlockKind::kStopped},
    {"do_group_exit", BlockKind::kOther},
    {"ptrace_stop", BlockKind::kStopped},
    {"io_schedule", BlockKind::kIo},
    {"folio_wait", BlockKind::kIo},
    {"__folio_lock", BlockKind::kIo},
    {"bit_wait_io", BlockKind::kIo},
    {"wait_on_page", BlockKind::kIo},
    {"__wait_on_buffer", BlockKind::kIo},
    {"submit_bio_wait", BlockKind::kIo},
    {"blk_", BlockKind::kIo},
    {"wait_for_completion_io", BlockKind::kIo},
    {"balance_dirty_pages", BlockKind::kIo},
    {"jbd2_log_wait_commit", BlockKind::kIo},
    {"futex_", BlockKind::kLock},
    {"__futex_", BlockKind::kLock},
    {"mutex_", BlockKind::kLock},
    {"__mutex_", BlockKind::kLock},
    {"rwsem_", BlockKind::kLock},
    {"down_", BlockKind::kLock},
    {"__down", BlockKind::kLock},
    {"rt_mutex_", BlockKind::kLock},
    {"__rt_mutex_", BlockKind::kLock},
    {"rwbase_", BlockKind::kLock},
    {"percpu_rwsem_", BlockKind::kLock},
    {"do_nanosleep", BlockKind::kSleep},
    {"hrtimer_nanosleep", BlockKind::kSleep},
};
// A wait for a page that such a function asked for is a fault.
constexpr absl::string_view kFaultPrefixes[] = {
    "filemap_fault", "handle_mm_fault", "__handle_mm_fault", "do_swap_page", "faultin_page"};

const SwitchEvent* SwitchOutOf(const Timeline& timeline, const TaskSpan& blocked) {
  if (blocked.out_event == kNoEvent) return nullptr;
  return std::get_if<SwitchEvent>(&timeline.event(blocked.out_event).body);
}

uint32_t PrevState(const Timeline& timeline, const TaskSpan& blocked) {
  const SwitchEvent* out = SwitchOutOf(timeline, blocked);
  return out == nullptr ? 0 : out->prev_state;
}

bool IsFault(absl::string_view function) {
  return std::any_of(std::begin(kFaultPrefixes), std::end(kFaultPrefixes),
                     [&](absl::string_view prefix) { return absl::StartsWith(function, prefix); });
}

BlockKind KindOfStack(const std::vector<std::string>& stack) {
  for (const std::string& function : stack) {
    for (const FunctionRow& row : kFunctions) {
      if (!absl::StartsWith(function, row.prefix)) continue;
      const bool is_fault =
          row.kind == BlockKind::kIo && std::any_of(stack.begin(), stack.end(), IsFault);
      return is_fault ? BlockKind::kFault : row.kind;
    }
  }
  return stack.empty() ? BlockKind::kUnknown : BlockKind::kOther;
}

const WakingEvent* Waking(const Timeline& timeline, const TaskSpan& blocked) {
  if (blocked.waking_event == kNoEvent) return nullptr;
  return std::get_if<WakingEvent>(&timeline.event(blocked.waking_event).body);
}

// Whatever the two are: a timer may be armed for never.
bool IsNear(int64_t a_ns, int64_t b_ns) {
  const uint64_t apart_ns = a_ns < b_ns ? static_cast<uint64_t>(b_ns) - static_cast<uint64_t>(a_ns)
                                        : static_cast<uint64_t>(a_ns) - static_cast<uint64_t>(b_ns);
  return apart_ns <= uint64_t{kReleaseTimerToleranceNs};
}

// What the records say of the timer of a sleep.
struct SleepTimer {
  std::optional<int64_t> expires_ns;
  bool fired = false;
  std::optional<bool> absolute;
};

// The stretch in which a sleep's timer can have been armed: since the thread's last sleep, preempted
// at times, until this one. What was armed earlier may have been cancelled, which has no event.
struct ArmingTime {
  Interval interval;
  bool whole = false;  // all of it is recorded
};

ArmingTime FindArmingTime(const Timeline& timeline, TaskIndex task, const TaskSpan& blocked) {
  ArmingTime arming{{blocked.start_ns, blocked.start_ns}, false};
  if (task == kNoTask || blocked.out_event == kNoEvent) return arming;
  for (;;) {
    const TaskSpan* before = timeline.spans().SpanAt(task, arming.interval.start_ns - 1);
    if (before == nullptr) break;  // the recording's begin
    if (before->state == TaskState::kUnknown) return arming;
    const bool preempted =
        before->state == TaskState::kQueued && before->queued_by == QueuedBy::kSwitchOut;
    if (before->state != TaskState::kRunning && !preempted) break;
    arming.interval.start_ns = before->start_ns;
  }
  arming.whole = Clip(timeline.cpus().AllGaps(), arming.interval).empty();
  return arming;
}

SleepTimer FindTimer(const Timeline& timeline, TaskIndex task, const TaskSpan& blocked) {
  SleepTimer timer;
  const int64_t armed_since_ns = FindArmingTime(timeline, task, blocked).interval.start_ns;
  const std::vector<int32_t>& timers = timeline.TimersOf(task);
  auto after = std::partition_point(timers.begin(), timers.end(), [&](int32_t index) {
    return timeline.event(index).time_ns <= blocked.end_ns;
  });
  // Backwards: the expiry, if it fired, then what armed it.
  while (after != timers.begin()) {
    const SchedEvent& event = timeline.event(*--after);
    if (event.time_ns < armed_since_ns) break;
    if (const auto* expire = std::get_if<TimerExpireEvent>(&event.body)) {
      // An expiry before the switch-out ended no sleep of this span.
      if (event.time_ns < blocked.start_ns || timer.fired) break;
      timer.fired = true;
      timer.expires_ns = expire->expires_ns;
    } else if (const auto* start = std::get_if<TimerStartEvent>(&event.body)) {
      if (!timer.fired) timer.expires_ns = start->expires_ns;
      if (IsNear(start->expires_ns, *timer.expires_ns)) {
        timer.absolute = start->absolute;
      }
      break;
    }
  }
  return timer;
}

bool EndedByTask(const WakingEvent* waking) {
  return waking != nullptr && waking->context == WakerContext::kTask;
}

bool IsTimerSource(const WakingEvent& waking) {
  return absl::StrContains(absl::AsciiStrToLower(waking.source_name), "timer");
}

// A sleep that no task ended, and of which nothing on its stack says that it is for a device.
void ClassifyInterrupted(const Timeline& timeline, const Cast& cast, TaskIndex task,
                         const TaskSpan& blocked, Sleep* sleep) {
  const bool has_timers = timeline.IsWatched(task);
  const SleepTimer timer = FindTimer(timeline, task, blocked);
  const WakingEvent* waking = Waking(timeline, blocked);
  if (timer.fired) {
    sleep->kind = BlockKind::kSleep;
    sleep->subject = kSubjectSelf;
    sleep->absorbs = timer.absolute.value_or(true);
    return;
  }
  if (waking == nullptr || waking->context == WakerContext::kUnknown) return;
  if (!has_timers && IsTimerSource(*waking)) {
    sleep->kind = BlockKind::kSleep;
    sleep->subject = cast.SubjectOf(task, blocked.start_ns);
    return;
  }
  // Uninterruptible, and ended by a device's interrupt: input or output, or a page that came in.
  if ((PrevState(timeline, blocked) & kUninterruptible) != 0 && !IsTimerSource(*waking)) {
    sleep->kind = BlockKind::kIo;
    sleep->subject = kSubjectIo;
    sleep->absorbs = false;
  }
}

}  // namespace

bool IsSure(const Timeline& timeline, TaskIndex task, const TaskSpan& blocked) {
  const SleepTimer timer = FindTimer(timeline, task, blocked);
  const bool end_known = blocked.waking_event != kNoEvent || timer.fired;
  if (!end_known) return false;
  if (timer.absolute.has_value()) return blocked.out_event != kNoEvent || timer.fired;
  return FindArmingTime(timeline, task, blocked).whole;
}

bool IsReleaseSleep(const Timeline& timeline, TaskIndex task, const TaskSpan& blocked,
                    int64_t release_ns) {
  if ((PrevState(timeline, blocked) & (kStoppedTracedFrozen | kUninterruptible)) != 0) return false;
  const SleepTimer timer = FindTimer(timeline, task, blocked);
  if (timer.expires_ns.has_value()) {
    return timer.absolute.value_or(true) && IsNear(*timer.expires_ns, release_ns);
  }
  if (EndedByTask(Waking(timeline, blocked))) return false;
  // Where its timers are recorded and this sleep has none, it slept on something else.
  return !timeline.recording().trace->has_timers || !FindArmingTime(timeline, task, blocked).whole;
}

std::vector<std::string> StackOf(const Timeline& timeline, const TaskSpan& blocked) {
  const SwitchEvent* out = SwitchOutOf(timeline, blocked);
  const std::vector<std::vector<std::string>>& stacks = timeline.recording().stacks;
  if (out == nullptr || !out->stack || *out->stack < 0) return {};
  const auto index = static_cast<size_t>(*out->stack);
  return index < stacks.size() ? stacks[index] : std::vector<std::string>();
}

Sleep ClassifySleep(const Timeline& timeline, const Cast& cast, TaskIndex task,
                    const TaskSpan& blocked) {
  Sleep sleep;
  sleep.waker = cast.WakerName(blocked.waking_event);
  sleep.subject = cast.WakerSubject(blocked.waking_event);
  const uint32_t state = PrevState(timeline, blocked);
  const WakingEvent* waking = Waking(timeline, blocked);
  if ((state & kStoppedTracedFrozen) != 0) {
    sleep.kind = (state & kFrozen) != 0 ? BlockKind::kFrozen : BlockKind::kStopped;
    return sleep;
  }
  sleep.kind = KindOfStack(StackOf(timeline, blocked));
  const SwitchEvent* out = SwitchOutOf(timeline, blocked);
  const bool may_be_io = sleep.kind == BlockKind::kUnknown || sleep.kind == BlockKind::kOther;
  if (may_be_io && out != nullptr && out->prev_in_iowait.value_or(false)) {
    sleep.kind = BlockKind::kIo;
  }
  if (sleep.kind == BlockKind::kIo || sleep.kind == BlockKind::kFault) {
    // Whoever brings the news: it was asked for when the sleep began.
    sleep.subject = kSubjectIo;
    sleep.absorbs = false;
    return sleep;
  }
  if (EndedByTask(waking)) {
    if (sleep.kind == BlockKind::kUnknown) sleep.kind = BlockKind::kOther;
    sleep.is_chain = true;
    return sleep;
  }
  ClassifyInterrupted(timeline, cast, task, blocked, &sleep);
  return sleep;
}

}  // namespace whylate
