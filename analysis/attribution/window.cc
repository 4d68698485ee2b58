#include "analysis/attribution/window.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "analysis/attribution/sleep.h"

namespace whylate {
namespace {

WindowPart UnknownPart(TaskIndex task, const Interval& interval, UnknownReason reason) {
  WindowPart part;
  part.task = task;
  part.segment.start_ns = interval.start_ns;
  part.segment.end_ns = interval.end_ns;
  part.segment.reason = ToString(reason);
  part.subject = kSubjectUnknown;
  return part;
}

class Tiler {
 public:
  Tiler(const Timeline& timeline, const Cast& cast, TaskIndex task, int64_t release_ns,
        const Interval& window)
      : timeline_(timeline), cast_(cast), task_(task), release_ns_(release_ns), window_(window) {}

  std::vector<WindowPart> Run() {
    int64_t at_ns = window_.start_ns;
    if (task_ != kNoTask) {
      const std::span<const TaskSpan> spans = timeline_.spans().SpansIn(task_, window_);
      for (size_t i = 0; i < spans.size();) {
        size_t end = i + 1;
        while (end < spans.size() && spans[end].continues) ++end;
        const std::span<const TaskSpan> group = spans.subspan(i, end - i);
        const Interval interval =
            Intersection({group.front().start_ns, group.back().end_ns}, window_);
        if (at_ns < interval.start_ns) Outside({at_ns, interval.start_ns});
        Add(group, interval);
        at_ns = interval.end_ns;
        i = end;
      }
    }
    if (at_ns < window_.end_ns) Outside({at_ns, window_.end_ns});
    return std::move(parts_);
  }

 private:
  void Outside(const Interval& interval) {
    parts_.push_back(UnknownPart(task_, interval, UnknownReason::kOutside));
  }

  // The whole wait, where it began before the window.
  std::span<const TaskSpan> WholeWait(std::span<const TaskSpan> group) const {
    const std::span<const TaskSpan> all = timeline_.spans().Spans(task_);
    const TaskSpan* first = group.data();
    while (first->continues && first > all.data()) --first;
    return {first, static_cast<size_t>(group.data() + group.size() - first)};
  }

  void Add(std::span<const TaskSpan> group, const Interval& interval) {
    const TaskSpan& span = group.front();
    WindowPart part;
    part.task = task_;
    part.segment.start_ns = interval.start_ns;
    part.segment.end_ns = interval.end_ns;
    part.segment.cpu = span.cpu;
    part.segment.repaired =
        std::any_of(group.begin(), group.end(), [](const TaskSpan& s) { return s.repaired; });
    part.spans = span.state == TaskState::kQueued ? WholeWait(group) : group;
    switch (span.state) {
      case TaskState::kRunning:
        part.segment.kind = SegmentKind::kRunning;
        break;
      case TaskState::kWaking:
        part.segment.kind = SegmentKind::kWakeupDispatch;
        part.segment.waker = cast_.WakerName(span.waking_event);
        part.subject = kSubjectWakeup;
        break;
      case TaskState::kQueued:
        FillWait(&part);
        break;
      case TaskState::kBlocked:
        FillSleep(span, &part);
        AddSleep(part, interval);
        return;
      case TaskState::kThrottled:
        FillThrottle(span, &part);
        break;
      case TaskState::kUnknown:
        MakeUnknown(span.reason, &part);
        break;
      case TaskState::kExited:
        MakeUnknown(UnknownReason::kOutside, &part);
        break;
    }
    parts_.push_back(std::move(part));
  }

  // Where records were lost the thread may have run, and slept again.
  void AddSleep(const WindowPart& sleep, const Interval& interval) {
    int64_t at_ns = interval.start_ns;
    for (const Interval& lost : LostDuring(interval)) {
      AddStretch(sleep, {at_ns, lost.start_ns});
      parts_.push_back(UnknownPart(task_, lost, UnknownReason::kEventsLost));
      at_ns = lost.end_ns;
    }
    AddStretch(sleep, {at_ns, interval.end_ns});
  }

  void AddStretch(const WindowPart& sleep, const Interval& interval) {
    if (interval.empty()) return;
    parts_.push_back(sleep);
    parts_.back().segment.start_ns = interval.start_ns;
    parts_.back().segment.end_ns = interval.end_ns;
  }

