// The states of task 1. Tiny times, in ns.
#include "analysis/timeline/task_spans.h"

#include <gtest/gtest.h>

#include "tests/support/trace_builder.h"
#include "tests/support/trace_timeline_text.h"

namespace whylate {
namespace {

constexpr int32_t kT = 1;

std::string Spans(const TraceBuilder& builder, int32_t tid = kT) {
  const Recording recording = builder.Build();
  return SpansText(Timeline(recording), tid);
}

TEST(TaskSpansTest, TheWholeRound) {
  EXPECT_EQ(Spans(TraceBuilder(1)
                      .Waking(1, 0, kT)
                      .Wakeup(2, 0, kT)
                      .Preempt(5, 0, 10, kT)
                      .Preempt(7, 0, kT, 10)
                      .Preempt(8, 0, 10, kT)
                      .Block(9, 0, kT, 0)
                      .End(10)),
            "blocked 0-1 | waking 1-2 | queued@0 2-5 | running@0 5-7 | queued@0 7-8 | "
            "running@0 8-9 | blocked 9-10");
}

TEST(TaskSpansTest, WhatItsFirstRecordTells) {
  EXPECT_EQ(Spans(TraceBuilder(1).Preempt(5, 0, kT, 10).End(6)), "running@0 0-5 | queued@0 5-6");
  EXPECT_EQ(Spans(TraceBuilder(1).Preempt(5, 0, 10, kT).End(6)), "queued@0 0-5 | running@0 5-6");
  EXPECT_EQ(Spans(TraceBuilder(1).TaskSeed(2, 0, kT, true, 0).End(6)), "queued@0 0-6");
  EXPECT_EQ(Spans(TraceBuilder(1).TaskSeed(2, 0, kT, false, 0).End(6)), "blocked 0-6");
}

// A waking while it still runs is no change; with the wake-up before the switch-out nothing was.
TEST(TaskSpansTest, AWakeupBeforeTheSwitchOutChangesNothing) {
  EXPECT_EQ(Spans(TraceBuilder(1)
                      .CpuSeed(0, 0, kT)
                      .Waking(2, 0, kT)
                      .Wakeup(3, 0, kT)
                      .Preempt(5, 0, kT, 10)
                      .End(6)),
            "running@0 0-5 | queued@0 5-6");
}

TEST(TaskSpansTest, ASwitchOutBeforeTheWakeupBeginsTheDispatch) {
  EXPECT_EQ(Spans(TraceBuilder(1)
                      .CpuSeed(0, 0, kT)
                      .Waking(2, 0, kT)
                      .Block(3, 0, kT, 0)
                      .Wakeup(5, 0, kT)
                      .End(6)),
            "running@0 0-3 | waking 3-5 | queued@0 5-6");
}

// A source that records wakings alone, and does not know of the runqueue.
TraceBuilder WakingsAlone() {
  TraceBuilder builder(1);
  builder.CpuSeed(0, 0, 10).Waking(1, 0, kT).With<WakingEvent>(
      [](WakingEvent& e) { e.wakee_on_rq.reset(); });
  return builder;
}

TEST(TaskSpansTest, WithoutAnyWakeupItIsQueuedWhereItRuns) {
  EXPECT_EQ(Spans(WakingsAlone().Preempt(5, 0, 10, kT).End(6)),
            "blocked 0-1 | queued@0 1-5* | running@0 5-6");
}

// It may have run in the loss, and slept, and been woken again.
TEST(TaskSpansTest, WithoutAnyWakeupItIsQueuedUntilALoss) {
  EXPECT_EQ(Spans(WakingsAlone().Loss(0, 3, 4).Preempt(5, 0, 10, kT).End(6)),
            "blocked 0-1 | queued@? 1-3* | unknown 3-5 (events lost) | running@0 5-6");
  EXPECT_EQ(Spans(WakingsAlone().Loss(0, 1, 4).Preempt(5, 0, 10, kT).End(6)),
            "blocked 0-1 | unknown 1-5 (events lost) | running@0 5-6");
}

TEST(TaskSpansTest, WithoutAnyWakeupALossBeforeTheWakingChangesNothing) {
  EXPECT_EQ(Spans(TraceBuilder(1)
                      .Loss(0, 2, 4)
                      .Waking(5, 0, kT)
                      .With<WakingEvent>([](WakingEvent& e) { e.wakee_on_rq.reset(); })
                      .Preempt(7, 0, 10, kT)
                      .End(8)),
            "unknown 0-4 (outside the recording) | blocked 4-5 | queued@0 5-7* | running@0 7-8");
}

// The kernel's own note: it was queued all through the loss.
TEST(TaskSpansTest, WithoutAnyWakeupALossThatItWaitedThrough) {
  EXPECT_EQ(Spans(WakingsAlone()
                      .Loss(0, 3, 4)
                      .Preempt(5, 0, 10, kT)
                      .With<SwitchEvent>([](SwitchEvent& e) { e.next_queued_ns = 1; })
                      .End(6)),
            "blocked 0-1 | queued@0 1-5* | running@0 5-6");
}

TEST(TaskSpansTest, WithoutAnyWakeupASecondWakingShowsThatItSlept) {
  EXPECT_EQ(Spans(WakingsAlone()
                      .Preempt(5, 0, 10, kT)
                      .Waking(6, 0, kT)
                      .Block(7, 0, kT, 10)
                      .Waking(20, 0, kT)
                      .Preempt(22, 0, 10, kT)
                      .End(23)),
            "blocked 0-1 | queued@0 1-5* | running@0 5-7 | blocked 7-20 | "
            "queued@0 20-22* | running@0 22-23");
}

TEST(TaskSpansTest, TheFirstOfSeveralWakingsCounts) {
  EXPECT_EQ(Spans(TraceBuilder(1).Waking(1, 0, kT).Waking(2, 0, kT).Wakeup(3, 0, kT).End(4)),
            "blocked 0-1 | waking 1-3 | queued@0 3-4");
}

TEST(TaskSpansTest, AMissingWakingEndsTheSleepAtTheWakeup) {
  EXPECT_EQ(Spans(TraceBuilder(1).CpuSeed(0, 0, kT).Block(1, 0, kT, 0).Wakeup(4, 0, kT).End(6)),
            "running@0 0-1 | blocked 1-4 | queued@0 4-6");
}

// Neither a waking nor a wake-up: the kernel's own note of the queueing.
TEST(TaskSpansTest, AHiddenWakeupIsRepairedByTheQueueing) {
  EXPECT_EQ(Spans(TraceBuilder(1)
                      .CpuSeed(0, 0, kT)
                      .Block(1, 0, kT, 10)
                      .Preempt(8, 0, 10, kT)
                      .With<SwitchEvent>([](SwitchEvent& e) { e.next_queued_ns = 5; })
                      .End(9)),
            "running@0 0-1 | blocked 1-5 | queued@0 5-8* | running@0 8-9");
}

TEST(TaskSpansTest, AHiddenWakeupWithoutItIsUnknown) {
  EXPECT_EQ(
      Spans(TraceBuilder(1).CpuSeed(0, 0, kT).Block(1, 0, kT, 10).Preempt(8, 0, 10, kT).End(9)),
      "running@0 0-1 | unknown 1-8 (hidden task) | running@0 8-9");
}

// The wake-up after a waking is missing.
TEST(TaskSpansTest, AMissingWakeup) {
  EXPECT_EQ(Spans(TraceBuilder(1)
                      .CpuSeed(0, 0, kT)
                      .Block(1, 0, kT, 10)
                      .Waking(3, 0, kT)
                      .Preempt(8, 0, 10, kT)
                      .With<SwitchEvent>([](SwitchEvent& e) { e.next_queued_ns = 5; })
                      .End(9)),
            "running@0 0-1 | blocked 1-3 | waking 3-5 | queued@0 5-8* | running@0 8-9");
}

// Records lost on the other CPU, where its waking may have been: asleep until then for sure.
TEST(TaskSpansTest, AWakingLostOnAnotherCpu) {
  EXPECT_EQ(Spans(TraceBuilder(2)
                      .CpuSeed(0, 0, kT)
                      .Block(1, 0, kT, 10)
                      .Loss(1, 3, 5)
                      .Preempt(8, 0, 10, kT)
                      .End(9)),
            "running@0 0-1 | blocked 1-3 | unknown 3-8 (events lost) | running@0 8-9");
}

TEST(TaskSpansTest, ALossOnItsCpuWhileItRuns) {
  EXPECT_EQ(
      Spans(TraceBuilder(1)
                .Preempt(1, 0, 10, kT)
                .Loss(0, 3, 5)
                .Waking(5, 0, 20, kT)
                .Block(8, 0, kT, 10)
                .End(9)),
      "queued@0 0-1 | running@0 1-3 | unknown 3-5 (events lost) | running@0 5-8 | blocked 8-9");
}

TEST(TaskSpansTest, ALossOnItsCpuWhileItWaits) {
  EXPECT_EQ(
      Spans(TraceBuilder(1)
                .CpuSeed(0, 0, 10)
                .Waking(1, 0, kT)
                .Wakeup(1, 0, kT)
                .Loss(0, 3, 5)
                .Waking(5, 0, 20, 11)
                .Preempt(8, 0, 11, kT)
                .End(9)),
      "blocked 0-1 | queued@0 1-3 | unknown 3-5 (events lost) | queued@0 5-8 | running@0 8-9");
}

// Woken after the loss: it must have slept by its end.
TEST(TaskSpansTest, ALossAndThenAWaking) {
  EXPECT_EQ(Spans(TraceBuilder(1)
                      .CpuSeed(0, 0, kT)
                      .Waking(2, 0, 20, kT)
                      .Loss(0, 2, 5)
                      .Waking(7, 0, kT)
                      .Wakeup(8, 0, kT)
                      .End(9)),
            "running@0 0-2 | unknown 2-5 (events lost) | blocked 5-7 | waking 7-8 | queued@0 8-9");
}

TEST(TaskSpansTest, AMigrationGoesOnTheWait) {
  EXPECT_EQ(Spans(TraceBuilder(2)
                      .CpuSeed(0, 0, kT)
                      .Preempt(1, 0, kT, 10)
                      .Migrate(4, kT, 0, 1)
                      .Preempt(6, 1, 11, kT)
                      .End(7)),
            "running@0 0-1 | queued@0 1-4 | ...queued@1 4-6 | running@1 6-7");
}

// It comes onto another CPU than it was queued on, and no record says when it was moved.
TEST(TaskSpansTest, AMissingMigration) {
  EXPECT_EQ(
      Spans(TraceBuilder(2).CpuSeed(0, 0, kT).Preempt(1, 0, kT, 10).Preempt(6, 1, 11, kT).End(7)),
      "running@0 0-1 | queued@? 1-6 | running@1 6-7");
  EXPECT_EQ(Spans(TraceBuilder(2)
                      .CpuSeed(0, 0, kT)
                      .Preempt(1, 0, kT, 10)
                      .Loss(1, 3, 4)
                      .Preempt(6, 1, 11, kT)
                      .End(7)),
            "running@0 0-1 | queued@0 1-3 | ...queued@? 3-6 | running@1 6-7");
}

// Queued on CPU 0, and then found asleep: it was pulled, ran and slept where records are lost.
TEST(TaskSpansTest, ASleepThatNobodySaw) {
  EXPECT_EQ(Spans(TraceBuilder(2)
                      .CpuSeed(0, 0, kT)
                      .Preempt(1, 0, kT, 10)
                      .Loss(1, 3, 5)
                      .Waking(8, 0, kT)
                      .Wakeup(9, 0, kT)
                      .End(10)),
            "running@0 0-1 | queued@0 1-3 | unknown 3-5 (events lost) | blocked 5-8 | waking 8-9 | "
            "queued@0 9-10");
}

// A hidden switch took it off its CPU: 10's arrival says when. It was asleep when it was woken.
TEST(TaskSpansTest, AHiddenSwitchOut) {
  EXPECT_EQ(Spans(TraceBuilder(1)
                      .CpuSeed(0, 0, kT)
                      .Preempt(0, 0, 11, kT)
                      .Preempt(8, 0, 10, 0)
                      .With<SwitchEvent>([](SwitchEvent& e) { e.prev_arrival_ns = 4; })
                      .Waking(9, 0, kT)
                      .End(10)),
            "running@0 0-4 | blocked 4-9* | waking 9-10");
}

TEST(TaskSpansTest, AHiddenSwitchIn) {
  EXPECT_EQ(Spans(TraceBuilder(1)
                      .CpuSeed(0, 0, 10)
                      .Wakeup(1, 0, kT)
                      .Preempt(2, 0, 10, 11)
                      .Block(8, 0, kT, 0)
                      .With<SwitchEvent>([](SwitchEvent& e) { e.prev_arrival_ns = 4; })
                      .End(10)),
            "unknown 0-1 (outside the recording) | queued@0 1-4 | running@0 4-8* | blocked 8-10");
}

TEST(TaskSpansTest, AThrottleLastsUntilItsTaskIsQueuedAgain) {
  EXPECT_EQ(Spans(TraceBuilder(1)
                      .CpuSeed(0, 0, kT)
                      .Throttle(2, 0, kT, 0)
                      .Add(4, 0, UnthrottleEvent{Tid{kT}, "", std::nullopt, std::nullopt})
                      .Preempt(6, 0, 0, kT)
                      .End(7)),
            "running@0 0-2 | throttled 2-4 | queued@0 4-6 | running@0 6-7");
}

// Near miss: it is not throttled, so there is nothing to end.
TEST(TaskSpansTest, AnUnthrottleOfATaskThatWaitsChangesNothing) {
  EXPECT_EQ(Spans(TraceBuilder(1)
                      .CpuSeed(0, 0, kT)
                      .Preempt(2, 0, kT, 0)
                      .Add(4, 0, UnthrottleEvent{Tid{kT}, "", std::nullopt, std::nullopt})
                      .Preempt(6, 0, 0, kT)
                      .End(7)),
            "running@0 0-2 | queued@0 2-6 | running@0 6-7");
}

// Before task_struct.throttled a task may be woken onto a queue that is held back.
TEST(TaskSpansTest, WokenOntoAThrottledQueue) {
  EXPECT_EQ(Spans(TraceBuilder(1)
                      .Waking(1, 0, kT)
                      .Wakeup(2, 0, kT)
                      .With<WakeupEvent>([](WakeupEvent& e) { e.throttled = true; })
                      .Add(4, 0, UnthrottleEvent{Tid{kT}, "", std::nullopt, std::nullopt})
                      .Preempt(6, 0, 0, kT)
                      .End(7)),
            "blocked 0-1 | waking 1-2 | throttled 2-4 | queued@0 4-6 | running@0 6-7");
}

TEST(TaskSpansTest, AThrottleLastsUntilItRuns) {
  EXPECT_EQ(
      Spans(TraceBuilder(1).CpuSeed(0, 0, kT).Throttle(2, 0, kT, 0).Preempt(6, 0, 0, kT).End(7)),
      "running@0 0-2 | throttled 2-6 | running@0 6-7");
}

TEST(TaskSpansTest, ANewTaskDoesNotExistBeforeItsFork) {
  EXPECT_EQ(Spans(TraceBuilder(1)
                      .Fork(2, 0, 10, kT)
                      .Add(3, 0, WakeupEvent{Tid{kT}, CpuId{0}, true, {}})
                      .Preempt(5, 0, 10, kT)
                      .Exit(7, 0, kT, 10)
                      .End(8)),
            "exited 0-2 | blocked 2-3 | queued@0 3-5 | running@0 5-7 | exited 7-8");
}

// A prev_state of 0 is no claim that it could run: the source classifies, or nobody knows.
TEST(TaskSpansTest, ATaskThatLeftInAStateNotToldIsUnknown) {
  EXPECT_EQ(Spans(TraceBuilder(1)
                      .CpuSeed(0, 0, kT)
                      .Switch(1, 0, kT, 10, SwitchOut::kUnknown, 0)
                      .Switch(5, 0, 10, kT, SwitchOut::kUnknown, 0)
                      .End(6)),
            "running@0 0-1 | unknown 1-5 (hidden task) | running@0 5-6");
}

}  // namespace
}  // namespace whylate
