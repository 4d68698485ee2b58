#include "userspace/workload/frame_log.h"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

constexpr FrameRecord kRecord = {5, 100, 110, 150, 39, 40};

TEST(FrameLogTest, BeginsEmpty) {
  const FrameLog log = FrameLog::Create(3).value();
  EXPECT_EQ(log.count(), 0);
  EXPECT_EQ(log.origin_ns(), 0);
  EXPECT_FALSE(log.full());
  EXPECT_FALSE(log.has_unfinished_frame());
}

TEST(FrameLogTest, KeepsWhatIsAppended) {
  FrameLog log = FrameLog::Create(3).value();
  ASSERT_TRUE(log.Append(kRecord));
  EXPECT_EQ(log.count(), 1);
  EXPECT_EQ(log.record(0).index, 5);
  EXPECT_EQ(log.record(0).release_ns, 100);
  EXPECT_EQ(log.record(0).start_ns, 110);
  EXPECT_EQ(log.record(0).completion_ns, 150);
  EXPECT_EQ(log.record(0).cpu_ns, 39);
  EXPECT_EQ(log.record(0).demand_ns, 40);
}

TEST(FrameLogTest, HoldsItsCapacityAndNoMore) {
  FrameLog log = FrameLog::Create(2).value();
  EXPECT_TRUE(log.Append(kRecord));
  EXPECT_FALSE(log.full());
  EXPECT_TRUE(log.Append(kRecord));
  EXPECT_TRUE(log.full());
  EXPECT_FALSE(log.Append(kRecord));
  EXPECT_EQ(log.count(), 2);
}

TEST(FrameLogTest, AFrameIsUnfinishedUntilItIsAppended) {
  FrameLog log = FrameLog::Create(3).value();
  log.Enter();
  EXPECT_TRUE(log.has_unfinished_frame());
  ASSERT_TRUE(log.Append(kRecord));
  EXPECT_FALSE(log.has_unfinished_frame());
  log.Enter();
  EXPECT_TRUE(log.has_unfinished_frame());
}

TEST(FrameLogTest, TheSupervisorSeesWhatTheWorkloadWrites) {
  const FrameLog supervisor = FrameLog::Create(3).value();
  FrameLog workload = FrameLog::Map(UniqueFd(dup(supervisor.fd()))).value();
  workload.SetOrigin(1234);
  workload.Enter();
  ASSERT_TRUE(workload.Append(kRecord));
  workload.Enter();
  EXPECT_EQ(supervisor.origin_ns(), 1234);
  EXPECT_EQ(supervisor.count(), 1);
  EXPECT_EQ(supervisor.record(0).completion_ns, 150);
  EXPECT_TRUE(supervisor.has_unfinished_frame());
}

TEST(FrameLogTest, BothSidesAgreeOnTheCapacity) {
  const FrameLog supervisor = FrameLog::Create(1).value();
  FrameLog workload = FrameLog::Map(UniqueFd(dup(supervisor.fd()))).value();
  EXPECT_TRUE(workload.Append(kRecord));
  EXPECT_FALSE(workload.Append(kRecord));
  EXPECT_TRUE(supervisor.full());
}

TEST(FrameLogTest, AChainsStagesComeWithTheirFrames) {
  const FrameLog supervisor = FrameLog::Create(2, 3).value();
  FrameLog workload = FrameLog::Map(UniqueFd(dup(supervisor.fd()))).value();
  for (size_t stage = 0; stage < 3; ++stage) {
    workload.SetStageTid(stage, Tid{static_cast<int32_t>(70 + stage)});
  }
  FrameRecord record = kRecord;
  for (record.index = 0; record.index < 2; ++record.index) {
    const int64_t base = 1000 * record.index;
    ASSERT_TRUE(workload.Append(record, std::array{base + 1, base + 2},
                                std::array{base + 3, base + 4, base + 5}));
  }
  EXPECT_FALSE(workload.Append(record, std::array{int64_t{1}, int64_t{2}},
                               std::array{int64_t{3}, int64_t{4}, int64_t{5}}));
  CellFrames frames;
  frames.end_ns = 1000;
  frames.stages.resize(3);
  supervisor.CopyFrames(frames);
  ASSERT_EQ(frames.frames.size(), 2u);
  EXPECT_EQ(frames.frames[1].index, 1);
  EXPECT_EQ(frames.frames[1].demand_ns, 40);
  EXPECT_EQ(frames.passed_ns, (std::vector<int64_t>{1, 2, 1001, 1002}));
  EXPECT_EQ(frames.stage_cpu_ns, (std::vector<int64_t>{3, 4, 5, 1003, 1004, 1005}));
  EXPECT_EQ(frames.stages[2].tid, Tid{72});
}

TEST(FrameLogTest, AChainMayWaitForAFrameWhileOneIsOnItsWay) {
  FrameLog log = FrameLog::Create(3, 1).value();
  log.EnterFrames(2);
  ASSERT_TRUE(log.Append(kRecord, {}, std::array{int64_t{1}}));
  EXPECT_TRUE(log.has_unfinished_frame());
  log.EnterFrames(1);
  EXPECT_FALSE(log.has_unfinished_frame());
}

TEST(FrameLogTest, CannotBeMappedFromNothing) { EXPECT_FALSE(FrameLog::Map(UniqueFd()).ok()); }

}  // namespace
}  // namespace whylate
