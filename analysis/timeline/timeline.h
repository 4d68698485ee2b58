// Everything that follows from a recording's events, before any question is asked: who ran where,
// what each task did, which CPU was idle when.
//
//   Timeline timeline(recording);
//   timeline.cpus().StintsIn(CpuId{0}, window);
//   timeline.spans().SpansIn(timeline.TaskAt(recording.watched, window.end_ns), window);
#ifndef WHYLATE_ANALYSIS_TIMELINE_TIMELINE_H_
#define WHYLATE_ANALYSIS_TIMELINE_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/model/ids.h"
#include "analysis/model/recording.h"
#include "analysis/model/sched_event.h"
#include "analysis/timeline/affinity.h"
#include "analysis/timeline/cpu_occupancy.h"
#include "analysis/timeline/event_order.h"
#include "analysis/timeline/idle.h"
#include "analysis/timeline/interval.h"
#include "analysis/timeline/task_spans.h"
#include "analysis/timeline/task_table.h"

namespace whylate {

class Timeline {
 public:
  // `recording` must outlive the timeline, unchanged. O(n log n), a few words an event.
  explicit Timeline(const Recording& recording);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  const Recording& recording() const { return recording_; }
  const Interval& bounds() const { return bounds_; }
  // In total order.
  const std::vector<const SchedEvent*>& events() const { return events_; }
  const SchedEvent& event(int32_t index) const { return *events_[static_cast<size_t>(index)]; }

  const TaskTable& tasks() const { return tasks_; }
  const CpuOccupancy& cpus() const { return cpus_; }
  const TaskSpans& spans() const { return spans_; }
  const IdleTime& idle() const { return idle_; }
  // Whether its timers and its affinity were recorded, where the source can.
  bool IsWatched(TaskIndex task) const { return &ThreadOf(task) != &not_watched_; }
  // Known of watched threads; of any other nothing is.
  const AffinityTrack& AffinityOf(TaskIndex task) const;
  // TimerStartEvent and TimerExpireEvent of a watched thread, as event indexes, in order; none of
  // any other.
  const std::vector<int32_t>& TimersOf(TaskIndex task) const;

  // The last StopEvent at or before `time_ns`, as an event index; kNoEvent where there is none.
  int32_t LastStop(int64_t time_ns) const;

  // The life of `tid` that events before `time_ns` speak of; kNoTask where it never occurs.
  TaskIndex TaskAt(Tid tid, int64_t time_ns) const;

 private:
  struct WatchedThread {
    Tid tid;
    AffinityTrack affinity;
    std::vector<int32_t> timers;
  };

  const WatchedThread& ThreadOf(TaskIndex task) const;

  const Recording& recording_;
  Interval bounds_;
  std::vector<const SchedEvent*> events_;
  TaskTable tasks_;
  CpuOccupancy cpus_;
  TaskSpans spans_;
  IdleTime idle_;
  std::vector<WatchedThread> watched_;
  std::vector<int32_t> stops_;
  WatchedThread not_watched_;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_TIMELINE_TIMELINE_H_
