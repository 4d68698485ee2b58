// An explanation, or a part of it, as one short line a piece: what tests of drawn traces compare.
//
//   "runqueue_wait 2-9 cpu0 no_preempt [burn 2-9 no_preempt]"; "app: running 2-9" of a chain
#ifndef WHYLATE_TESTS_SUPPORT_TRACE_TEXT_H_
#define WHYLATE_TESTS_SUPPORT_TRACE_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/attribution/explanation.h"

namespace whylate {

// Times are divided by `unit_ns`.
std::string SegmentText(const Segment& segment, int64_t unit_ns = 1);
std::vector<std::string> SegmentTexts(const Miss& miss, int64_t unit_ns = 1);
// "burn preempted slice sufficient margin 3 complete".
std::string VerdictText(const Verdict& verdict, int64_t unit_ns = 1);
// "burn/preempted/slice 6", sorted, for rows with time.
std::vector<std::string> CauseTexts(const Explanation& explanation, int64_t unit_ns = 1);

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_TRACE_TEXT_H_
