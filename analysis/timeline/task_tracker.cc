#include "analysis/timeline/task_tracker.h"

#include <algorithm>
#include <utility>

#include "analysis/model/huge_pages.h"

namespace whylate {

TaskTracker::TaskTracker(const CpuOccupancy* cpus, int64_t begin_ns, bool has_wakeups)
    : cpus_(cpus), has_wakeups_(has_wakeups), known_again_ns_(begin_ns) {
  open_.start_ns = begin_ns;
  open_.reason = UnknownReason::kOutside;
}

void TaskTracker::Reserve(size_t spans) {
  spans_.reserve(spans);
  PreferHugePages(spans_.data(), spans_.capacity() * sizeof(TaskSpan));
}

TaskSpan& TaskTracker::Open(int64_t time_ns, TaskState state) {
  time_ns = std::max(time_ns, open_.start_ns);
  open_.end_ns = time_ns;
  if (open_.start_ns < open_.end_ns) spans_.push_back(open_);
  open_ = TaskSpan();
  waking_seen_ = false;
  open_.start_ns = time_ns;
  open_.state = state;
  return open_;
}

void TaskTracker::PushUnknown(int64_t start_ns, int64_t end_ns, UnknownReason reason) {
  if (start_ns >= end_ns) return;
  Open(start_ns, TaskState::kUnknown).reason = reason;
  known_again_ns_ = end_ns;
}

int64_t TaskTracker::KnownSince(int64_t time_ns) const {
  int64_t since_ns = std::max(open_.start_ns, known_again_ns_);
  const IntervalList& gaps = cpus_->AllGaps();
  auto after = std::partition_point(gaps.begin(), gaps.end(),
                                    [&](const Interval& gap) { return gap.start_ns < time_ns; });
  if (after != gaps.begin()) since_ns = std::max(since_ns, std::prev(after)->end_ns);
  return std::min(since_ns, time_ns);
}

int64_t TaskTracker::DoubtSince(int64_t start_ns, int64_t time_ns, UnknownReason* reason) const {
  const Interval* gap = FirstEndingAfter(cpus_->AllGaps(), start_ns);
  if (gap == nullptr || gap->start_ns >= time_ns) {
    *reason = UnknownReason::kHiddenTask;
    return start_ns;
  }
  *reason = UnknownReason::kEventsLost;
  return std::max(start_ns, gap->start_ns);
}

void TaskTracker::CutAtGap(int64_t time_ns, std::optional<int64_t> queued_ns) {
  if (open_.state != TaskState::kQueued || !open_.cpu.has_value()) return;
  const std::vector<Gap>& gaps = cpus_->Gaps(*open_.cpu);
  auto gap = std::partition_point(
      gaps.begin(), gaps.end(), [&](const Gap& g) { return g.interval.end_ns <= open_.start_ns; });
  if (gap == gaps.end() || gap->interval.start_ns >= time_ns) return;
  // Queued last before the gap, so it has waited all through it.
  if (queued_ns.has_value() && *queued_ns <= gap->interval.start_ns) return;
  const int64_t again_ns = std::min(gap->interval.end_ns, time_ns);
  Open(std::max(gap->interval.start_ns, open_.start_ns), TaskState::kUnknown).reason = gap->reason;
  known_again_ns_ = again_ns;
}

void TaskTracker::SwitchInFromQueue(const RecordPlace& at) {
  if (!open_.cpu.has_value() || *open_.cpu == at.cpu) return;
  // It was moved and no record says when.
  UnknownReason reason = UnknownReason::kNone;
  const int64_t doubt_ns = DoubtSince(open_.start_ns, at.time_ns, &reason);
  TaskSpan rest = open_;
  rest.cpu.reset();
  rest.reason = reason;
  rest.continues = doubt_ns > open_.start_ns || open_.continues;
  Open(doubt_ns, TaskState::kQueued);
  rest.start_ns = open_.start_ns;
  open_ = rest;
}

void TaskTracker::SwitchInFromSleep(const RecordPlace& at, std::optional<int64_t> queued_ns) {
  const bool waking_seen = open_.state == TaskState::kWaking;
  const int32_t waking = waking_seen ? open_.waking_event : kNoEvent;
  if (waking_seen && !has_wakeups_) {
    UnknownReason reason = UnknownReason::kNone;
    const int64_t doubt_ns = DoubtSince(open_.start_ns, at.time_ns, &reason);
    // With records lost since it was woken it may have run and slept, unless it was queued last
    // before them.
    const bool lost = reason == UnknownReason::kEventsLost;
    const bool waited_on = queued_ns.has_value() && *queued_ns <= doubt_ns;
    TaskSpan& queued = Open(open_.start_ns, TaskState::kQueued);
    queued.queued_by = QueuedBy::kWakeup;
    queued.waking_event = waking;
    queued.repaired = true;
    if (lost && !waited_on) {
      PushUnknown(doubt_ns, at.time_ns, reason);
    } else {
      queued.cpu = at.cpu;
    }
    return;
  }
  if (queued_ns.has_value() && *queued_ns >= open_.start_ns && *queued_ns < at.time_ns) {
    if (waking_seen) open_.cpu = at.cpu;
    TaskSpan& queued = Open(*queued_ns, TaskState::kQueued);
    queued.queued_by = QueuedBy::kWakeup;
    queued.cpu = at.cpu;
    queued.waking_event = waking;
    queued.repaired = true;
    return;
  }
  UnknownReason reason = UnknownReason::kNone;
  const int64_t doubt_ns = DoubtSince(open_.start_ns, at.time_ns, &reason);
  PushUnknown(doubt_ns, at.time_ns, reason);
}

void TaskTracker::SwitchInFromUnknown(const RecordPlace& at, std::optional<int64_t> queued_ns) {
  int64_t since_ns = KnownSince(at.time_ns);
  bool repaired = false;
  if (open_.reason == UnknownReason::kHiddenTask) {
    // It was switched out unseen, asleep or not; the kernel knows when it was queued.
    if (!queued_ns.has_value() || *queued_ns < open_.start_ns || *queued_ns >= at.time_ns) return;
    since_ns = *queued_ns;
    repaired = true;
  }
  if (since_ns >= at.time_ns) return;
  // Had it slept since then, there would be a waking; how it was queued is not known.
  const UnknownReason reason = open_.reason;
  TaskSpan& queued = Open(since_ns, TaskState::kQueued);
  queued.reason = reason;
  queued.cpu = at.cpu;
  queued.repaired = repaired;
}

void TaskTracker::SwitchIn(const RecordPlace& at, std::optional<int64_t> queued_ns) {
  CutAtGap(at.time_ns, queued_ns);
  switch (open_.state) {
    case TaskState::kQueued:
      SwitchInFromQueue(at);
      open_.queued_since_ns = queued_ns;
      break;
    case TaskState::kWaking:
    case TaskState::kBlocked:
      SwitchInFromSleep(at, queued_ns);
      break;
    case TaskState::kUnknown:
      SwitchInFromUnknown(at, queued_ns);
      break;
    case TaskState::kRunning:
    case TaskState::kThrottled:
    case TaskState::kExited:
      break;
  }
  TaskSpan& running = Open(at.time_ns, TaskState::kRunning);
  running.cpu = at.cpu;
  running.in_event = at.event;
  pending_waking_ = kNoEvent;
}

void TaskTracker::Found(const RecordPlace& at, UnknownReason reason) {
  CutAtGap(at.time_ns);
  if (open_.state == TaskState::kRunning && open_.cpu == at.cpu) return;
  if (open_.state == TaskState::kBlocked || open_.state == TaskState::kWaking) {
    SwitchInFromSleep(at, std::nullopt);
  } else if (open_.state == TaskState::kQueued) {
    SwitchInFromQueue(at);
  }
  TaskSpan& running = Open(at.time_ns, TaskState::kRunning);
  running.cpu = at.cpu;
  running.repaired = reason == UnknownReason::kHiddenTask;
  pending_waking_ = kNoEvent;
}

void TaskTracker::SwitchOut(const RecordPlace& at, whylate::SwitchOut out) {
  const std::optional<CpuId> cpu = at.cpu;
  open_.out_event = open_.state == TaskState::kRunning ? at.event : open_.out_event;
  const int32_t pending = std::exchange(pending_waking_, kNoEvent);
  if (out == whylate::SwitchOut::kExited) {
    Open(at.time_ns, TaskState::kExited);
    return;
  }
  if (pending != kNoEvent) {
    // Woken before it was off the CPU: whatever it meant to wait for has come.
    TaskSpan& waking = Open(at.time_ns, TaskState::kWaking);
    waking.out_event = at.event;
    waking.waking_event = pending;
    return;
  }
  TaskState state = TaskState::kUnknown;
  if (out == whylate::SwitchOut::kRunnable) state = TaskState::kQueued;
  if (out == whylate::SwitchOut::kBlocked) state = TaskState::kBlocked;
  if (out == whylate::SwitchOut::kThrottled) state = TaskState::kThrottled;
  TaskSpan& span = Open(at.time_ns, state);
  span.out_event = at.event;
  span.cpu = cpu;
  if (state == TaskState::kQueued) span.queued_by = QueuedBy::kSwitchOut;
  if (state == TaskState::kUnknown) {
    span.reason = UnknownReason::kHiddenTask;
    known_again_ns_ = at.time_ns;
  }
}

void TaskTracker::Lost(const RecordPlace& at, UnknownReason reason, int64_t known_again_ns) {
  CutAtGap(at.time_ns);
  if (open_.state != TaskState::kRunning || open_.cpu != at.cpu) return;
  TaskSpan& unknown = Open(at.time_ns, TaskState::kUnknown);
  unknown.reason = reason;
  unknown.repaired = reason == UnknownReason::kHiddenTask;
  known_again_ns_ = known_again_ns;
  pending_waking_ = kNoEvent;
}

void TaskTracker::WakeSleeper(const RecordPlace& at, const WakingEvent& event) {
  const std::optional<CpuId> last_cpu = open_.cpu;
  open_.waking_event = at.event;
  if (event.wakee_on_rq.value_or(false)) {
    // A delayed dequeue: it never left the runqueue, and no placement follows.
    TaskSpan& queued = Open(at.time_ns, TaskState::kQueued);
    queued.queued_by = QueuedBy::kWakeup;
    queued.cpu = last_cpu;
    queued.waking_event = at.event;
  } else {
    Open(at.time_ns, TaskState::kWaking).waking_event = at.event;
  }
}

// Queued by its last record, and asleep by this one: it ran and slept unseen, in a gap or hidden.
void TaskTracker::WakeUnseenSleeper(const RecordPlace& at, const WakingEvent& event) {
  UnknownReason reason = UnknownReason::kNone;
  const int64_t doubt_ns = DoubtSince(open_.start_ns, at.time_ns, &reason);
  PushUnknown(doubt_ns, at.time_ns, reason);
  if (reason == UnknownReason::kEventsLost) {
    known_again_ns_ = doubt_ns;
    Open(KnownSince(at.time_ns), TaskState::kBlocked);
  }
  WakeSleeper(at, event);
}

void TaskTracker::Waking(const RecordPlace& at, const WakingEvent& event) {
  CutAtGap(at.time_ns);
  switch (open_.state) {
    case TaskState::kRunning:
      if (pending_waking_ == kNoEvent) pending_waking_ = at.event;
      break;
    case TaskState::kUnknown: {
      if (event.wakee_on_cpu.value_or(false)) break;
      const int64_t since_ns = KnownSince(at.time_ns);
      if (since_ns < at.time_ns) {
        const bool repaired = open_.repaired && since_ns == open_.start_ns;
        Open(since_ns, TaskState::kBlocked).repaired = repaired;
      }
      WakeSleeper(at, event);
      break;
    }
    case TaskState::kBlocked:
      WakeSleeper(at, event);
      break;
    case TaskState::kQueued:
      if (event.wakee_on_rq.value_or(true) || event.wakee_on_cpu.value_or(false)) {
        waking_seen_ = true;
      } else {
        WakeUnseenSleeper(at, event);
      }
      break;
    case TaskState::kWaking:
      // The first of several counts. One that came while the task ran, and did not keep it from
      // sleeping, shows by this one where no wake-up would have told.
      if (has_wakeups_ || open_.out_event == kNoEvent) break;
      open_.state = TaskState::kBlocked;
      WakeSleeper(at, event);
      break;
    case TaskState::kThrottled:
    case TaskState::kExited:
      break;
  }
}

void TaskTracker::QueueWoken(const RecordPlace& at, const WakeupEvent& event) {
  const bool was_waking = open_.state == TaskState::kWaking;
  const int32_t waking = was_waking ? open_.waking_event : kNoEvent;
  TaskSpan& span = Open(at.time_ns, event.throttled ? TaskState::kThrottled : TaskState::kQueued);
  if (!event.throttled) span.queued_by = QueuedBy::kWakeup;
  span.cpu = event.target;
  span.waking_event = waking;
  span.wakeup_event = at.event;
}

void TaskTracker::Unthrottle(const RecordPlace& at) {
  if (open_.state != TaskState::kThrottled) return;
  open_.unthrottle_event = at.event;
  TaskSpan& queued = Open(at.time_ns, TaskState::kQueued);
  queued.queued_by = QueuedBy::kUnthrottle;
  queued.cpu = at.cpu;
  queued.unthrottle_event = at.event;
}

void TaskTracker::Wakeup(const RecordPlace& at, const WakeupEvent& event) {
  const CpuId target = event.target;
  CutAtGap(at.time_ns);
  if (event.is_new && open_.state == TaskState::kUnknown) Born(at);
  switch (open_.state) {
    case TaskState::kRunning:
      pending_waking_ = kNoEvent;
      break;
    case TaskState::kQueued:
      if (open_.queued_by == QueuedBy::kSwitchOut && !open_.continues && !waking_seen_) {
        // Its waking has no record, so it was pending when the task left its CPU.
        open_.state = TaskState::kWaking;
        open_.queued_by = QueuedBy::kUnknown;
        open_.cpu = target;
        TaskSpan& queued = Open(at.time_ns, TaskState::kQueued);
        queued.queued_by = QueuedBy::kWakeup;
        queued.cpu = target;
        queued.wakeup_event = at.event;
        break;
      }
      if (open_.queued_by != QueuedBy::kWakeup || open_.wakeup_event != kNoEvent) break;
      // The end of a delayed dequeue's wake-up.
      open_.wakeup_event = at.event;
      if (!open_.cpu.has_value()) open_.cpu = target;
      break;
    case TaskState::kWaking:
      open_.cpu = target;
      [[fallthrough]];
    case TaskState::kBlocked:
    case TaskState::kUnknown:
      QueueWoken(at, event);
      break;
    case TaskState::kThrottled:
    case TaskState::kExited:
      break;
  }
}

void TaskTracker::Migrate(const RecordPlace& at, CpuId from, CpuId to) {
  CutAtGap(at.time_ns);
  if (open_.state == TaskState::kBlocked) {
    open_.cpu = to;  // a delayed dequeue moves with its runqueue
    return;
  }
  if (open_.state != TaskState::kQueued) return;
  if (open_.cpu.has_value()) SwitchInFromQueue({at.time_ns, from, at.event});
  TaskSpan moved = open_;
  moved.continues = open_.continues || at.time_ns > open_.start_ns;
  Open(at.time_ns, TaskState::kQueued);
  moved.repaired = false;
  moved.reason = UnknownReason::kNone;
  moved.start_ns = open_.start_ns;
  moved.cpu = to;
  open_ = moved;
}

void TaskTracker::Seed(const RecordPlace& at, const TaskSeedEvent& event) {
  if (open_.state != TaskState::kUnknown || open_.reason == UnknownReason::kHiddenTask) return;
  const UnknownReason reason = open_.reason;
  TaskSpan& span =
      Open(KnownSince(at.time_ns), event.on_rq ? TaskState::kQueued : TaskState::kBlocked);
  if (!event.on_rq) return;
  span.cpu = event.queued_on;
  span.reason = reason;
}

void TaskTracker::Born(const RecordPlace& at) {
  if (open_.state == TaskState::kUnknown) open_.state = TaskState::kExited;  // did not exist
  Open(at.time_ns, TaskState::kBlocked);
}

std::vector<TaskSpan> TaskTracker::Finish(int64_t end_ns) {
  CutAtGap(end_ns);
  Open(end_ns, TaskState::kUnknown);
  return std::move(spans_);
}

}  // namespace whylate
