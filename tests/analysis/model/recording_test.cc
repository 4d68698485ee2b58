#include "analysis/model/recording.h"

#include <cstdint>
#include <functional>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/trace_builder.h"

namespace whylate {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// A chain's late frame: released at 0, passed on at 4 and 9, completed at 12.
Recording Chain() {
  TraceBuilder builder(1);
  return builder.Stage(1, "in")
      .Stage(2, "app")
      .Stage(3, "comp")
      .Late(0, 10, 12, 6)
      .Passed({4, 9})
      .Build();
}

bool IsUsableWith(const std::function<void(CellFrames&)>& change) {
  Recording recording = Chain();
  change(recording.frames);
  return HasUsableTimes(recording);
}

TEST(HasUsableTimesTest, AChainIsUsable) { EXPECT_TRUE(HasUsableTimes(Chain())); }

TEST(HasUsableTimesTest, FramesThatDidNotPassTheirStagesInOrderAreNot) {
  for (const int64_t passed : {int64_t{-1}, int64_t{10}, kMost}) {
    EXPECT_FALSE(IsUsableWith([&](CellFrames& cell) { cell.passed_ns[0] = passed; })) << passed;
  }
  EXPECT_FALSE(IsUsableWith([](CellFrames& cell) { cell.passed_ns[1] = 13; }));
  EXPECT_FALSE(IsUsableWith([](CellFrames& cell) { cell.stage_cpu_ns[2] = 1; }));
}

TEST(HasUsableTimesTest, ColumnsThatAreNotWholeAreNot) {
  EXPECT_FALSE(IsUsableWith([](CellFrames& cell) { cell.passed_ns.pop_back(); }));
  EXPECT_FALSE(IsUsableWith([](CellFrames& cell) { cell.stage_cpu_ns.push_back(0); }));
  EXPECT_FALSE(IsUsableWith([](CellFrames& cell) { cell.stages.pop_back(); }));
  EXPECT_FALSE(IsUsableWith([](CellFrames& cell) { cell.stages.clear(); }));
}

TEST(HasUsableTimesTest, StagesThatCannotBeAreNot) {
  EXPECT_FALSE(IsUsableWith([](CellFrames& cell) { cell.stages[1].demand_ns = -1; }));
  EXPECT_FALSE(IsUsableWith([](CellFrames& cell) { cell.stages[0].tid = Tid{2}; }));
  EXPECT_FALSE(IsUsableWith([](CellFrames& cell) {
    cell.stages.resize(kMostStages + 1, cell.stages[1]);
    cell.passed_ns.assign(kMostStages, 5);
    cell.stage_cpu_ns.assign(kMostStages + 1, 0);
    cell.frames[0].cpu_ns = 0;
  }));
  EXPECT_TRUE(IsUsableWith([](CellFrames& cell) {
    cell.stages.resize(kMostStages, cell.stages[1]);
    cell.passed_ns.assign(kMostStages - 1, 5);
    cell.stage_cpu_ns.assign(kMostStages, 0);
    cell.frames[0].cpu_ns = 0;
  }));
}

TEST(WatchedThreadsTest, AreTheStagesEachOnce) {
  Recording recording = Chain();
  EXPECT_THAT(recording.WatchedThreads(), testing::ElementsAre(Tid{1}, Tid{2}, Tid{3}));
  recording.frames.stages[2].tid = Tid{1};
  EXPECT_THAT(recording.WatchedThreads(), testing::ElementsAre(Tid{1}, Tid{2}));
  recording.frames.stages.clear();
  EXPECT_THAT(recording.WatchedThreads(), testing::ElementsAre(Tid{1}));
}

}  // namespace
}  // namespace whylate
