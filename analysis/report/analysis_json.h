// The analysis of one trace as JSON. This is the schema "whylate.analysis/1":
//
//   schema, format, notes[], events, lost, span_ns
//   origin_ns   the recording's begin by the trace's own clock, a string: it does not fit a double.
//               Every other time is relative to it.
//   of          "activations", or "frames": the late frames of a recording that has frames
//   totals      {activations, late, shown}
//   activations[] worst wait first: task, tid, start_ns, waking_ns, running_ns, end_ns, finished,
//               deadline_ns, late, wait_ns, wait_known, segments[] and verdict as in misses[] (see
//               explanation_json.h); waking_ns, running_ns, deadline_ns, late and verdict may be null.
//               wait_known is false where it may have waited before it first ran and nobody knows:
//               without a waking, or after a stretch of which nothing is known
//   tasks[]     task, tid, activations, late, wait_ns, longest_wait_ns: of all activations
//   subjects[]  subject, ns: whose the waits of the activations shown were; of frames, whose all
//               delay of all late frames was
//
// A new key may appear at any time; one that is here keeps its meaning as long as the schema does.
#ifndef WHYLATE_ANALYSIS_REPORT_ANALYSIS_JSON_H_
#define WHYLATE_ANALYSIS_REPORT_ANALYSIS_JSON_H_

#include <string>

#include "analysis/report/trace_analysis.h"

namespace whylate {

inline constexpr char kAnalysisSchema[] = "whylate.analysis/1";

// One line, newline at the end. Invalid UTF-8 in names becomes U+FFFD.
std::string AnalysisToJson(const TraceAnalysis& trace);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_ANALYSIS_JSON_H_
