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

TEST(StandingOfTaskTest, AStopperIsAboveFifo99) {
  const TaskStanding stop{SchedClass::kStop, std::nullopt, std::nullopt};
  EXPECT_EQ(StandingOfTask(Tid{13}, "migration/0", 0), stop);
  EXPECT_EQ(StandingOfTask(Tid{13}, "migration/127", 0), stop);
}

TEST(StandingOfTaskTest, AnyOtherIsAsItsPrioritySays) {
  const TaskStanding fifo{SchedClass::kRealTime, 99, std::nullopt};
  for (const char* name : {"watchdog/0", "", "migration/", "migration/0x", "migration", "/0"}) {
    EXPECT_EQ(StandingOfTask(Tid{13}, name, 0), fifo) << name;
  }
  EXPECT_EQ(StandingOfTask(Tid{13}, "migration/0", 49), StandingOfPriority(Tid{13}, 49));
  EXPECT_EQ(StandingOfTask(Tid{13}, "migration/0", 120), StandingOfPriority(Tid{13}, 120));
  EXPECT_EQ(StandingOfTask(Tid{13}, "migration/0", std::nullopt), TaskStanding());
  EXPECT_EQ(StandingOfTask(Tid{0}, "migration/0", 0).sched_class, SchedClass::kIdle);
}

}  // namespace
}  // namespace whylate
