// A report made by hand, for the tests of its writers: three cells that differ in what matters to
// them.
//
//   0  video/burn     kSkip, one late frame that drops the next, traced and explained
//   1  gaming/none    kBackToBack: no deadlines, no load progress, no trace
//   2  x/burn+write   kCarry, not valid, one frame censored, two parts of a load, run 1
#ifndef WHYLATE_TESTS_SUPPORT_MADE_REPORT_H_
#define WHYLATE_TESTS_SUPPORT_MADE_REPORT_H_

#include <cstdint>

#include "analysis/report/report.h"

namespace whylate {

// Of every cell; one more than a double can tell from its neighbour.
inline constexpr int64_t kMadeOriginNs = 9007199254740993;

// One miss, with every kind of field set. Times are relative to `origin_ns`.
Explanation MadeExplanation(int64_t origin_ns);
Report MadeReport();

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_MADE_REPORT_H_
