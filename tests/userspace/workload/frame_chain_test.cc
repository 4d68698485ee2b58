#include "userspace/workload/frame_chain.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "analysis/stats/frame_accounting.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "userspace/platform/scheduling.h"

namespace whylate {
namespace {

constexpr int64_t kMs = 1000000;
// So little work that no machine takes a period for it.
constexpr int64_t kLoopsPerMs = 1000;

std::string NameOf(Tid tid) {
  std::ifstream file(absl::StrCat("/proc/self/task/", tid.value, "/comm"));
  std::string name;
  std::getline(file, name);
  return name;
}

// A cell of 20 ms through three stages.
class FrameChainTest : public testing::Test {
 protected:
  static Workload Chain(int64_t period_ns) {
    Workload workload;
    workload.pacing = Pacing::kSkip;
    workload.period = {period_ns, 1};
    workload.demand_ns = 6 * kMs / 100;
    for (const int64_t parts : {1, 2, 3}) {
      workload.stages.push_back({absl::StrCat("chain-", parts), Tid{}, parts * kMs / 100, {}, {}});
    }
    return workload;
  }

  CellFrames Run(const Workload& workload, int64_t loops_per_ms = kLoopsPerMs) {
    const auto chain = FrameChain::Start(workload, loops_per_ms, log_).value();
    chain->Run(kDurationNs);
    return Copy(workload);
  }

  CellFrames Copy(const Workload& workload) {
    CellFrames cell;
    cell.pacing = workload.pacing;
    cell.period = workload.period;
    cell.origin_ns = log_.origin_ns();
    cell.end_ns = cell.origin_ns + kDurationNs;
    cell.stages = workload.stages;
    log_.CopyFrames(cell);
    return cell;
  }

  static constexpr int64_t kDurationNs = 20 * kMs;
  FrameLog log_ = FrameLog::Create(100000, 3).value();
};

TEST_F(FrameChainTest, EveryReleaseIsAccountedFor) {
  const CellFrames cell = Run(Chain(kMs));
  const absl::StatusOr<FrameCounts> counts = CountFrames(cell);
  ASSERT_THAT(counts, IsOk());
  EXPECT_EQ(counts->due, 20);
  EXPECT_EQ(counts->censored, 0);
  EXPECT_FALSE(cell.has_unfinished);
}

TEST_F(FrameChainTest, FramesGoThroughTheStagesInOrder) {
  const CellFrames cell = Run(Chain(kMs));
  ASSERT_TRUE(cell.HasWholeStages());
  ASSERT_FALSE(cell.frames.empty());
  for (size_t i = 0; i < cell.frames.size(); ++i) {
    EXPECT_TRUE(cell.PassesInOrder(i)) << "frame " << cell.frames[i].index;
    EXPECT_GE(cell.frames[i].start_ns, cell.frames[i].release_ns);
    EXPECT_EQ(cell.frames[i].demand_ns, 6 * kMs / 100);
    for (const int64_t cpu_ns : cell.StageCpuNs(i)) EXPECT_GT(cpu_ns, 0);
  }
}

// A frame takes about as long as some periods, so that releases pass in every phase of it: while it
// is on its way, and between its completion and the first stage's look at it.
TEST_F(FrameChainTest, AnOverloadedChainSkipsReleasesAndIsConserved) {
  for (const int64_t period_ns : {kMs / 100, kMs / 20, kMs / 5}) {
    log_ = FrameLog::Create(100000, 3).value();
    const CellFrames cell = Run(Chain(period_ns), 1000000);
    const absl::StatusOr<FrameCounts> counts = CountFrames(cell);
    ASSERT_THAT(counts, IsOk());
    EXPECT_EQ(counts->due, kDurationNs / period_ns);
    EXPECT_EQ(counts->censored, 0);
    EXPECT_FALSE(cell.has_unfinished);
    if (period_ns == kMs / 100) {
      EXPECT_GT(counts->dropped, 0);
    }
  }
}

TEST_F(FrameChainTest, FramesDoNotOverlap) {
  const CellFrames cell = Run(Chain(kMs / 100), 1000000);
  for (size_t i = 1; i < cell.frames.size(); ++i) {
    EXPECT_GE(cell.frames[i].release_ns, cell.frames[i - 1].completion_ns);
  }
}

TEST_F(FrameChainTest, TheThreadsAreNamedAndScheduledAsTheCaller) {
  std::thread caller([&] {
    const CpuSet all = GetAffinity(Tid{0}).value();
    CpuSet one;
    one.Add(all.ToVector().back());
    ASSERT_THAT(SetAffinity(one), IsOk());
    ASSERT_THAT(SetNice(7), IsOk());
    const auto chain = FrameChain::Start(Chain(kMs), kLoopsPerMs, log_).value();
    EXPECT_EQ(log_.stage_tid(0), Tid{gettid()});
    for (const size_t stage : {size_t{1}, size_t{2}}) {
      const Tid tid = log_.stage_tid(stage);
      EXPECT_EQ(NameOf(tid), absl::StrCat("chain-", stage + 1));
      EXPECT_EQ(GetAffinity(tid).value(), one);
      EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(tid.value)), 7);
    }
    EXPECT_NE(log_.stage_tid(1), log_.stage_tid(2));
  });
  caller.join();
}

TEST_F(FrameChainTest, AFullLogEndsTheCell) {
  log_ = FrameLog::Create(3, 3).value();
  const CellFrames cell = Run(Chain(kMs));
  EXPECT_EQ(cell.frames.size(), 3u);
  EXPECT_TRUE(log_.full());
  EXPECT_TRUE(log_.has_unfinished_frame());
}

TEST_F(FrameChainTest, WhatIsSharedCanBeLocked) {
  const auto chain = FrameChain::Start(Chain(kMs), kLoopsPerMs, log_).value();
  EXPECT_THAT(chain->Lock(), IsOk());
}

}  // namespace
}  // namespace whylate
