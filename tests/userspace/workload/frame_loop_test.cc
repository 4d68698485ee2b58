#include "userspace/workload/frame_loop.h"

#include <cstdint>
#include <vector>

#include "analysis/stats/frame_accounting.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "userspace/platform/clock.h"

namespace whylate {
namespace {

constexpr int64_t kMs = 1000000;
// So little work that no machine takes a period for it.
constexpr int64_t kLoopsPerMs = 1000;

// A cell of 20 ms whose releases are 1 ms apart.
class RunFramesTest : public testing::Test {
 protected:
  static Workload EveryMillisecond(Pacing pacing) {
    Workload workload;
    workload.pacing = pacing;
    workload.period = {kMs, 1};
    workload.demand_ns = kMs / 10;
    return workload;
  }

  // What the log holds, as the supervisor sees it after the cell.
  static CellFrames FramesOf(const Workload& workload, const FrameLog& log, int64_t duration_ns) {
    CellFrames cell;
    cell.pacing = workload.pacing;
    cell.period = workload.period;
    cell.origin_ns = log.origin_ns();
    cell.end_ns = cell.origin_ns + duration_ns;
    for (int64_t i = 0; i < log.count(); ++i) {
      const FrameRecord& record = log.record(i);
      cell.frames.push_back({record.index, record.release_ns, record.start_ns, record.completion_ns,
                             record.cpu_ns, record.demand_ns});
    }
    return cell;
  }

  CellFrames Run(const Workload& workload, int64_t loops_per_ms = kLoopsPerMs) {
    RunFrames(workload, kDurationNs, loops_per_ms, log_);
    return FramesOf(workload, log_, kDurationNs);
  }

  static constexpr int64_t kDurationNs = 20 * kMs;
  FrameLog log_ = FrameLog::Create(100000).value();
};

TEST_F(RunFramesTest, SkipPacingIsConserved) {
  const CellFrames cell = Run(EveryMillisecond(Pacing::kSkip));
  const absl::StatusOr<FrameCounts> counts = CountFrames(cell);
  ASSERT_THAT(counts, IsOk());
  EXPECT_EQ(counts->due, 20);
  EXPECT_EQ(counts->censored, 0);
}

// Each frame's work takes some periods: 100,000 dependent multiplications a release.
TEST_F(RunFramesTest, OverloadedSkipPacingDropsAndIsConserved) {
  Workload workload = EveryMillisecond(Pacing::kSkip);
  workload.period = {kMs / 100, 1};
  const CellFrames cell = Run(workload, 1000000);
  const absl::StatusOr<FrameCounts> counts = CountFrames(cell);
  ASSERT_THAT(counts, IsOk());
  EXPECT_EQ(counts->due, 2000);
  EXPECT_GT(counts->dropped, 0);
}

TEST_F(RunFramesTest, CarryPacingRunsEveryReleaseThoughLate) {
  Workload workload = EveryMillisecond(Pacing::kCarry);
  workload.period = {kMs / 100, 1};
  workload.ramp = true;
  const CellFrames cell = Run(workload, 1000000);
  const absl::StatusOr<FrameCounts> counts = CountFrames(cell);
  ASSERT_THAT(counts, IsOk());
  EXPECT_EQ(counts->due, 2000);
  EXPECT_EQ(counts->met + counts->late, 2000);
  EXPECT_GT(counts->late, 0);
}

TEST_F(RunFramesTest, ARampsDemandIsLogged) {
  Workload workload = EveryMillisecond(Pacing::kCarry);
  workload.ramp = true;
  const CellFrames cell = Run(workload);
  ASSERT_EQ(cell.frames.size(), 20u);
  EXPECT_EQ(cell.frames.front().demand_ns, 0);
  EXPECT_EQ(cell.frames.back().demand_ns, workload.demand_ns);
}

TEST_F(RunFramesTest, BackToBackFramesAreReleasedByTheOneBefore) {
  const CellFrames cell = Run(EveryMillisecond(Pacing::kBackToBack), 1000000);
  ASSERT_THAT(CountFrames(cell), IsOk());
  ASSERT_FALSE(cell.frames.empty());
  EXPECT_EQ(cell.frames.front().release_ns, cell.origin_ns);
  for (size_t i = 1; i < cell.frames.size(); ++i) {
    EXPECT_EQ(cell.frames[i].release_ns, cell.frames[i - 1].completion_ns);
    EXPECT_EQ(cell.frames[i].start_ns, cell.frames[i].release_ns);
  }
  EXPECT_LT(cell.frames.back().release_ns, cell.end_ns);
  EXPECT_GE(cell.frames.back().completion_ns, cell.end_ns);
}

TEST_F(RunFramesTest, NoFrameStartsBeforeItsRelease) {
  for (const Frame& frame : Run(EveryMillisecond(Pacing::kSkip)).frames) {
    EXPECT_GE(frame.start_ns, frame.release_ns);
    EXPECT_GE(frame.completion_ns, frame.start_ns);
    EXPECT_GE(frame.cpu_ns, 0);
    EXPECT_EQ(frame.demand_ns, kMs / 10);
  }
}

TEST_F(RunFramesTest, ABodyIsDoneInEachFrameInThePlaceOfItsWork) {
  std::vector<FrameStep> steps;
  std::vector<int64_t> times_ns;
  const Workload workload = EveryMillisecond(Pacing::kSkip);
  RunFrames(workload, kDurationNs, kLoopsPerMs, log_, [&](const FrameStep& step) {
    steps.push_back(step);
    times_ns.push_back(MonotonicNs());
  });
  const CellFrames cell = FramesOf(workload, log_, kDurationNs);
  ASSERT_EQ(steps.size(), cell.frames.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].index, cell.frames[i].index);
    EXPECT_EQ(steps[i].release_ns, cell.frames[i].release_ns);
    EXPECT_EQ(steps[i].loops, kLoopsPerMs / 10);
    EXPECT_LE(cell.frames[i].start_ns, times_ns[i]);
    EXPECT_GE(cell.frames[i].completion_ns, times_ns[i]);
  }
}

