// Where activations begin and end. Times are milliseconds; W is the task looked at.
#include "analysis/attribution/activation_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/trace_builder.h"

namespace whylate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kMs = 1'000'000;
constexpr int32_t kW = 1;
constexpr int32_t kA = 10;

std::string Text(const std::optional<int64_t>& time_ns) {
  return time_ns ? absl::StrCat(*time_ns / kMs) : "?";
}

// "1-6 woken 1 ran 3 wait 2 done".
std::vector<std::string> Activations(const Recording& recording) {
  const Timeline timeline(recording);
  std::vector<std::string> texts;
  const TaskIndex task = timeline.TaskAt(Tid{kW}, timeline.bounds().end_ns);
  for (const ActivationSpan& span : FindActivations(timeline, task)) {
    texts.push_back(absl::StrCat(span.start_ns / kMs, "-", span.end_ns / kMs, " woken ",
                                 Text(span.waking_ns), " ran ", Text(span.running_ns), " wait ",
                                 span.wait_ns / kMs, span.finished ? " done" : " unfinished"));
  }
  return texts;
}

TraceBuilder Drawn(int32_t cpus = 1) {
  TraceBuilder builder(cpus, kMs);
  builder.Name(kW, "W").Name(kA, "A");
  return builder;
}

// CPU 0  A ..... |3 W |5 A ... |8 W |9 A |12 W |13 A
// W      zz|1 wait|run |wait    |run|zzz |11    |
TEST(ActivationSpansTest, FromTheFirstWakingToTheNextSleep) {
  EXPECT_THAT(Activations(Drawn()
                              .CpuSeed(0, 0, kA)
                              .Waking(1, 0, kW)
                              .Waking(2, 0, kW)
                              .Wakeup(2, 0, kW)
                              .Preempt(3, 0, kA, kW)
                              .Preempt(5, 0, kW, kA)
                              .Preempt(8, 0, kA, kW)
                              .Block(9, 0, kW, kA)
                              .Wake(11, 0, kW)
                              .Preempt(12, 0, kA, kW)
                              .Block(13, 0, kW, kA)
                              .End(20)
                              .Build()),
              ElementsAre("1-9 woken 1 ran 3 wait 5 done", "11-13 woken 11 ran 12 wait 1 done"));
}

// By a clock of microseconds that is no rare thing.
TEST(ActivationSpansTest, WokenAndRunAtTheSameTime) {
  EXPECT_THAT(Activations(Drawn()
                              .CpuSeed(0, 0, kA)
                              .Wake(3, 0, kW)
                              .Preempt(3, 0, kA, kW)
                              .Block(5, 0, kW, kA)
                              .Wakeup(7, 0, kW)
                              .Preempt(7, 0, kA, kW)
                              .Block(8, 0, kW, kA)
                              .End(20)
                              .Build()),
              ElementsAre("3-5 woken 3 ran 3 wait 0 done", "7-8 woken 7 ran 7 wait 0 done"));
}

TEST(ActivationSpansTest, FromTheWakeupWhereNoWakingIsRecorded) {
  EXPECT_THAT(Activations(Drawn()
                              .CpuSeed(0, 0, kA)
                              .Wakeup(2, 0, kW)
                              .Preempt(3, 0, kA, kW)
                              .Block(9, 0, kW, kA)
                              .End(20)
                              .Build()),
              ElementsAre("2-9 woken 2 ran 3 wait 1 done"));
}

// How long it slept and how long it waited after that is not known: no wait.
TEST(ActivationSpansTest, FromTheSwitchInWhereNeitherIsRecorded) {
  EXPECT_THAT(Activations(Drawn()
                              .Block(2, 0, kW, kA)
                              .Preempt(5, 0, kA, kW)
                              .Preempt(6, 0, kW, kA)
                              .Preempt(7, 0, kA, kW)
                              .Block(8, 0, kW, kA)
                              .End(20)
                              .Build()),
              ElementsAre("0-2 woken ? ran ? wait 0 done", "5-8 woken ? ran 5 wait 1 done"));
}

TEST(ActivationSpansTest, PreemptedByTheFirstRecord) {
  EXPECT_THAT(
      Activations(Drawn().Preempt(0, 0, kW, kA).Preempt(3, 0, kA, kW).Block(4, 0, kW, kA).Build()),
      ElementsAre("0-4 woken ? ran 3 wait 3 done"));
}

TEST(ActivationSpansTest, UnfinishedAtTheEndOfTheRecording) {
  EXPECT_THAT(Activations(Drawn().CpuSeed(0, 0, kA).Wake(2, 0, kW).End(20).Build()),
              ElementsAre("2-20 woken 2 ran ? wait 18 unfinished"));
}

TEST(ActivationSpansTest, ASwitchInAsTheLastRecordCounts) {
  EXPECT_THAT(Activations(Drawn().CpuSeed(0, 0, kA).Wake(2, 0, kW).Preempt(5, 0, kA, kW).Build()),
              ElementsAre("2-5 woken 2 ran 5 wait 3 unfinished"));
}

// CPU 0  W ......... |4 idle
// W      run  2 waking|  wakeup 6
TEST(ActivationSpansTest, AWakingThatOvertakesTheSleepBeginsTheNextOne) {
  EXPECT_THAT(Activations(Drawn()
                              .CpuSeed(0, 0, kW)
                              .Waking(2, 0, kW, kA)
                              .Preempt(4, 0, kW, 0)
                              .Wakeup(6, 0, kW)
                              .Preempt(7, 0, 0, kW)
                              .Block(9, 0, kW, 0)
                              .Build()),
              ElementsAre("0-4 woken ? ran ? wait 0 done", "2-9 woken 2 ran 7 wait 3 done"));
}

TEST(ActivationSpansTest, ExitEndsTheLastOne) {
  EXPECT_THAT(Activations(Drawn()
                              .CpuSeed(0, 0, kA)
                              .Wake(2, 0, kW)
                              .Preempt(3, 0, kA, kW)
                              .Exit(4, 0, kW, kA)
                              .End(9)
                              .Build()),
              ElementsAre("2-4 woken 2 ran 3 wait 1 done"));
}

// It may have slept while records were lost.
TEST(ActivationSpansTest, ALossEndsItUnfinished) {
  EXPECT_THAT(Activations(Drawn()
                              .CpuSeed(0, 0, kA)
                              .Wake(1, 0, kW)
                              .Preempt(3, 0, kA, kW)
                              .Loss(0, 4, 7)
                              .Preempt(8, 0, kA, kW)
                              .Block(9, 0, kW, kA)
                              .Build()),
              ElementsAre("1-4 woken 1 ran 3 wait 2 unfinished", "8-9 woken ? ran 8 wait 0 done"));
}

TEST(ActivationSpansTest, OneThatSleepsThroughoutHasNone) {
  EXPECT_THAT(Activations(Drawn().CpuSeed(0, 0, kA).TaskSeed(0, 0, kW, false, 0).End(5).Build()),
              IsEmpty());
}

}  // namespace
}  // namespace whylate
