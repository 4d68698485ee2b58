// Why the frames of a cell were late.
//
// Each late frame's time from release to completion is tiled by segments; each nanosecond beyond
// the frame's demand is charged to one cause; the verdict is the subject whose absence would have
// been enough for the deadline. Pure: the same recording always gives the same answer.
//
//   const Explanation explanation = Explain(recording);
//   explanation.misses.front().verdict->subject;  // "burn"
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_EXPLAIN_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_EXPLAIN_H_

#include <cstdint>

#include "analysis/attribution/explanation.h"
#include "analysis/model/frame.h"
#include "analysis/model/recording.h"

namespace whylate {

// Without `recording.trace` the misses have neither segments nor verdicts, and there are no rows.
// Rows are sorted: most frames first, then time, then name.
// O(n log n) in events, and for each late frame what happened in its window.
Explanation Explain(const Recording& recording);

// What a frame takes beyond its demand though nothing disturbs it: the 99th percentile (nearest
// rank) of completion - release - demand over the cell's frames that met their deadline and lost
// less than 100 us of CPU time; 0 where fewer than 100 did.
int64_t OverheadFloorNs(const CellFrames& frames);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_EXPLAIN_H_
