// One late frame's story in text: its timeline, who had the CPU meanwhile, and the verdict in
// words.
#ifndef WHYLATE_ANALYSIS_REPORT_EXPLAIN_TEXT_H_
#define WHYLATE_ANALYSIS_REPORT_EXPLAIN_TEXT_H_

#include <string>

#include "analysis/report/report.h"

namespace whylate {

// At most 100 columns but for long names; hostile names are escaped. Times are ms after the
// release.
std::string ExplainMiss(const Cell& cell, const Miss& miss);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_EXPLAIN_TEXT_H_
