// Situations that people met, drawn: what the scheduler's events alone can say of each, "it was not
// the scheduler" included.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analysis/attribution/activations.h"
#include "tests/support/trace_builder.h"
#include "tests/support/trace_text.h"

namespace whylate {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::SizeIs;

constexpr int64_t kUs = 1'000;
constexpr int64_t kMs = 1'000'000;
constexpr int32_t kW = 1;
constexpr int32_t kA = 10;
constexpr int32_t kB = 11;
constexpr int32_t kC = 12;

Analysis OfTask(const Recording& recording, const std::string& task,
                std::optional<int64_t> deadline_ns = std::nullopt) {
  ActivationOptions options;
  options.task = task;
  options.deadline_ns = deadline_ns;
  return AnalyzeActivations(recording, options);
}

std::string VerdictOf(const Analysis& analysis, int64_t unit_ns = kMs) {
  if (analysis.activations.empty()) return "no activation";
  const Activation& worst = analysis.activations.front();
  return worst.verdict ? VerdictText(*worst.verdict, unit_ns) : "no verdict";
}

// A real-time server and its clients, which have no priority: the server is never kept waiting, a
// client is, behind the server itself.
//
// CPU 0  pipewire(RT 49) ........ |6 data-loop |8 idle
//                  2 data-loop waits
TEST(SituationTest, RealTimeServerWithClientsThatAreNot) {
  const Recording recording = TraceBuilder(1, kMs)
                                  .Name(kA, "pipewire")
                                  .Name(kW, "data-loop.0")
                                  .Class(kA, SchedClass::kRealTime, 49)
                                  .CpuSeed(0, 0, 0)
                                  .Wake(1, 0, kA)
                                  .Preempt(1, 0, 0, kA)
                                  .Wake(2, 0, kW, kA)
                                  .Block(6, 0, kA, kW)
                                  .Block(8, 0, kW, 0)
                                  .Build();
  const Analysis client = OfTask(recording, "data-loop.0");
  EXPECT_EQ(VerdictOf(client), "pipewire runqueue_wait higher_class sufficient margin 0 complete");
  const Segment& wait = client.activations[0].segments[0];
  EXPECT_EQ(wait.standing.sched_class, SchedClass::kFair);
  ASSERT_THAT(wait.occupants, SizeIs(1));
  EXPECT_EQ(wait.occupants[0].standing.sched_class, SchedClass::kRealTime);
  EXPECT_EQ(wait.occupants[0].standing.rt_priority, 49);
  EXPECT_EQ(VerdictOf(OfTask(recording, "pipewire")), "no verdict");
}

// CPU 3  spin(FIFO 80) |950 idle |1000 spin
TEST(SituationTest, BusySpinMeetsTheRealTimeLimit) {
  TraceBuilder builder(1, kMs);
  builder.Name(kW, "spin").Name(kA, "make").Class(kW, SchedClass::kRealTime, 80).CpuSeed(0, 0, kW);
  TraceBuilder idle = builder;
  idle.Preempt(950, 0, kW, 0).Preempt(1000, 0, 0, kW).End(1100);
  EXPECT_EQ(VerdictOf(OfTask(idle.Build(), "spin")),
            "quota preempted rt_bandwidth sufficient margin 0 complete");
  TraceBuilder busy = builder;
  busy.Preempt(950, 0, kW, kA).Preempt(1000, 0, kA, kW).End(1100);
  const Analysis analysis = OfTask(busy.Build(), "spin");
  EXPECT_EQ(VerdictOf(analysis), "make preempted rt_bandwidth sufficient margin 0 complete");
  EXPECT_EQ(analysis.activations[0].wait_ns, 50 * kMs);
}

// An interrupt wakes the highest priority on top of a task of none, which goes on for 55 ms: with
// interrupts or preemption off. No decision of the scheduler was possible.
TEST(SituationTest, InterruptsOffInKswapd) {
  const Recording recording = TraceBuilder(1, kMs)
                                  .Name(kW, "cyclictest")
                                  .KernelThread(kA, "kswapd0")
                                  .Class(kW, SchedClass::kRealTime, 99)
                                  .CpuSeed(0, 0, kA)
                                  .Wake(1, 0, kW)
                                  .Preempt(56, 0, kA, kW)
                                  .Block(57, 0, kW, kA)
                                  .Build();
  EXPECT_EQ(VerdictOf(OfTask(recording, "cyclictest", 5 * kMs)),
            "kswapd0 runqueue_wait not_preemptible sufficient margin 4 complete");
}

TEST(SituationTest, NoPreemptionPointInMadvise) {
  const Recording recording = TraceBuilder(1, kUs)
                                  .Name(kW, "cyclictest")
                                  .Name(kA, "stress-n")
                                  .Class(kW, SchedClass::kRealTime, 99)
                                  .CpuSeed(0, 0, kA)
                                  .Wake(1, 0, kW)
                                  .Preempt(1956, 0, kA, kW)
                                  .Block(1990, 0, kW, kA)
                                  .Build();
  EXPECT_EQ(VerdictOf(OfTask(recording, "cyclictest"), kUs),
            "stress-n runqueue_wait not_preemptible sufficient margin 0 complete");
}

// Two tasks of one name and priority on CPU 2, CPUs 0 and 1 idle: placed behind its equal. Where
// the affinity is not known, it is no more than possibly avoidable.
TEST(SituationTest, RealTimeTaskPlacedBehindItsEqual) {
  TraceBuilder builder(3, kUs);
  builder.Name(kW, "big-task").Name(kA, "big-task");
  builder.Class(kW, SchedClass::kRealTime, 10).Class(kA, SchedClass::kRealTime, 10);
  builder.CpuSeed(0, 0, 0).CpuSeed(0, 1, 0).CpuSeed(0, 2, kA);
  builder.Wake(10, 2, kW).Block(790, 2, kA, kW).Block(900, 2, kW, 0);
  const Analysis unknown = OfTask(builder.Build(), "1");
  EXPECT_EQ(VerdictOf(unknown, kUs),
            "big-task runqueue_wait no_preempt sufficient margin 0 complete");
  EXPECT_EQ(unknown.activations[0].segments[0].possibly_avoidable_ns, 780 * kUs);
  EXPECT_EQ(unknown.activations[0].segments[0].occupants[0].tid, Tid{kA});
  const Analysis known = OfTask(builder.Watch(kW).Allowed({0, 1, 2}).Build(), "1");
  EXPECT_EQ(VerdictOf(known, kUs), "big-task runqueue_wait placement sufficient margin 0 complete");
  EXPECT_EQ(known.activations[0].segments[0].avoidable_ns, 780 * kUs);
}

// A thread with a period of 2 ms is woken 4 ms after the time before, and runs 28 us later: in time
// by its waking, each time. What came late was the wake-up.
TEST(SituationTest, CracklesAndTheSchedulerIsFine) {
  const Recording recording = TraceBuilder(1, kUs)
                                  .Name(kW, "audio")
                                  .Class(kW, SchedClass::kRealTime, 80)
                                  .CpuSeed(0, 0, 0)
                                  .Wake(2000, 0, kW)
                                  .Preempt(2028, 0, 0, kW)
                                  .Block(2500, 0, kW, 0)
                                  .Wake(6000, 0, kW)
                                  .Preempt(6012, 0, 0, kW)
                                  .Block(6500, 0, kW, 0)
                                  .Build();
  const Analysis analysis = OfTask(recording, "audio", 2 * kMs);
  EXPECT_EQ(analysis.late, 0);
  EXPECT_EQ(analysis.tasks[0].longest_wait_ns, 28 * kUs);
  EXPECT_THAT(analysis.activations, ElementsAre(Field(&Activation::verdict, std::nullopt),
                                                Field(&Activation::verdict, std::nullopt)));
}

// Each frame of a render thread waits behind the same kernel worker, and a little behind others.
TEST(SituationTest, AKernelWorkerEatsACore) {
  const Recording recording = TraceBuilder(1, kMs)
                                  .Name(kW, "render")
                                  .Name(kB, "bash")
                                  .KernelThread(kA, "kworker/0:3")
                                  .CpuSeed(0, 0, kA)
                                  .Wake(1, 0, kW)
                                  .Preempt(6, 0, kA, kW)
                                  .Preempt(8, 0, kW, kA)
                                  .Preempt(12, 0, kA, kW)
                                  .Block(13, 0, kW, kA)
                                  .Wake(20, 0, kW)
                                  .Wake(22, 0, kB)
                                  .Preempt(23, 0, kA, kB)
                                  .Block(24, 0, kB, kW)
                                  .Block(27, 0, kW, kA)
                                  .Build();
  const Analysis analysis = OfTask(recording, "render");
  EXPECT_EQ(VerdictOf(analysis),
            "kworker/0:3 runqueue_wait no_preempt sufficient margin 0 complete");
  EXPECT_EQ(analysis.subjects[0].subject, "kworker/0:3");
  EXPECT_EQ(analysis.subjects[0].ns, 12 * kMs);
}

// Runnable in the ext class and not picked for 36 s, while others of that class run: it is nobody's
// of the fair class.
TEST(SituationTest, AnExtSchedulerNeverPicksTheTask) {
  const Recording recording = TraceBuilder(1, kMs)
                                  .KernelThread(kW, "kworker/6:1")
                                  .Name(kA, "game")
                                  .Name(kC, "worker")
                                  .Class(kW, SchedClass::kExt)
                                  .Class(kA, SchedClass::kExt)
                                  .Class(kC, SchedClass::kExt)
                                  .CpuSeed(0, 0, kA)
                                  .Wake(10, 0, kW)
                                  .Preempt(30'000, 0, kA, kC)
                                  .End(36'232)
                                  .Build();
  const Analysis analysis = OfTask(recording, "kworker/6:1", 1000 * kMs);
  const Activation& stalled = analysis.activations[0];
  EXPECT_EQ(stalled.running_ns, std::nullopt);
  EXPECT_FALSE(stalled.finished);
  EXPECT_EQ(stalled.late, true);
  EXPECT_EQ(stalled.wait_ns, 36'222 * kMs);
  ASSERT_THAT(stalled.segments, SizeIs(1));
  EXPECT_EQ(stalled.segments[0].standing.sched_class, SchedClass::kExt);
  for (const Occupant& occupant : stalled.segments[0].occupants) {
    EXPECT_EQ(occupant.standing.sched_class, SchedClass::kExt);
  }
  EXPECT_EQ(VerdictOf(analysis),
            "game & worker runqueue_wait no_preempt sufficient margin 1000 complete");
}

// CPU 0  bash(RT 30), found there |24 rcu_preempt
TEST(SituationTest, ARealTimeShellStarvesTheOnlyCpu) {
  const Recording recording = TraceBuilder(1, kUs)
                                  .KernelThread(kW, "rcu_preempt")
                                  .Name(kA, "bash")
                                  .Class(kA, SchedClass::kRealTime, 30)
                                  .Wake(100, 0, kW)
                                  .Block(23'998, 0, kA, kW)
                                  .Block(24'010, 0, kW, 0)
                                  .Build();
  const Analysis analysis = OfTask(recording, "rcu_preempt");
  EXPECT_EQ(VerdictOf(analysis, kUs),
            "bash runqueue_wait higher_class sufficient margin 0 complete");
  const Segment& wait = analysis.activations[0].segments[0];
  EXPECT_EQ(wait.standing.sched_class, SchedClass::kFair);
  ASSERT_THAT(wait.occupants, SizeIs(1));
  EXPECT_EQ(wait.occupants[0].standing.rt_priority, 30);
  EXPECT_EQ(wait.occupants[0].end_ns - wait.occupants[0].start_ns, 23'898 * kUs);
}

}  // namespace
}  // namespace whylate
