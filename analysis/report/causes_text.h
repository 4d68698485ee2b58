// The lines under a cell of the text report that say why its frames were missed.
#ifndef WHYLATE_ANALYSIS_REPORT_CAUSES_TEXT_H_
#define WHYLATE_ANALYSIS_REPORT_CAUSES_TEXT_H_

#include <string>

#include "analysis/report/report.h"

namespace whylate {

// "" where nothing was missed or nothing was recorded. Counts are misses: a late frame and the
// releases that it made its workload skip. Incomplete verdicts are counted apart, "(+2
// incomplete)".
std::string CausesText(const Cell& cell);

// The same of all cells that have a trace; "" where that is one cell, or nothing was missed.
std::string SessionCausesText(const Report& report);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_CAUSES_TEXT_H_
