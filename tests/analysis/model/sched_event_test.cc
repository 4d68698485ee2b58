#include "analysis/model/sched_event.h"

#include "gtest/gtest.h"

namespace whylate {
namespace {

TEST(StandingOfPriorityTest, FollowsTheKernelsRanges) {
  EXPECT_EQ(StandingOfPriority(Tid{1}, -1).sched_class, SchedClass::kDeadline);
  EXPECT_EQ(StandingOfPriority(Tid{1}, 0).rt_priority, 99);
  EXPECT_EQ(StandingOfPriority(Tid{1}, 98).rt_priority, 1);
  EXPECT_EQ(StandingOfPriority(Tid{1}, 100).nice, -20);
  EXPECT_EQ(StandingOfPriority(Tid{1}, 139).nice, 19);
  EXPECT_EQ(StandingOfPriority(Tid{1}, 140), TaskStanding());
  EXPECT_EQ(StandingOfPriority(Tid{1}, std::nullopt), TaskStanding());
  EXPECT_EQ(StandingOfPriority(Tid{0}, 120).sched_class, SchedClass::kIdle);
}

}  // namespace
}  // namespace whylate