TEST_F(RunFramesTest, AFullLogEndsTheCell) {
  log_ = FrameLog::Create(3).value();
  const CellFrames cell = Run(EveryMillisecond(Pacing::kCarry));
  EXPECT_EQ(cell.frames.size(), 3u);
  EXPECT_TRUE(log_.full());
  EXPECT_TRUE(log_.has_unfinished_frame());
}

TEST_F(RunFramesTest, TheEndIsNoRelease) {
  EXPECT_EQ(Run(EveryMillisecond(Pacing::kCarry)).frames.back().index, 19);
}

// Releases 10 apart. A completion at a release leaves it due, one after it does not, however late
// the release was looked at.
TEST(NextReleaseTest, ExactlyTheReleasesBeforeTheCompletionAreSkipped) {
  CellFrames pacing;
  pacing.pacing = Pacing::kSkip;
  pacing.period = {10, 1};
  pacing.origin_ns = 100;
  EXPECT_EQ(NextRelease(pacing, 3, 125), 3);
  EXPECT_EQ(NextRelease(pacing, 3, 130), 3);
  EXPECT_EQ(NextRelease(pacing, 3, 131), 4);
  EXPECT_EQ(NextRelease(pacing, 3, 140), 4);
  EXPECT_EQ(NextRelease(pacing, 3, 161), 7);
  pacing.pacing = Pacing::kCarry;
  EXPECT_EQ(NextRelease(pacing, 3, 161), 3);
}

TEST(LogCapacityTest, HoldsEveryReleaseOfACell) {
  EXPECT_GE(LogCapacity(MakeWorkload("video", {}).value(), 10000 * kMs), 600);
  EXPECT_GE(LogCapacity(MakeWorkload("custom", {1.0, 100}).value(), 86400000 * kMs), 864000000);
}

TEST(LogCapacityTest, HoldsBackToBackFramesOfAFasterMachine) {
  EXPECT_GE(LogCapacity(MakeWorkload("gaming", {}).value(), 3000 * kMs), 8 * 300);
}

}  // namespace
}  // namespace whylate
