// The total order of events that come as a few ascending runs, one after the other.
//
//   MergeRuns(events);  // a stretch of our recordings: a run for each CPU
#ifndef WHYLATE_ANALYSIS_IMPORT_EVENT_RUNS_H_
#define WHYLATE_ANALYSIS_IMPORT_EVENT_RUNS_H_

#include <span>

#include "analysis/model/sched_event.h"

namespace whylate {

// Stable. O(n log runs) comparisons; each event is moved once, in place.
void MergeRuns(std::span<SchedEvent> events);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_EVENT_RUNS_H_
