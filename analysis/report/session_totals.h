// What the cells of a session add up to: late frames by cause and subject, and their time.
#ifndef WHYLATE_ANALYSIS_REPORT_SESSION_TOTALS_H_
#define WHYLATE_ANALYSIS_REPORT_SESSION_TOTALS_H_

#include <cstdint>
#include <vector>

#include "analysis/attribution/explanation.h"
#include "analysis/attribution/totals.h"
#include "analysis/report/report.h"

namespace whylate {

struct SessionTotals {
  int64_t duration_ns = 0;  // of the cells that have a trace; 0: none has
  int64_t misses = 0;       // late and dropped
  DelayTotals delay;
  std::vector<CauseRow> causes;      // sorted as a cell's
  std::vector<SubjectRow> subjects;  // "
};

// Of the cells that have a trace. O(segments + rows log rows).
SessionTotals TotalsOf(const Report& report);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_SESSION_TOTALS_H_
