// When a verdict stays complete though records are missing. Times are milliseconds.
#include "analysis/attribution/uncertainty.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analysis/attribution/explain.h"
#include "tests/support/trace_builder.h"
#include "tests/support/trace_text.h"

namespace whylate {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int32_t kW = 1;
constexpr int32_t kA = 10;
constexpr int32_t kB = 11;

// CPU 0  burn ......... |20 W ......... |26     due at 10, demand 6; CPU 1: A
TraceBuilder Late() {
  TraceBuilder builder(2, kMs);
  builder.Watch(kW)
      .Name(kW, "W")
      .Name(kA, "A")
      .Load(kB, "burn")
      .CpuSeed(0, 0, kB)
      .CpuSeed(0, 1, kA);
  builder.Wake(1, 0, kW).Preempt(20, 0, kB, kW).Late(1, 11, 26, 6).Allowed({0});
  builder.Waking(2, 0, 50, kB).Waking(3, 0, 50, kB).Waking(8, 0, 51, kB);
  return builder;
}

Verdict VerdictOf(const TraceBuilder& builder) {
  return *Explain(builder.Build()).misses.at(0).verdict;
}

TEST(UncertaintyTest, NothingMissing) {
  EXPECT_EQ(VerdictText(VerdictOf(Late()), kMs),
            "burn runqueue_wait no_preempt sufficient margin 4 complete");
}

// One of 19 ms is not enough to name another, where the kernel notes that W was queued all along.
TEST(UncertaintyTest, AShortLossInAWait) {
  TraceBuilder builder = Late();
  for (SchedEvent& event : builder.recording().events) {
    auto* switched = std::get_if<SwitchEvent>(&event.body);
    if (switched != nullptr && switched->next == Tid{kW}) switched->next_queued_ns = 1 * kMs;
  }
  const Explanation explanation = Explain(builder.Loss(0, 2, 3).Build());
  EXPECT_EQ(SegmentText(explanation.misses[0].segments[0], kMs),
            "runqueue_wait 1-20 cpu0 no_preempt [burn 1-2 no_preempt] [unknown 2-3 undetermined] "
            "[burn 3-20 no_preempt]");
  EXPECT_EQ(VerdictText(*explanation.misses[0].verdict, kMs),
            "burn runqueue_wait no_preempt sufficient margin 3 complete");
}

// Without that note W may have run in the gap, and been queued again in another way.
TEST(UncertaintyTest, AShortLossInAWaitThatMayBeTwo) {
  const Explanation explanation = Explain(Late().Loss(0, 2, 3).Build());
  EXPECT_EQ(SegmentText(explanation.misses[0].segments[2], kMs), "unknown 3-20 cpu0 (events lost)");
  EXPECT_EQ(explanation.misses[0].verdict->confidence, Confidence::kIncomplete);
}

// On a CPU that W may not use, and was not woken from, nothing can hide.
TEST(UncertaintyTest, ALossOnACpuThatDoesNotMatter) {
  EXPECT_EQ(VerdictOf(Late().Loss(1, 2, 20)).confidence, Confidence::kComplete);
}

// W may use it: it could have run there. 18 of 19 may be somebody else's.
TEST(UncertaintyTest, ALossOnACpuThatMatters) {
  EXPECT_EQ(VerdictOf(Late().Allowed({0, 1}).Loss(1, 2, 20)).confidence, Confidence::kIncomplete);
}

// While W was seen to run, nothing else can have happened to it.
TEST(UncertaintyTest, ALossElsewhereWhileItRuns) {
  EXPECT_EQ(VerdictOf(Late().Allowed({0, 1}).Loss(1, 21, 26)).confidence, Confidence::kComplete);
}

TEST(UncertaintyTest, ALossBeforeAndAfterTheWindow) {
  EXPECT_EQ(VerdictOf(Late().Loss(1, 0, 1)).confidence, Confidence::kComplete);
  EXPECT_EQ(VerdictOf(Late().Loss(0, 26, 27).End(30)).confidence, Confidence::kComplete);
}

// burn -> hidden -> A -> W on CPU 0: A's arrival at 19 is believed within 1 ms.
TraceBuilder Broken(int64_t arrival) {
  TraceBuilder builder(1, kMs);
  builder.Watch(kW).Name(kW, "W").Name(kA, "A").Load(kB, "burn").CpuSeed(0, 0, kB).Allowed({0});
  builder.Wake(1, 0, kW)
      .Waking(18, 0, 50, kB)
      .Preempt(20, 0, kA, kW)
      .With<SwitchEvent>([&](SwitchEvent& e) { e.prev_arrival_ns = arrival * kMs; })
      .Late(1, 11, 26, 6);
  return builder;
}

TEST(UncertaintyTest, ARepairIsReportedAndSurvived) {
  const Explanation explanation = Explain(Broken(19).Build());
  EXPECT_EQ(SegmentText(explanation.misses[0].segments[0], kMs),
            "runqueue_wait 1-20 cpu0 no_preempt [burn 1-19 no_preempt] [A 19-20 no_preempt]");
  const Verdict& verdict = *explanation.misses[0].verdict;
  EXPECT_EQ(verdict.subject, "burn");
  EXPECT_EQ(verdict.confidence, Confidence::kComplete);
  EXPECT_EQ(verdict.repaired_ns, 2 * kMs);  // from burn's last record to the bound
  EXPECT_EQ(explanation.trace->breaks, 1u);
  EXPECT_EQ(explanation.trace->repaired_ns, 2 * kMs);
}

// The same break with burn's last record at 1: 18 ms rest on the repair.
TEST(UncertaintyTest, ALongRepairIsIncomplete) {
  TraceBuilder builder = Broken(19);
  std::erase_if(builder.recording().events, [](const SchedEvent& event) {
    const auto* waking = std::get_if<WakingEvent>(&event.body);
    return waking != nullptr && waking->wakee == Tid{50};
  });
  const Verdict verdict = VerdictOf(builder);
  EXPECT_EQ(verdict.subject, "burn");
  EXPECT_EQ(verdict.confidence, Confidence::kIncomplete);
}

// W waits behind burn to 20; its waking is hidden and the kernel says it was queued at 1.
TEST(UncertaintyTest, ARepairedWakeupOfTheThreadItself) {
  TraceBuilder builder(1, kMs);
  builder.Watch(kW).Name(kW, "W").Load(kB, "burn").CpuSeed(0, 0, kW).Allowed({0});
  builder.Block(0, 0, kW, kB)
      .Preempt(20, 0, kB, kW)
      .With<SwitchEvent>([](SwitchEvent& e) { e.next_queued_ns = 2 * kMs; })
      .Late(1, 11, 26, 6);
  const Explanation explanation = Explain(builder.Build());
  EXPECT_EQ(SegmentText(explanation.misses[0].segments[0], kMs), "late_release 1-2 cpu0");
  EXPECT_TRUE(explanation.misses[0].segments[1].repaired);
  const Verdict& verdict = *explanation.misses[0].verdict;
  EXPECT_EQ(verdict.subject, "burn");
  EXPECT_EQ(verdict.repaired_ns, 2 * kMs);
}

}  // namespace
}  // namespace whylate
