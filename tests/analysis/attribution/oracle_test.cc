// The analysis against an oracle that works out every instant by itself, on small random
// recordings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>

#include "analysis/attribution/explain.h"
#include "tests/support/trace_generator.h"
#include "tests/support/trace_oracle.h"
#include "tests/support/trace_text.h"

namespace whylate {
namespace {

struct OracleCase {
  uint64_t first_seed = 0;
  GeneratorOptions options;
};

// More of them: WHYLATE_PROPERTY_SEEDS=5000.
uint64_t SeedsPerCase() {
  const char* text = std::getenv("WHYLATE_PROPERTY_SEEDS");
  return text == nullptr ? 1500 : std::strtoull(text, nullptr, 10);
}

class OracleTest : public ::testing::TestWithParam<OracleCase> {};

// Each instant's kind, and in waits its occupant.
void ExpectSameInstants(const Miss& miss, const OracleFrame& oracle, int64_t unit_ns) {
  size_t at = 0;
  for (const Segment& segment : miss.segments) {
    int64_t avoidable_ns = 0;
    size_t occupant = 0;
    for (int64_t t = segment.start_ns; t < segment.end_ns; t += unit_ns, ++at) {
      ASSERT_LT(at, oracle.instants.size());
      const OracleInstant& instant = oracle.instants[at];
      ASSERT_EQ(ToString(segment.kind), instant.kind) << "at " << t / unit_ns;
      if (instant.avoidable) avoidable_ns += unit_ns;
      if (segment.occupants.empty()) continue;
      while (segment.occupants[occupant].end_ns <= t) ++occupant;
      ASSERT_EQ(segment.occupants[occupant].task, instant.occupant) << "at " << t / unit_ns;
    }
    EXPECT_EQ(segment.avoidable_ns, avoidable_ns) << SegmentText(segment, unit_ns);
  }
  EXPECT_EQ(at, oracle.instants.size());
}

std::map<std::string, int64_t> WaitCauses(const Explanation& explanation, int64_t* self_ns) {
  std::map<std::string, int64_t> causes;
  for (const CauseRow& row : explanation.causes) {
    if (row.ns == 0) continue;
    if (row.kind == "running") {
      *self_ns += row.ns;
      continue;
    }
    const std::string decision = row.decision ? ToString(*row.decision) : "-";
    causes[row.subject + "/" + row.kind + "/" + decision] += row.ns;
  }
  return causes;
}

TEST_P(OracleTest, AgreesAtEveryInstant) {
  int64_t verdicts = 0;
  for (uint64_t i = 0; i < SeedsPerCase(); ++i) {
    GeneratorOptions options = GetParam().options;
    options.seed = GetParam().first_seed + i;
    SCOPED_TRACE(testing::Message() << "seed " << options.seed);
    const Recording recording = GenerateTrace(options);
    const OracleFrame oracle = Oracle(recording, options.unit_ns);
    const Explanation explanation = Explain(recording);
    ASSERT_EQ(explanation.misses.size(), 1u);
    const Miss& miss = explanation.misses[0];
    ExpectSameInstants(miss, oracle, options.unit_ns);
    int64_t self_ns = 0;
    EXPECT_EQ(WaitCauses(explanation, &self_ns), oracle.causes);
    EXPECT_EQ(self_ns, oracle.self_ns);
    if (oracle.verdict_known) {
      ++verdicts;
      EXPECT_EQ(miss.verdict->subjects, oracle.subjects);
      EXPECT_EQ(miss.verdict->margin_ns,
                miss.deadline_ns - (miss.frame.completion_ns - oracle.saving_ns));
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(verdicts, 10);
}

INSTANTIATE_TEST_SUITE_P(
    Streams, OracleTest,
    ::testing::Values(OracleCase{1, {.cpus = 1, .actions = 60}}, OracleCase{1000, {.cpus = 2}},
                      OracleCase{2000, {.cpus = 3, .actions = 160, .rt_workload = true}},
                      OracleCase{3000, {.cpus = 2, .unit_ns = 50'000}},
                      OracleCase{4000, {.cpus = 3, .unit_ns = 50'000, .exact_demand = true}},
                      OracleCase{5000, {.cpus = 3, .unit_ns = 50'000, .rt_workload = true}},
                      OracleCase{6000,
                                 {.cpus = 2,
                                  .actions = 300,
                                  .unit_ns = 50'000,
                                  .asleep_at_release = true,
                                  .exact_demand = true}}));

}  // namespace
}  // namespace whylate
