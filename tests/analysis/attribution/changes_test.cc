// What was changed of W while its cell ran, [10, 50) of a recording that ends at 60.
#include "analysis/attribution/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/trace_builder.h"

namespace whylate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int32_t kW = 1;
constexpr int32_t kDaemon = 9;
constexpr TaskStanding kFifo{SchedClass::kRealTime, 50, std::nullopt};
constexpr TaskStanding kOther{SchedClass::kFair, std::nullopt, 0};

TraceBuilder Drawn() {
  TraceBuilder builder(1);
  builder.Watch(kW).Name(kW, "W").Name(kDaemon, "rtkit-daemon").Allowed({0});
  builder.Pace(Pacing::kSkip, 10, 50);
  builder.recording().frames.origin_ns = 10;
  return builder.End(60);
}

std::vector<std::string> Changes(const TraceBuilder& builder) {
  const Recording recording = builder.Build();
  const Timeline timeline(recording);
  const Cast cast(timeline);
  std::vector<std::string> texts;
  for (const Change& c : FindChanges(timeline, cast)) {
    texts.push_back(
        absl::StrCat(c.time_ns, " ", c.task, " ", c.what, " ", c.from, "->", c.to, " by ", c.by));
  }
  return texts;
}

TEST(ChangesTest, NothingChanged) {
  EXPECT_THAT(Changes(Drawn().Preempt(20, 0, kW, 2).Preempt(30, 0, 2, kW).Preempt(40, 0, kW, 2)),
              IsEmpty());
}

TEST(ChangesTest, ADaemonDemotesIt) {
  TraceBuilder builder = Drawn();
  builder.Class(kW, SchedClass::kRealTime, 50).Preempt(20, 0, kW, 2);
  builder.Add(25, 0, StandingEvent{Tid{kW}, kOther, Tid{kDaemon}});
  EXPECT_THAT(Changes(builder), ElementsAre("25 W policy real-time 50->nice 0 by rtkit-daemon"));
}

TEST(ChangesTest, WhatNoCallExplainsShowsWithItsNextSwitch) {
  TraceBuilder builder = Drawn();
  builder.Class(kW, SchedClass::kRealTime, 50).Preempt(20, 0, kW, 2);
  builder.Class(kW, SchedClass::kFair).Preempt(30, 0, kW, 2);
  EXPECT_THAT(Changes(builder), ElementsAre("30 W policy real-time 50->nice 0 by "));
}

// Near miss: the owner of a lock that a real-time task waits for.
TEST(ChangesTest, APriorityThatALockLentIsNone) {
  TraceBuilder builder = Drawn();
  builder.Preempt(20, 0, kW, 2);
  builder.Class(kW, SchedClass::kRealTime, 50).Preempt(30, 0, kW, 2);
  builder.Class(kW, SchedClass::kFair).Preempt(40, 0, kW, 2);
  EXPECT_THAT(Changes(builder), IsEmpty());
}

TEST(ChangesTest, Pinned) {
  TraceBuilder builder = Drawn();
  builder.Affinity(30, 0, kW, {1});
  EXPECT_THAT(Changes(builder), ElementsAre("30 W affinity 0->1 by "));
}

TEST(ChangesTest, MovedToAnotherGroup) {
  TraceBuilder builder = Drawn();
  builder.Add(30, 0, CgroupEvent{Tid{kW}, "/background", Tid{kDaemon}});
  EXPECT_THAT(Changes(builder), ElementsAre("30 W cgroup ->/background by rtkit-daemon"));
}

TEST(ChangesTest, BeforeTheCellItIsSetUp) {
  TraceBuilder builder = Drawn();
  builder.Add(5, 0, StandingEvent{Tid{kW}, kFifo, Tid{kDaemon}});
  builder.Affinity(6, 0, kW, {1});
  builder.Add(55, 0, StandingEvent{Tid{kW}, kOther, Tid{kDaemon}});
  EXPECT_THAT(Changes(builder), IsEmpty());
}

TEST(ChangesTest, OthersAreNotWatched) {
  TraceBuilder builder = Drawn();
  builder.Add(30, 0, StandingEvent{Tid{2}, kFifo, Tid{kDaemon}});
  EXPECT_THAT(Changes(builder), IsEmpty());
}

}  // namespace
}  // namespace whylate
