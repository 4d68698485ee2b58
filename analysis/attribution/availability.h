// During a wait: which other CPUs could have taken the task, and when.
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_AVAILABILITY_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_AVAILABILITY_H_

#include <cstdint>
#include <optional>
#include <span>

#include "analysis/timeline/interval.h"
#include "analysis/timeline/task_spans.h"
#include "analysis/timeline/task_table.h"
#include "analysis/timeline/timeline.h"

namespace whylate {

// All lists are sorted, disjoint and within the clip.
struct Availability {
  // Another allowed CPU of the same scheduling domain was idle, while this one was not (a wait for
  // one's own CPU to leave idle cannot be avoided).
  IntervalList avoidable;
  IntervalList truly_idle;  // of that, some such CPU ran the idle task
  // Another CPU was idle, and whether the task may use it, or what its own CPU did, is not known.
  IntervalList possibly;
  // Only CPUs that load balancing does not reach were idle.
  IntervalList not_balanced;
  // An allowed CPU that was idle when the task was woken has stayed so.
  IntervalList placement;
};

// Of the wait `pieces` (kQueued spans of `task`, one a runqueue), as far as it lies in
// `clip`. `placed_at_ns`: the waking, where the wake-up after it chose a CPU.
// O(CPUs * pieces * (log n + idle stretches in the wait)).
Availability FindAvailability(const Timeline& timeline, TaskIndex task,
                              std::span<const TaskSpan> pieces, const Interval& clip,
                              std::optional<int64_t> placed_at_ns);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_AVAILABILITY_H_
