#include "analysis/stats/distribution.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace whylate {
namespace {

// 1, 2, ..., n
std::vector<double> UpTo(size_t n) {
  std::vector<double> sample(n);
  std::iota(sample.begin(), sample.end(), 1.0);
  return sample;
}

TEST(NearestRankTest, TakesTheCeilingOfTheRank) {
  EXPECT_EQ(NearestRank(UpTo(5), 0.50), 3);    // ceil(2.5)
  EXPECT_EQ(NearestRank(UpTo(4), 0.50), 2);    // ceil(2)
  EXPECT_EQ(NearestRank(UpTo(10), 0.99), 10);  // ceil(9.9)
}

TEST(NearestRankTest, IsNotPushedUpByFloatingPoint) {
  EXPECT_EQ(NearestRank(UpTo(20), 0.95), 19);
  EXPECT_EQ(NearestRank(UpTo(100), 0.95), 95);
  EXPECT_EQ(NearestRank(UpTo(1000), 0.999), 999);
  EXPECT_EQ(NearestRank(UpTo(100), 0.07), 7);
}

TEST(NearestRankTest, StaysInsideTheSample) {
  EXPECT_EQ(NearestRank({42}, 0.001), 42);
  EXPECT_EQ(NearestRank({42}, 1.0), 42);
  EXPECT_EQ(NearestRank(UpTo(3), 1.0), 3);
}

TEST(SummarizeTest, AnEmptySampleHasNoSummary) { EXPECT_EQ(Summarize({}), std::nullopt); }

TEST(SummarizeTest, OneValueHasNoDeviation) {
  const std::optional<Distribution> summary = Summarize({7});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->mean, 7);
  EXPECT_EQ(summary->sd, std::nullopt);
  EXPECT_EQ(summary->p50, 7);
  EXPECT_EQ(summary->p999, 7);
  EXPECT_EQ(summary->max, 7);
}

TEST(SummarizeTest, SdIsThatOfASampleNotTheRootMeanSquare) {
  const std::optional<Distribution> summary = Summarize({2, 4, 4, 4, 5, 5, 7, 9});
  ASSERT_TRUE(summary);
  EXPECT_DOUBLE_EQ(summary->mean, 5);
  EXPECT_DOUBLE_EQ(*summary->sd, std::sqrt(32.0 / 7));
}

TEST(SummarizeTest, TheOrderOfTheSampleDoesNotMatter) {
  const std::optional<Distribution> summary = Summarize({9, 1, 5});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->p50, 5);
  EXPECT_EQ(summary->max, 9);
}

TEST(SummarizeTest, PercentilesOfAThousand) {
  const std::optional<Distribution> summary = Summarize(UpTo(1000));
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->p50, 500);
  EXPECT_EQ(summary->p95, 950);
  EXPECT_EQ(summary->p99, 990);
  EXPECT_EQ(summary->p999, 999);
  EXPECT_EQ(summary->max, 1000);
}

// A sum of squares would lose all digits here.
TEST(SummarizeTest, ALargeOffsetDoesNotSpoilTheDeviation) {
  const std::optional<Distribution> summary = Summarize({1e9 + 1, 1e9 + 2, 1e9 + 3});
  ASSERT_TRUE(summary);
  EXPECT_NEAR(*summary->sd, 1, 1e-6);
}

TEST(SummarizeTest, EqualValuesDeviateByZero) {
  EXPECT_THAT(Summarize({3, 3, 3})->sd, testing::Optional(0));
}

}  // namespace
}  // namespace whylate
