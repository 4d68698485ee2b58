// One late frame's story in text: its timeline, who had the CPU meanwhile, and the verdict in
// words.
#ifndef WHYLATE_ANALYSIS_REPORT_EXPLAIN_TEXT_H_
#define WHYLATE_ANALYSIS_REPORT_EXPLAIN_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace whylate {

// At most 100 columns but for long names; hostile names are escaped. Times are ms after the
// release.
std::string ExplainMiss(const Cell& cell, const Miss& miss);

// The rows of its table: what happened when, in ms after `zero_ns`, and who had the CPU meanwhile.
std::string TimelineText(const std::vector<Segment>& segments, int64_t zero_ns);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_EXPLAIN_TEXT_H_
