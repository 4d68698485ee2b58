#include "userspace/selftest/scenarios.h"

#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "userspace/selftest/selftest.h"

namespace whylate {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ScenarioRowsTest, CoverEveryRowOfTheGroundTruth) {
  std::set<int> rows;
  for (const ScenarioRow& row : ScenarioRows()) rows.insert(row.row);
  for (int row = 1; row <= kGroundTruthRows; ++row) EXPECT_TRUE(rows.contains(row)) << row;
  EXPECT_EQ(rows.size(), size_t{kGroundTruthRows});
}

TEST(ScenarioRowsTest, HaveNamesOfTheirOwnAndAllTheirParts) {
  std::set<std::string> names;
  for (const ScenarioRow& row : ScenarioRows()) {
    EXPECT_TRUE(names.insert(std::string(row.name)).second) << row.name;
    for (const char c : row.name) {
      EXPECT_TRUE(absl::ascii_islower(static_cast<unsigned char>(c)) || c == '_') << row.name;
    }
    EXPECT_FALSE(row.what.empty());
    EXPECT_NE(row.proof, nullptr);
    EXPECT_NE(row.build, nullptr);
    EXPECT_EQ(FindScenario(row.name), &row);
  }
  EXPECT_EQ(FindScenario("none"), nullptr);
}

// A scenario shows something: somebody is to be named, or somehow, or nobody.
TEST(ScenarioRowsTest, HaveSomethingToProve) {
  for (const ScenarioRow& row : ScenarioRows()) {
    const Proof proof = row.proof();
    EXPECT_TRUE(!proof.expected.empty() || !proof.only_kind.empty() || proof.needs_losses ||
                !proof.needs_late_frames)
        << row.name;
    EXPECT_TRUE(row.build_without == nullptr || !proof.expected.empty()) << row.name;
  }
}

TEST(SelectScenariosTest, AreAllOrThoseThatAreNamedInTheTablesOrder) {
  EXPECT_EQ(SelectScenarios(SelftestOptions())->size(), ScenarioRows().size());
  SelftestOptions options;
  options.scenarios = {"storm", "hog_free"};
  EXPECT_THAT(*SelectScenarios(options),
              ElementsAre(FindScenario("hog_free"), FindScenario("storm")));
}

TEST(SelectScenariosTest, AnUnknownOneIsToldThoseThatExist) {
  SelftestOptions options;
  options.scenarios = {"hog_pinned", "hog"};
  EXPECT_THAT(SelectScenarios(options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("unknown scenario 'hog'"), HasSubstr("hog_pinned, "))));
}

TEST(EstimateSelftestTest, GrowsWithRunsAndTime) {
  SelftestOptions options;
  const int64_t default_ns = EstimateSelftestNs(options);
  options.runs = 2;
  const int64_t twice_ns = EstimateSelftestNs(options);
  EXPECT_GT(twice_ns, default_ns * 3 / 2);
  options.duration_ns *= 2;
  EXPECT_GT(EstimateSelftestNs(options), twice_ns * 3 / 2);
}

}  // namespace
}  // namespace whylate
