#include "analysis/stats/classic.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace whylate {
namespace {

using testing::DoubleEq;
using testing::Optional;

CellFrames Cell(Pacing pacing, std::vector<Frame> frames) {
  CellFrames cell;
  cell.pacing = pacing;
  cell.period = {10000, 1};
  cell.end_ns = 40000;
  cell.frames = std::move(frames);
  return cell;
}

ClassicStatistics Compute(CellFrames cell) {
  cell.has_unfinished = true;
  return ComputeClassic(cell, CountFrames(cell).value());
}

TEST(ComputeClassicTest, LatencyIsFromReleaseToStartInMicroseconds) {
  const ClassicStatistics classic = Compute(
      Cell(Pacing::kSkip, {{0, 0, 1500, 9000, 4000, 4000}, {1, 10000, 12500, 19000, 4000, 4000}}));
  ASSERT_TRUE(classic.latency_us);
  EXPECT_DOUBLE_EQ(classic.latency_us->mean, 2.0);
  EXPECT_DOUBLE_EQ(classic.latency_us->max, 2.5);
}

// 0.31 would add the periods that were passed.
TEST(ComputeClassicTest, ALateFrameCountsOnceWithItsOwnLatency) {
  const ClassicStatistics classic =
      Compute(Cell(Pacing::kSkip, {{0, 0, 25000, 29000, 4000, 4000}}));
  EXPECT_DOUBLE_EQ(classic.latency_us->max, 25.0);
  EXPECT_EQ(classic.latency_us->sd, std::nullopt);
}

TEST(ComputeClassicTest, BackToBackLatencyIsWhatAFrameTookBeyondItsDemand) {
  const ClassicStatistics classic = Compute(Cell(
      Pacing::kBackToBack, {{0, 0, 5, 10000, 8000, 8000}, {1, 10000, 10000, 22000, 8000, 8000}}));
  EXPECT_DOUBLE_EQ(classic.latency_us->mean, 3.0);
  EXPECT_DOUBLE_EQ(classic.latency_us->max, 4.0);
}

//  0      10      20      30      40 us
//  [------------------)   [--)            frame 0 late, 1 and 2 dropped, 3 met
TEST(ComputeClassicTest, DroppedFramesAreDemandedAndNotDelivered) {
  const ClassicStatistics classic = Compute(
      Cell(Pacing::kSkip, {{0, 0, 100, 21000, 4000, 4000}, {3, 30000, 30100, 35000, 4000, 4000}}));
  EXPECT_THAT(classic.desired_cpu_pct, Optional(DoubleEq(50)));
  EXPECT_THAT(classic.deadlines_met_pct, Optional(DoubleEq(25)));
}

TEST(ComputeClassicTest, CensoredFramesAreNotDue) {
  const ClassicStatistics classic =
      Compute(Cell(Pacing::kSkip, {{0, 0, 100, 5000, 4000, 4000}}));  // three are censored
  EXPECT_THAT(classic.desired_cpu_pct, Optional(DoubleEq(100)));
  EXPECT_THAT(classic.deadlines_met_pct, Optional(DoubleEq(100)));
}

TEST(ComputeClassicTest, CarryDeliversEachStepsOwnDemand) {
  const ClassicStatistics classic = Compute(
      Cell(Pacing::kCarry, {{0, 0, 100, 200, 50, 0}, {1, 10000, 10100, 23000, 9000, 9000}}));
  EXPECT_THAT(classic.desired_cpu_pct, Optional(DoubleEq(100)));
  EXPECT_THAT(classic.deadlines_met_pct, Optional(DoubleEq(50)));
}

TEST(ComputeClassicTest, BackToBackWantsAllOfTheTime) {
  const ClassicStatistics classic = Compute(Cell(
      Pacing::kBackToBack, {{0, 0, 0, 10000, 8000, 8000}, {1, 10000, 10000, 20000, 8000, 8000}}));
  EXPECT_THAT(classic.desired_cpu_pct, Optional(DoubleEq(80)));
}

TEST(ComputeClassicTest, BackToBackHasNoDeadlines) {
  EXPECT_EQ(Compute(Cell(Pacing::kBackToBack, {{0, 0, 0, 10000, 1, 1}})).deadlines_met_pct,
            std::nullopt);
}

TEST(ComputeClassicTest, CpuTimeIsComparedWithTheDemand) {
  const ClassicStatistics classic = Compute(
      Cell(Pacing::kSkip, {{0, 0, 100, 9000, 4000, 4000}, {1, 10000, 10100, 19000, 4400, 4000}}));
  EXPECT_THAT(classic.cpu_per_demand, Optional(DoubleEq(1.05)));
}

TEST(ComputeClassicTest, NothingDemandedIsNoRatio) {
  const ClassicStatistics classic = Compute(Cell(Pacing::kCarry, {{0, 0, 100, 200, 50, 0}}));
  EXPECT_EQ(classic.desired_cpu_pct, std::nullopt);
  EXPECT_EQ(classic.cpu_per_demand, std::nullopt);
}

TEST(ComputeClassicTest, NoFrameIsNoStatistics) {
  const ClassicStatistics classic = Compute(Cell(Pacing::kSkip, {}));
  EXPECT_EQ(classic.latency_us, std::nullopt);
  EXPECT_EQ(classic.desired_cpu_pct, std::nullopt);
  EXPECT_EQ(classic.deadlines_met_pct, std::nullopt);
  EXPECT_EQ(classic.cpu_per_demand, std::nullopt);
}

}  // namespace
}  // namespace whylate
