// The activations of a task: each from its waking to its next voluntary sleep.
//
// Where a trace has no sched_waking it is from the wake-up, where it has neither from the switch-in
// after the sleep. A stretch of which nothing is known ends an activation: the task may have slept.
//
//   for (const ActivationSpan& activation : FindActivations(timeline, task)) activation.wait_ns;
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_ACTIVATION_SPANS_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_ACTIVATION_SPANS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/timeline/task_table.h"
#include "analysis/timeline/timeline.h"

namespace whylate {

struct ActivationSpan {
  TaskIndex task = kNoTask;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  // Unset: no record says that it was woken. A waking that overtook the sleep is before the switch
  // that ended the activation before.
  std::optional<int64_t> waking_ns;
  std::optional<int64_t> running_ns;  // first switch-in after the waking; unset: none recorded
  bool finished = false;              // it went to sleep or exited, and that is recorded
  // Woken and not on a runqueue yet, and runnable and not running; time of which is not known
  // whether it waited or slept does not count.
  int64_t wait_ns = 0;
};

// In order. O(spans of the task).
std::vector<ActivationSpan> FindActivations(const Timeline& timeline, TaskIndex task);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_ACTIVATION_SPANS_H_