  // On the CPUs that it might have run on.
  IntervalList LostDuring(const Interval& interval) const {
    IntervalList lost;
    for (const AffinityTrack::Stretch& stretch : timeline_.AffinityOf(task_).In(interval)) {
      for (const CpuId cpu : timeline_.cpus().cpus()) {
        if (stretch.allowed.has_value() && !stretch.allowed->Contains(cpu)) continue;
        const std::vector<Gap>& gaps = timeline_.cpus().Gaps(cpu);
        auto gap = std::partition_point(gaps.begin(), gaps.end(), [&](const Gap& g) {
          return g.interval.end_ns <= stretch.interval.start_ns;
        });
        for (; gap != gaps.end() && gap->interval.start_ns < stretch.interval.end_ns; ++gap) {
          const Interval common = Intersection(gap->interval, stretch.interval);
          if (gap->reason == UnknownReason::kEventsLost && !common.empty()) lost.push_back(common);
        }
      }
    }
    return Merge(std::move(lost));
  }

  // Without the record of its end, neither that nor the wait after it can be told.
  void FillThrottle(const TaskSpan& span, WindowPart* part) const {
    part->absorbs = true;
    if (span.unthrottle_event == kNoEvent) {
      MakeUnknown(UnknownReason::kThrottled, part);
      return;
    }
    const auto& end = std::get<UnthrottleEvent>(timeline_.event(span.unthrottle_event).body);
    part->segment.kind = SegmentKind::kThrottled;
    part->segment.group = end.group;
    part->segment.quota_ns = end.quota_ns;
    part->segment.period_ns = end.period_ns;
    part->subject = kSubjectQuota;
  }

  static void MakeUnknown(UnknownReason reason, WindowPart* part) {
    part->segment.kind = SegmentKind::kUnknown;
    part->segment.reason =
        ToString(reason == UnknownReason::kNone ? UnknownReason::kOutside : reason);
    part->subject = kSubjectUnknown;
  }

  void FillWait(WindowPart* part) const {
    const TaskSpan& begin = part->spans.front();
    for (const TaskSpan& span : part->spans) {
      const bool inside = part->segment.start_ns < span.start_ns;
      if (!inside || !span.continues || !span.cpu.has_value()) continue;
      const TaskSpan& before = *(&span - 1);
      if (!before.cpu.has_value()) continue;
      part->segment.migrations.push_back({*before.cpu, *span.cpu, span.start_ns});
    }
    switch (begin.queued_by) {
      case QueuedBy::kWakeup:
        part->segment.kind = SegmentKind::kRunqueueWait;
        part->segment.waker = cast_.WakerName(begin.waking_event);
        break;
      case QueuedBy::kSwitchOut: {
        part->segment.kind = SegmentKind::kPreempted;
        const TaskIndex next = begin.out_event == kNoEvent
                                   ? kNoTask
                                   : timeline_.cpus().NextOf(static_cast<size_t>(begin.out_event));
        if (next != kNoTask) part->segment.waker = cast_.NameOf(next, begin.start_ns);
        break;
      }
      case QueuedBy::kUnthrottle:
        part->segment.kind = SegmentKind::kRunqueueWait;
        break;
      case QueuedBy::kUnknown:
        MakeUnknown(begin.reason, part);
        break;
    }
  }

  void FillSleep(const TaskSpan& span, WindowPart* part) const {
    part->uncertain = !IsSure(timeline_, task_, span);
    part->segment.waker = cast_.WakerName(span.waking_event);
    // The first thing known of the window: what passes before it is only unknown.
    const bool first = std::all_of(parts_.begin(), parts_.end(), [](const WindowPart& before) {
      return before.segment.kind == SegmentKind::kUnknown;
    });
    if (first && window_.start_ns == release_ns_ &&
        (span.start_ns <= release_ns_ || !parts_.empty()) &&
        IsReleaseSleep(timeline_, task_, span, release_ns_)) {
      part->segment.kind = SegmentKind::kLateRelease;
      part->subject = kSubjectTimer;
      const SleepTimer timer = FindTimer(timeline_, task_, span);
      part->segment.timer_expires_ns = timer.expires_ns;
      part->segment.timer_fired_ns = timer.fired_ns;
      return;
    }
    part->segment.kind = SegmentKind::kBlocked;
    Sleep sleep = ClassifySleep(timeline_, cast_, task_, span);
    part->subject = std::move(sleep.subject);
    part->segment.waker = std::move(sleep.waker);
    part->segment.block_kind = sleep.kind;
    part->segment.stack = StackOf(timeline_, span);
    part->absorbs = sleep.absorbs;
    if (sleep.is_chain) part->chain_event = span.waking_event;
  }

  const Timeline& timeline_;
  const Cast& cast_;
  const TaskIndex task_;
  const int64_t release_ns_;
  const Interval window_;
  std::vector<WindowPart> parts_;
};

}  // namespace

std::vector<WindowPart> TileWindow(const Timeline& timeline, const Cast& cast, TaskIndex task,
                                   int64_t release_ns, const Interval& window) {
  return Tiler(timeline, cast, task, release_ns, window).Run();
}

}  // namespace whylate
