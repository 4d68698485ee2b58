// A wait on a runqueue, tiled by what that CPU did meanwhile, and why each of it came first.
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_WAIT_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_WAIT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/attribution/cast.h"
#include "analysis/attribution/explanation.h"
#include "analysis/attribution/window.h"
#include "analysis/timeline/task_table.h"
#include "analysis/timeline/timeline.h"

namespace whylate {

// Below this much avoidable time in a wait, no decision rests on it: balancing takes time.
inline constexpr int64_t kAvoidableFloorNs = 100'000;

// A piece of one occupant's stretch with one decision.
struct WaitSlice {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  size_t occupant = 0;  // index in Segment::occupants
  std::string subject;
  Decision decision = Decision::kUndetermined;
};

// Fills occupants, avoidable time and the headline of `part->segment`, which is a runqueue_wait or
// preempted of `task`, and returns the slices that tile it.
// O(stints during the wait + CPUs * idle stretches during the wait).
std::vector<WaitSlice> AnalyzeWait(const Timeline& timeline, const Cast& cast, TaskIndex task,
                                   WindowPart* part);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_WAIT_H_
