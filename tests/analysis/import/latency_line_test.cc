#include "analysis/import/latency_line.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace whylate {
namespace {

TEST(LatencyLine, SplitsItsColumns) {
  const auto line = SplitLatencyLine("  my-disk-9         12d..h511 1953us+: __schedule ");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->comm, "my-disk");
  EXPECT_EQ(line->tid, Tid{9});
  EXPECT_EQ(line->cpu, CpuId{12});
  EXPECT_EQ(line->flags, "d..h511");
  EXPECT_EQ(line->time_ns, 1'953'000);
  EXPECT_EQ(line->what, "__schedule");
}

TEST(LatencyLine, OtherLinesAreNone) {
  for (const char* text : {"", "-", "a-1", "a-1 1d... us: f", "a-1 [000] d... 1.5: sched_switch: x",
                           "a-1 1d... 12us no colon", "a-1 1d... 99999999999us: f",
                           "a-1 9999d.... 1us: f", "a-1 1d.(.. 1us: f"}) {
    EXPECT_FALSE(SplitLatencyLine(text).has_value()) << text;
  }
}

TEST(LatencyEvent, IsAWakeUpOrASwitch) {
  const auto wakeup = ParseLatencyEvent("      9:120:S   + [003]       7:  0:R my radio");
  ASSERT_TRUE(wakeup.has_value());
  EXPECT_FALSE(wakeup->is_switch);
  EXPECT_EQ(wakeup->current.tid, Tid{9});
  EXPECT_EQ(wakeup->current.priority, 120);
  EXPECT_EQ(wakeup->cpu, CpuId{3});
  EXPECT_EQ(wakeup->task.tid, Tid{7});
  EXPECT_EQ(wakeup->task.priority, 0);
  EXPECT_EQ(wakeup->task.name, "my radio");
  const auto switched = ParseLatencyEvent("9:120:R ==> [001] 7:0:R");
  ASSERT_TRUE(switched.has_value());
  EXPECT_TRUE(switched->is_switch);
  EXPECT_EQ(switched->state, "R");
  EXPECT_EQ(switched->task.name, "");
  EXPECT_FALSE(ParseLatencyEvent("9:120:R => [001] 7:0:R").has_value());
  EXPECT_FALSE(ParseLatencyEvent("__schedule").has_value());
}

TEST(LatencyLine, FunctionsHaveNoOffsets) {
  EXPECT_EQ(FunctionInWords("f+0x0/0x390 <-g+0x110/0x3e0  <== hm"), "f <- g");
  EXPECT_EQ(FunctionInWords("__f"), "__f");
  EXPECT_EQ(FunctionInWords("0"), "");
  EXPECT_EQ(FunctionInWords("<stack trace>"), "");
}

}  // namespace
}  // namespace whylate
