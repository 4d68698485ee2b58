#include "analysis/model/frame.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace whylate {
namespace {

constexpr int64_t kSecond = 1000000000;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

// Releases at 100, 110, 120, 130, 140; the cell ends at 150.
CellFrames TensFrom100(Pacing pacing) {
  CellFrames cell;
  cell.pacing = pacing;
  cell.period = {10, 1};
  cell.origin_ns = 100;
  cell.end_ns = 150;
  return cell;
}

Frame Completing(int64_t index, int64_t completion_ns) {
  Frame frame;
  frame.index = index;
  frame.completion_ns = completion_ns;
  return frame;
}

TEST(PeriodTest, RoundsDownAndNeverDrifts) {
  const Period period = {kSecond, 60};
  EXPECT_EQ(period.Multiple(0), 0);
  EXPECT_EQ(period.Multiple(1), 16666666);
  EXPECT_EQ(period.Multiple(2), 33333333);
  EXPECT_EQ(period.Multiple(60), kSecond);
  EXPECT_EQ(period.Multiple(60 * 86400), 86400 * kSecond);
}

TEST(CellFramesTest, DeadlineIsTheNextRelease) {
  CellFrames cell;
  cell.period = {kSecond, 60};
  cell.origin_ns = 7;
  EXPECT_EQ(cell.ReleaseNs(2), 33333340);
  EXPECT_EQ(cell.DeadlineNs(1), 33333340);
}

TEST(CellFramesTest, CountsReleasesBeforeTheEnd) {
  CellFrames cell = TensFrom100(Pacing::kSkip);
  EXPECT_EQ(cell.ReleaseCount(), 5);  // the one at 150 is not in the cell
  cell.end_ns = 151;
  EXPECT_EQ(cell.ReleaseCount(), 6);
  cell.end_ns = 101;
  EXPECT_EQ(cell.ReleaseCount(), 1);
}

TEST(CellFramesTest, TenSecondsAtSixtyHertzAreSixHundredReleases) {
  CellFrames cell;
  cell.period = {kSecond, 60};
  cell.origin_ns = 123456789012345;
  cell.end_ns = cell.origin_ns + 10 * kSecond;
  EXPECT_EQ(cell.ReleaseCount(), 600);
}

TEST(CellFramesTest, ACellThatEndsAtOrBeforeItsOriginHasNoRelease) {
  CellFrames cell = TensFrom100(Pacing::kSkip);
  cell.end_ns = 100;
  EXPECT_EQ(cell.ReleaseCount(), 0);
  cell.end_ns = 50;
  EXPECT_EQ(cell.ReleaseCount(), 0);
}

TEST(CellFramesTest, BackToBackHasNoReleases) {
  EXPECT_EQ(TensFrom100(Pacing::kBackToBack).ReleaseCount(), 0);
}

TEST(CellFramesTest, FirstReleaseAtOrAfterIsTheFirst) {
  CellFrames cell;
  cell.period = {kSecond, 60};
  cell.origin_ns = 5;
  for (int64_t k = 0; k < 200; ++k) {
    const int64_t release_ns = cell.ReleaseNs(k);
    EXPECT_EQ(cell.FirstReleaseAtOrAfter(release_ns), k);
    EXPECT_EQ(cell.FirstReleaseAtOrAfter(release_ns + 1), k + 1);
  }
}

TEST(CellFramesTest, FirstReleaseBeforeTheOriginIsRelease0) {
  EXPECT_EQ(TensFrom100(Pacing::kSkip).FirstReleaseAtOrAfter(3), 0);
}

TEST(CellFramesTest, FirstReleaseIsRightWithPeriodsBelowANanosecondApart) {
  CellFrames cell;
  cell.period = {7, 3};  // 0, 2, 4, 7, 9, 11, 14
  EXPECT_EQ(cell.FirstReleaseAtOrAfter(4), 2);
  EXPECT_EQ(cell.FirstReleaseAtOrAfter(5), 3);
  EXPECT_EQ(cell.FirstReleaseAtOrAfter(8), 4);
  EXPECT_EQ(cell.FirstReleaseAtOrAfter(12), 6);
}

TEST(CellFramesTest, LateIsAfterTheDeadlineAndNotAtIt) {
  for (Pacing pacing : {Pacing::kSkip, Pacing::kCarry}) {
    const CellFrames cell = TensFrom100(pacing);
    EXPECT_FALSE(cell.IsLate(Completing(1, 120)));
    EXPECT_TRUE(cell.IsLate(Completing(1, 121)));
  }
}

TEST(CellFramesTest, BackToBackIsNeverLate) {
  EXPECT_FALSE(TensFrom100(Pacing::kBackToBack).IsLate(Completing(0, 100000)));
}

//  100   110   120   130   140   150 = end
//   r0    r1    r2    r3    r4
//         [----------------)          frame 1 completes at 135: r2 and r3 are skipped
TEST(CellFramesTest, SkipsReleasesBeforeTheCompletion) {
  const CellFrames cell = TensFrom100(Pacing::kSkip);
  EXPECT_EQ(cell.SkippedReleases(Completing(1, 135)), 2);
}

TEST(CellFramesTest, AReleaseAtTheCompletionIsNotSkipped) {
  const CellFrames cell = TensFrom100(Pacing::kSkip);
  EXPECT_EQ(cell.SkippedReleases(Completing(1, 130)), 1);
  EXPECT_EQ(cell.SkippedReleases(Completing(1, 131)), 2);
}

TEST(CellFramesTest, AFrameOnTimeSkipsNothing) {
  const CellFrames cell = TensFrom100(Pacing::kSkip);
  EXPECT_EQ(cell.SkippedReleases(Completing(1, 119)), 0);
  EXPECT_EQ(cell.SkippedReleases(Completing(1, 120)), 0);
}

TEST(CellFramesTest, ReleasesPastTheEndAreNotSkipped) {
  const CellFrames cell = TensFrom100(Pacing::kSkip);
  EXPECT_EQ(cell.SkippedReleases(Completing(3, 500)), 1);
  EXPECT_EQ(cell.SkippedReleases(Completing(4, 500)), 0);
}

TEST(CellFramesTest, OnlySkipPacingSkips) {
  EXPECT_EQ(TensFrom100(Pacing::kCarry).SkippedReleases(Completing(1, 135)), 0);
  EXPECT_EQ(TensFrom100(Pacing::kBackToBack).SkippedReleases(Completing(1, 135)), 0);
}

// One frame through three stages: begun at 110, passed on at 112 and 115, completed at 119.
CellFrames OneThroughThreeStages() {
  CellFrames cell = TensFrom100(Pacing::kSkip);
  cell.stages = {{"a", Tid{1}, 2, {}, {}}, {"b", Tid{2}, 3, {}, {}}, {"c", Tid{3}, 4, {}, {}}};
  cell.frames = {{1, 110, 110, 119, 9, 9}};
  cell.passed_ns = {112, 115};
  cell.stage_cpu_ns = {2, 3, 4};
  return cell;
}

TEST(CellFramesTest, AStagesColumnsAreByFrame) {
  CellFrames cell = OneThroughThreeStages();
  cell.frames.push_back({2, 120, 120, 129, 9, 9});
  EXPECT_FALSE(cell.HasWholeStages());
  cell.passed_ns.insert(cell.passed_ns.end(), {122, 125});
  EXPECT_FALSE(cell.HasWholeStages());
  cell.stage_cpu_ns.insert(cell.stage_cpu_ns.end(), {1, 5, 3});
  EXPECT_TRUE(cell.HasWholeStages());
  EXPECT_THAT(cell.PassedNs(1), testing::ElementsAre(122, 125));
  EXPECT_THAT(cell.StageCpuNs(1), testing::ElementsAre(1, 5, 3));
}

TEST(CellFramesTest, OneThreadsFramesHaveNoColumns) {
  CellFrames cell = TensFrom100(Pacing::kSkip);
  cell.frames = {Completing(0, 109)};
  EXPECT_TRUE(cell.HasWholeStages());
  EXPECT_TRUE(cell.PassesInOrder(0));
  EXPECT_TRUE(cell.PassedNs(0).empty());
  EXPECT_TRUE(cell.StageCpuNs(0).empty());
  cell.stage_cpu_ns = {1};
  EXPECT_FALSE(cell.HasWholeStages());
}

TEST(CellFramesTest, FramesPassTheirStagesInOrder) {
  EXPECT_TRUE(OneThroughThreeStages().PassesInOrder(0));
  const auto with_passes = [](std::vector<int64_t> passed_ns) {
    CellFrames cell = OneThroughThreeStages();
    cell.passed_ns = std::move(passed_ns);
    return cell.PassesInOrder(0);
  };
  EXPECT_TRUE(with_passes({110, 110}));
  EXPECT_TRUE(with_passes({119, 119}));
  EXPECT_FALSE(with_passes({109, 115}));
  EXPECT_FALSE(with_passes({115, 112}));
  EXPECT_FALSE(with_passes({112, 120}));
  EXPECT_FALSE(with_passes({kMost, kLeast}));
}

TEST(CellFramesTest, TheStagesCpuTimesAddUpToTheFrames) {
  const auto with_cpu = [](std::vector<int64_t> cpu_ns) {
    CellFrames cell = OneThroughThreeStages();
    cell.stage_cpu_ns = std::move(cpu_ns);
    return cell.PassesInOrder(0);
  };
  EXPECT_TRUE(with_cpu({0, 9, 0}));
  EXPECT_FALSE(with_cpu({2, 3, 5}));
  EXPECT_FALSE(with_cpu({2, 3, 3}));
  EXPECT_FALSE(with_cpu({-1, 5, 5}));
  EXPECT_FALSE(with_cpu({kMost, kMost, 11}));
}

}  // namespace
}  // namespace whylate
