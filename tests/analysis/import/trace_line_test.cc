#include "analysis/import/trace_line.h"

#include "gtest/gtest.h"

namespace whylate {
namespace {

TEST(SplitFtraceLine, TakesTheColumnsApart) {
  const auto line = SplitFtraceLine(
      "   worker-7-33    (   12) [003] d.h2    10.000250: sched_waking: comm=a pid=5 prio=1");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->comm, "worker-7");
  EXPECT_EQ(line->tid, Tid{33});
  EXPECT_EQ(line->tgid, Tgid{12});
  EXPECT_EQ(line->cpu, CpuId{3});
  EXPECT_EQ(line->flags, "d.h2");
  EXPECT_EQ(line->time.time_ns, 10'000'250'000);
  EXPECT_EQ(line->event, "sched_waking");
  EXPECT_EQ(line->payload, "comm=a pid=5 prio=1");
}

TEST(SplitFtraceLine, FlagsTgidAndQuotationMayBeThereOrNot) {
  const auto plain = SplitFtraceLine("a b-5  [001]    10.5: x: y");
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->comm, "a b");
  EXPECT_EQ(plain->flags, "");
  EXPECT_FALSE(plain->tgid.has_value());
  const auto quoted = SplitFtraceLine("> > | <idle>-0 (-----) [001] dN.h4..  10.5: x: y");
  ASSERT_TRUE(quoted.has_value());
  EXPECT_EQ(quoted->comm, "<idle>");
  EXPECT_EQ(quoted->tid, Tid{0});
  EXPECT_FALSE(quoted->tgid.has_value());
}

TEST(SplitFtraceLine, ANameMayLookLikeTheColumnAfterIt) {
  const auto line = SplitFtraceLine("x [000] 1-1 y-7 [002] .... 3.0: e: p");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->comm, "x [000] 1-1 y");
  EXPECT_EQ(line->cpu, CpuId{2});
}

TEST(SplitFtraceLine, UnknownNamesAreNone) {
  EXPECT_EQ(SplitFtraceLine("<...>-7 [002] 3.0: e: p")->comm, "");
  EXPECT_EQ(SplitFtraceLine("<7>-7 [002] 3.0: e: p")->comm, "");
}

TEST(SplitFtraceLine, AFunctionIsNoEvent) {
  const auto line = SplitFtraceLine("a-1 [001] d... 2.5: schedule+0x1/0x2 <-worker_thread");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->event, "");
}

TEST(SplitFtraceLine, OtherTextIsNoLine) {
  for (const char* text : {"", " => ret_from_fork+0x14/0x28", "# tracer: nop", "cpus=6", "[",
                           "[[[1]", "a-1 [9999] 1.5: e: p", "a-99999999999 [1] 1.5: e: p",
                           "a-1 [001] d... x 1.5: e: p", "CPU:2 [LOST 12 EVENTS]"}) {
    EXPECT_FALSE(SplitFtraceLine(text).has_value()) << text;
  }
}

TEST(SplitPerfLine, TheTidIsBeforeTheCpu) {
  const auto both = SplitPerfLine("a b 10/21 [001] 0.000000120: sched:sched_switch: x");
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->comm, "a b");
  EXPECT_EQ(both->tid, Tid{21});
  EXPECT_EQ(both->tgid, Tgid{10});
  EXPECT_EQ(both->event, "sched_switch");
  const auto one = SplitPerfLine("   swapper     0 [001]  1.5:   1 sched:sched_waking: comm=x");
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->tid, Tid{0});
  EXPECT_EQ(one->event, "sched_waking");
  const auto none = SplitPerfLine("cc1 [001] 1.5: sched:sched_waking: comm=x");
  ASSERT_TRUE(none.has_value());
  EXPECT_FALSE(none->tid.has_value());
  EXPECT_EQ(none->comm, "cc1");
}

}  // namespace
}  // namespace whylate
