// The analysis of one trace as text: first what the trace cannot tell, then the worst activations in
// a table, then the story of each.
#ifndef WHYLATE_ANALYSIS_REPORT_ANALYSIS_TEXT_H_
#define WHYLATE_ANALYSIS_REPORT_ANALYSIS_TEXT_H_

#include <string>

#include "analysis/report/trace_analysis.h"

namespace whylate {

// Times are those of the trace's own clock, to find them again there. At most 100 columns but for long names, notes and verdicts; hostile text is escaped. Of an
// activation of many segments the longest waits; the JSON has all.
std::string AnalysisToText(const TraceAnalysis& trace);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_ANALYSIS_TEXT_H_
