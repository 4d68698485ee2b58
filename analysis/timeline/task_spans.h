// What every task did, from one change of its state to the next.
//
// A task's spans tile the recording. What follows from a record holds back to the record before it:
// a task whose first record is a waking was asleep until then. Nothing is inferred across a gap.
//
//   for (const TaskSpan& span : spans.SpansIn(task, {release_ns, completion_ns})) ...
#ifndef WHYLATE_ANALYSIS_TIMELINE_TASK_SPANS_H_
#define WHYLATE_ANALYSIS_TIMELINE_TASK_SPANS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/model/ids.h"
#include "analysis/model/sched_event.h"
#include "analysis/timeline/cpu_occupancy.h"
#include "analysis/timeline/event_order.h"
#include "analysis/timeline/interval.h"
#include "analysis/timeline/task_table.h"

namespace whylate {

enum class TaskState : uint8_t {
  kUnknown,
  kRunning,
  kQueued,     // on a runqueue and not on its CPU
  kWaking,     // woken, and not on a runqueue yet
  kBlocked,    // asleep, a delayed dequeue (still on the runqueue in name) included
  kThrottled,  // held back by the CFS bandwidth controller, until that lets it go
  kExited,
};

// How a queued task came onto the runqueue.
enum class QueuedBy : uint8_t { kUnknown, kWakeup, kSwitchOut, kUnthrottle };

struct TaskSpan {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  TaskState state = TaskState::kUnknown;
  QueuedBy queued_by = QueuedBy::kUnknown;  // kQueued
  UnknownReason reason = UnknownReason::kNone;
  bool continues = false;  // kQueued: the same wait as the span before it, after a migration
  bool repaired = false;   // its start was rebuilt
  // kRunning, kQueued, kWaking (where to): the CPU; kBlocked: the last one. Unset: not known.
  std::optional<CpuId> cpu;
  // kQueued until a switch-in: since when by the kernel's own note. From then on it can have done
  // nothing else, whatever records are missing.
  std::optional<int64_t> queued_since_ns;
  int32_t in_event = kNoEvent;          // kRunning: the switch that began it
  int32_t out_event = kNoEvent;         // the switch-out that began it; kRunning: that ended it
  int32_t waking_event = kNoEvent;      // kWaking, kQueued: that began it; kBlocked: that ended it
  int32_t wakeup_event = kNoEvent;      // kQueued: that began it
  int32_t unthrottle_event = kNoEvent;  // kThrottled: that ended it; kQueued: that began it

  Interval interval() const { return {start_ns, end_ns}; }
};

class TaskSpans {
 public:
  // O(n log gaps). The arguments must outlive the object only during the call.
  TaskSpans(const std::vector<const SchedEvent*>& events, const TaskTable& tasks,
            const CpuOccupancy& cpus, const Interval& bounds);

  std::span<const TaskSpan> Spans(TaskIndex task) const;
  // Those that overlap `window`. O(log n).
  std::span<const TaskSpan> SpansIn(TaskIndex task, const Interval& window) const;
  // O(log n); null outside the recording.
  const TaskSpan* SpanAt(TaskIndex task, int64_t time_ns) const;
  // False where the recording has neither wakings nor wake-ups: a task may sleep and be woken unseen.
  bool shows_wakeups() const { return shows_wakeups_; }

 private:
  std::vector<std::vector<TaskSpan>> spans_;
  bool shows_wakeups_ = false;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_TIMELINE_TASK_SPANS_H_
