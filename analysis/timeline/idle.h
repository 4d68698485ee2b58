// When each CPU had nothing to do.
//
// A CPU is idle while its current task is the idle task, no task is queued there and none is being
// woken to it. nr_running would not do: it counts delayed-dequeue tasks. A CPU that has nothing but
// SCHED_IDLE tasks is as good as idle to everybody else; it counts, and can be told apart.
//
//   Clip(idle.Idle(CpuId{1}), wait);      // when CPU 1 could have taken the waiting task
//   Clip(idle.TrulyIdle(CpuId{1}), wait); // of that, when it ran the idle task
#ifndef WHYLATE_ANALYSIS_TIMELINE_IDLE_H_
#define WHYLATE_ANALYSIS_TIMELINE_IDLE_H_

#include <vector>

#include "analysis/model/ids.h"
#include "analysis/model/sched_event.h"
#include "analysis/timeline/cpu_occupancy.h"
#include "analysis/timeline/interval.h"
#include "analysis/timeline/task_spans.h"
#include "analysis/timeline/task_table.h"

namespace whylate {

// The effective standing of a stint's task: what the fair server picked is fair. From the switch
// that began it, else from the one that ended it, else from a seed; kUnknown where none says.
TaskStanding StandingOf(const Stint& stint, const std::vector<const SchedEvent*>& events);

// The standing with which a task began a span: of its wake-up, its switch-in or its switch-out;
// kUnknown where none of them has a record.
TaskStanding StandingOf(const TaskSpan& span, const std::vector<const SchedEvent*>& events);

class IdleTime {
 public:
  // O(n log n). The arguments must outlive the object only during the call.
  IdleTime(const std::vector<const SchedEvent*>& events, const TaskTable& tasks,
           const CpuOccupancy& cpus, const TaskSpans& spans);

  // Sorted, disjoint, touching ones joined: each is one stay in idleness.
  const IntervalList& Idle(CpuId cpu) const { return Of(idle_, cpu); }
  // The same without what ran, or had queued, SCHED_IDLE tasks.
  const IntervalList& TrulyIdle(CpuId cpu) const { return Of(truly_idle_, cpu); }

 private:
  static const IntervalList& Of(const std::vector<IntervalList>& lists, CpuId cpu);

  std::vector<IntervalList> idle_;  // by CPU id
  std::vector<IntervalList> truly_idle_;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_TIMELINE_IDLE_H_
