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
constexpr uint32_t kStopped = 0x4;
constexpr uint32_t kTraced = 0x8;
constexpr uint32_t kFrozen = 0x8000;
constexpr uint32_t kStoppedTracedFrozen = kStopped | kTraced | kFrozen;

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

bool EndedByTask(const WakingEvent* waking) {
  return waking != nullptr && waking->context == WakerContext::kTask;
}

bool IsTimerSource(const WakingEvent& waking) {
  return absl::StrContains(absl::AsciiStrToLower(waking.source_name), "timer");
}

// A timer that expires wakes who sleeps on it, unless it is frozen: since Linux 6.1 a freezer takes the
// sleepers' state away where they lie (kernel/freezer.c), until a task thaws them. Before, they woke up.
// In PREEMPT_RT it is a task that a timer wakes through, but at once.
bool OutlivedItsTimer(const SleepTimer& timer, const TaskSpan& blocked, const WakingEvent* waking) {
  return timer.fired_ns.has_value() && EndedByTask(waking) &&
         blocked.end_ns - *timer.fired_ns > kReleaseTimerToleranceNs;
}

// A number is of a device's line; what another CPU interrupts for has none.
bool IsOfDevice(const WakingEvent& waking) {
  if (waking.context == WakerContext::kHardIrq) return waking.irq.has_value();
  return waking.context == WakerContext::kSoftIrq && waking.source_name == "BLOCK";
}

// A sleep that no task ended, and of which nothing on its stack says that it is for a device.
void ClassifyInterrupted(const Timeline& timeline, const Cast& cast, TaskIndex task,
                         const TaskSpan& blocked, const SleepTimer& timer, Sleep* sleep) {
  const bool has_timers = timeline.IsWatched(task);
  const WakingEvent* waking = Waking(timeline, blocked);
  // An expiry may have been lost.
  const bool was_due = waking != nullptr && waking->context != WakerContext::kUnknown &&
                       IsTimerSource(*waking) && timer.expires_ns.has_value() &&
                       *timer.expires_ns <= blocked.end_ns;
  if (timer.fired_ns.has_value() || was_due) {
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
  // Uninterruptible for nobody knows what, and ended by a device's interrupt: input or output, or a page
  // that came in.
  const bool may_be_io = sleep->kind == BlockKind::kUnknown && IsOfDevice(*waking);
  if (may_be_io && (PrevState(timeline, blocked) & kUninterruptible) != 0) {
    sleep->kind = BlockKind::kIo;
    sleep->subject = kSubjectIo;
    sleep->absorbs = false;
  }
}

// To whoever sent the signal, where that was recorded. A tracer's stops and freezes have no such record:
// there who ended it counts as who did it.
void ChargeStop(const Timeline& timeline, const Cast& cast, TaskIndex task, const TaskSpan& blocked,
                Sleep* sleep) {
  const bool by_signal =
      sleep->kind == BlockKind::kStopped && (PrevState(timeline, blocked) & kTraced) == 0;
  if (!by_signal || !timeline.IsWatched(task)) return;
  const int32_t stop = timeline.LastStop(blocked.start_ns);
  if (stop == kNoEvent) return;
  const std::optional<Tid>& by = std::get<StopEvent>(timeline.event(stop).body).by;
  if (!by.has_value()) return;
  const TaskIndex sender = timeline.tasks().Find(*by, static_cast<size_t>(stop));
  sleep->subject = sender == task ? kSubjectSelf : cast.SubjectOf(sender, blocked.start_ns);
}

// By the state in which it slept, else the stack, else its timer.
BlockKind KindOf(const Timeline& timeline, const TaskSpan& blocked, const SleepTimer& timer) {
  const uint32_t state = PrevState(timeline, blocked);
  if ((state & kFrozen) != 0) return BlockKind::kFrozen;
  if ((state & (kStopped | kTraced)) != 0) return BlockKind::kStopped;
  const BlockKind kind = KindOfStack(StackOf(timeline, blocked));
  // Of other sleeps a timer that expired says nothing: it may have been there for something else.
  const bool is_sleep =
      kind == BlockKind::kSleep || (kind == BlockKind::kUnknown && timer.absolute.value_or(false));
  if (is_sleep && OutlivedItsTimer(timer, blocked, Waking(timeline, blocked))) {
    return BlockKind::kFrozen;
  }
  return kind;
}

}  // namespace

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
      if (event.time_ns < blocked.start_ns || timer.fired_ns.has_value()) break;
      timer.fired_ns = event.time_ns;
      timer.expires_ns = expire->expires_ns;
    } else if (const auto* start = std::get_if<TimerStartEvent>(&event.body)) {
      if (!timer.fired_ns.has_value()) timer.expires_ns = start->expires_ns;
      if (IsNear(start->expires_ns, *timer.expires_ns)) {
        timer.absolute = start->absolute;
      }
      break;
    }
  }
  return timer;
}

bool IsSure(const Timeline& timeline, TaskIndex task, const TaskSpan& blocked) {
  const SleepTimer timer = FindTimer(timeline, task, blocked);
  const bool end_known = blocked.waking_event != kNoEvent || timer.fired_ns.has_value();
  if (!end_known) return false;
  if (timer.absolute.has_value())
    return blocked.out_event != kNoEvent || timer.fired_ns.has_value();
  return FindArmingTime(timeline, task, blocked).whole;
}

bool IsReleaseSleep(const Timeline& timeline, TaskIndex task, const TaskSpan& blocked,
                    int64_t release_ns) {
  if ((PrevState(timeline, blocked) & (kStoppedTracedFrozen | kUninterruptible)) != 0) return false;
  const SleepTimer timer = FindTimer(timeline, task, blocked);
  if (OutlivedItsTimer(timer, blocked, Waking(timeline, blocked))) return false;
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
  const WakingEvent* waking = Waking(timeline, blocked);
  const SleepTimer timer = FindTimer(timeline, task, blocked);
  sleep.kind = KindOf(timeline, blocked, timer);
  if (sleep.kind == BlockKind::kStopped || sleep.kind == BlockKind::kFrozen) {
    ChargeStop(timeline, cast, task, blocked, &sleep);
    return sleep;
  }
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
  ClassifyInterrupted(timeline, cast, task, blocked, timer, &sleep);
  return sleep;
}

}  // namespace whylate
