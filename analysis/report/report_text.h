// The report as people paste it into mails: 80 to 100 columns, no colour, units in each header.
#ifndef WHYLATE_ANALYSIS_REPORT_REPORT_TEXT_H_
#define WHYLATE_ANALYSIS_REPORT_REPORT_TEXT_H_

#include <cstdint>
#include <string>

#include "analysis/report/report.h"

namespace whylate {

// The whole report: host, one table per workload with a row per cell, what the loads did, under
// each cell why frames were missed, and why a cell is not valid, session warnings. Hostile names
// are escaped.
std::string ReportToText(const Report& report);

// What the load of a cell got done, in a few words: "1.61 CPUs, 41.2 MB/s"; "-" under none.
std::string DescribeProgress(const std::optional<LoadProgress>& progress, int64_t duration_ns,
                             int64_t loops_per_ms);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_REPORT_TEXT_H_
