#include "analysis/import/sched_payload.h"

#include "gtest/gtest.h"

namespace whylate {
namespace {

TEST(ParseSwitch, ReadsTheKernelsForm) {
  const auto fields = ParseSwitch(
      "prev_comm=rs:main Q:Reg prev_pid=945 prev_prio=120 prev_state=R+ ==> next_comm=a=b "
      "next_pid=7 next_prio=-1");
  ASSERT_TRUE(fields.has_value());
  EXPECT_EQ(fields->prev.name, "rs:main Q:Reg");
  EXPECT_EQ(fields->prev.tid, Tid{945});
  EXPECT_EQ(fields->prev.priority, 120);
  EXPECT_EQ(fields->prev_state, "R+");
  EXPECT_EQ(fields->next.name, "a=b");
  EXPECT_EQ(fields->next.tid, Tid{7});
  EXPECT_EQ(fields->next.priority, -1);
}

TEST(ParseSwitch, ANameMayHoldKeys) {
  const auto fields = ParseSwitch(
      "prev_comm= prev_pid=1 x prev_pid=2 prev_prio=3 prev_state=S ==> next_comm= next_pid=4 "
      "next_pid=5 next_prio=6");
  ASSERT_TRUE(fields.has_value());
  EXPECT_EQ(fields->prev.name, " prev_pid=1 x");
  EXPECT_EQ(fields->prev.tid, Tid{2});
  EXPECT_EQ(fields->next.name, " next_pid=4");
  EXPECT_EQ(fields->next.tid, Tid{5});
}

TEST(ParseSwitch, ReadsNumbersWithoutAnArrowAndBothStatesOfOne) {
  EXPECT_EQ(ParseSwitch("prev_comm=a prev_pid=1 prev_prio=2 prev_state=4096 next_comm=b "
                        "next_pid=3 next_prio=4")
                ->prev_state,
            "4096");
  EXPECT_EQ(ParseSwitch("prev_comm=a prev_pid=1 prev_prio=2 prev_state=R 0x0 ==> next_comm=b "
                        "next_pid=3 next_prio=4")
                ->next.tid,
            Tid{3});
}

TEST(ParseSwitch, ReadsTheShortForm) {
  const auto fields = ParseSwitch("kworker/0:1:42 [120] R ==> swapper/0:0 [120]");
  ASSERT_TRUE(fields.has_value());
  EXPECT_EQ(fields->prev.name, "kworker/0:1");
  EXPECT_EQ(fields->prev.tid, Tid{42});
  EXPECT_EQ(fields->prev_state, "R");
  EXPECT_EQ(fields->next.tid, Tid{0});
}

TEST(ParseSwitch, WhatIsCutIsNoSwitch) {
  const std::string whole =
      "prev_comm=a prev_pid=1 prev_prio=2 prev_state=S ==> next_comm=b next_pid=3 next_prio=4";
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ParseSwitch(absl::string_view(whole).substr(0, size)).has_value()) << size;
  }
}

TEST(ParseWake, ReadsAllForms) {
  const auto fields = ParseWake("comm=big task pid=535 prio=89 target_cpu=007");
  ASSERT_TRUE(fields.has_value());
  EXPECT_EQ(fields->wakee.name, "big task");
  EXPECT_EQ(fields->target, CpuId{7});
  EXPECT_TRUE(fields->success);
  EXPECT_FALSE(ParseWake("comm=a pid=1 prio=2 success=0 target_cpu=1")->success);
  EXPECT_EQ(ParseWake("a:1 [120] success=1 CPU:003")->target, CpuId{3});
  EXPECT_FALSE(ParseWake("a:1 [120]")->target.has_value());
  EXPECT_FALSE(ParseWake("comm=a").has_value());
}

TEST(ParseMigrateForkExitRename, ReadTheirFields) {
  const auto migrate = ParseMigrate("comm=a pid=1 prio=120 orig_cpu=2 dest_cpu=3");
  ASSERT_TRUE(migrate.has_value());
  EXPECT_EQ(migrate->from, CpuId{2});
  EXPECT_EQ(migrate->to, CpuId{3});
  const auto fork = ParseFork("comm=a b pid=1 child_comm=c d child_pid=2");
  ASSERT_TRUE(fork.has_value());
  EXPECT_EQ(fork->parent.name, "a b");
  EXPECT_EQ(fork->child.name, "c d");
  EXPECT_EQ(fork->child.tid, Tid{2});
  EXPECT_EQ(ParseExit("comm=a pid=1 prio=120")->tid, Tid{1});
  EXPECT_EQ(ParseRename("pid=1 oldcomm=a newcomm=b c oom_score_adj=0")->name, "b c");
}

TEST(ParseIrq, ReadsHandlersAndVectors) {
  EXPECT_EQ(ParseIrq("irq=3 name=arch timer")->name, "arch timer");
  EXPECT_EQ(ParseIrq("irq=3 name=x")->number, 3);
  EXPECT_EQ(ParseIrq("vec=1 [action=TIMER]")->name, "TIMER");
  EXPECT_EQ(ParseIrq("vec=1")->name, "");
  EXPECT_FALSE(ParseIrq("irq=").has_value());
}

}  // namespace
}  // namespace whylate
