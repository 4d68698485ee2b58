// The drawing that tests of waits share: W, watched, on CPU 0, with A and B beside it. Times are
// milliseconds unless a test says else.
#ifndef WHYLATE_TESTS_ANALYSIS_ATTRIBUTION_DRAWN_WAIT_H_
#define WHYLATE_TESTS_ANALYSIS_ATTRIBUTION_DRAWN_WAIT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analysis/attribution/explain.h"
#include "tests/support/trace_builder.h"
#include "tests/support/trace_text.h"

namespace whylate {

inline constexpr int64_t kMs = 1'000'000;
inline constexpr int32_t kW = 1;
inline constexpr int32_t kA = 10;
inline constexpr int32_t kB = 11;

inline TraceBuilder Drawn(int32_t cpus, int64_t unit_ns = kMs) {
  TraceBuilder builder(cpus, unit_ns);
  builder.Watch(kW).Name(kW, "W").Name(kA, "A").Name(kB, "B");
  return builder;
}

// The first wait of the only late frame.
inline Segment WaitOf(const TraceBuilder& builder) {
  const Explanation explanation = Explain(builder.Build());
  for (const Segment& segment : explanation.misses.at(0).segments) {
    if (!segment.occupants.empty()) return segment;
  }
  ADD_FAILURE() << "no wait";
  return {};
}

inline std::string WaitText(const TraceBuilder& builder, int64_t unit_ns = kMs) {
  return SegmentText(WaitOf(builder), unit_ns);
}

}  // namespace whylate

#endif  // WHYLATE_TESTS_ANALYSIS_ATTRIBUTION_DRAWN_WAIT_H_
