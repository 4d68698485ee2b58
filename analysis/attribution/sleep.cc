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
constexpr uint32_t kStoppedTracedFrozen = 0x4 | 0x8 | 0x8000;

uint32_t PrevState(const Timeline& timeline, const TaskSpan& blocked) {
  if (blocked.out_event == kNoEvent) return 0;
  const auto* out = std::get_if<SwitchEvent>(&timeline.event(blocked.out_event).body);
  return out == nullptr ? 0 : out->prev_state;
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

Sleep ClassifySleep(const Timeline& timeline, const Cast& cast, TaskIndex task,
                    const TaskSpan& blocked) {
  Sleep sleep;
  sleep.waker = cast.WakerName(blocked.waking_event);
  sleep.subject = cast.WakerSubject(blocked.waking_event);
  const uint32_t state = PrevState(timeline, blocked);
  const WakingEvent* waking = Waking(timeline, blocked);
  if ((state & kStoppedTracedFrozen) != 0 || EndedByTask(waking)) return sleep;
  const SleepTimer timer = FindTimer(timeline, task, blocked);
  if (timer.fired) {
    sleep.subject = kSubjectSelf;
    sleep.absorbs = timer.absolute.value_or(true);
    return sleep;
  }
  if (waking == nullptr || waking->context == WakerContext::kUnknown) return sleep;
  // Uninterruptible, and ended by a device's interrupt: input or output, or a page that came in.
  if ((state & kUninterruptible) != 0 && !IsTimerSource(*waking)) sleep.absorbs = false;
  return sleep;
}

}  // namespace whylate
