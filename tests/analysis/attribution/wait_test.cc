// Each decision of the scheduler, drawn, and beside it the near miss that must not get it. Times
// are milliseconds; W is the watched thread, on CPU 0.
#include "analysis/attribution/wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analysis/attribution/explain.h"
#include "tests/analysis/attribution/drawn_wait.h"
#include "tests/support/trace_builder.h"
#include "tests/support/trace_text.h"

namespace whylate {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kUs = 1'000;

// --- rt_bandwidth

// FIFO W queued at 1 behind FIFO A; at 3 the CPU turns to fair B and stays below RT.
TEST(RtBandwidthTest, TheCpuTurnedBelowRtWhileAnRtTaskWaited) {
  EXPECT_EQ(WaitText(Drawn(1)
                         .Class(kW, SchedClass::kRealTime, 50)
                         .Class(kA, SchedClass::kRealTime, 60)
                         .CpuSeed(0, 0, kA)
                         .Preempt(0, 0, kB, kA)
                         .Wake(1, 0, kW)
                         .Preempt(3, 0, kA, kB)
                         .Block(5, 0, kB, 0)
                         .Preempt(8, 0, 0, kW)
                         .Late(1, 9, 12, 4)),
            "runqueue_wait 1-8 cpu0 rt_bandwidth [A 1-3 higher_class] [B 3-5 rt_bandwidth] "
            "[idle 5-8 rt_bandwidth]");
}

TEST(RtBandwidthTest, AnIdleCpuIsTheQuotas) {
  const Recording recording = Drawn(1)
                                  .Class(kW, SchedClass::kRealTime, 50)
                                  .CpuSeed(0, 0, kW)
                                  .Preempt(1, 0, kW, 0)
                                  .Preempt(8, 0, 0, kW)
                                  .Late(0, 9, 12, 5)
                                  .Build();
  const Explanation explanation = Explain(recording);
  EXPECT_EQ(explanation.misses[0].verdict->subject, "quota");
  EXPECT_EQ(explanation.misses[0].verdict->decision, Decision::kRtBandwidth);
}

// It holds until W runs, though an RT task comes between.
TEST(RtBandwidthTest, HoldsUntilTheTaskRuns) {
  EXPECT_EQ(WaitText(Drawn(1)
                         .Class(kW, SchedClass::kRealTime, 50)
                         .Class(kA, SchedClass::kRealTime, 60)
                         .CpuSeed(0, 0, kW)
                         .Preempt(1, 0, kW, kB)
                         .Preempt(3, 0, kB, kA)
                         .Preempt(8, 0, kA, kW)
                         .Late(0, 9, 12, 5)),
            "preempted 1-8 cpu0 rt_bandwidth [B 1-3 rt_bandwidth] [A 3-8 rt_bandwidth]");
}

// Near miss: the fair occupant was there before W was queued, so nothing turned below RT.
TEST(RtBandwidthTest, NotWhereTheOccupantWasThereBefore) {
  EXPECT_EQ(WaitText(Drawn(1)
                         .Class(kW, SchedClass::kRealTime, 50)
                         .CpuSeed(0, 0, kB)
                         .Wake(1, 0, kW)
                         .Preempt(8, 0, kB, kW)
                         .Late(1, 9, 12, 4)),
            "runqueue_wait 1-8 cpu0 not_preemptible [B 1-8 not_preemptible]");
}

// Near miss: a fair W.
TEST(RtBandwidthTest, NotForAFairTask) {
  EXPECT_EQ(WaitText(Drawn(1)
                         .Class(kA, SchedClass::kRealTime, 60)
                         .CpuSeed(0, 0, kA)
                         .Preempt(0, 0, kB, kA)
                         .Wake(1, 0, kW)
                         .Preempt(3, 0, kA, kB)
                         .Preempt(8, 0, kB, kW)
                         .Late(1, 9, 12, 4)),
            "runqueue_wait 1-8 cpu0 no_preempt [A 1-3 higher_class] [B 3-8 no_preempt]");
}

// What the fair server picks is fair, whatever its own class says.
TEST(RtBandwidthTest, TheFairServersPickIsFair) {
  EXPECT_EQ(WaitText(Drawn(1)
                         .Class(kW, SchedClass::kRealTime, 50)
                         .Class(kB, SchedClass::kDeadline)
                         .CpuSeed(0, 0, kW)
                         .Preempt(1, 0, kW, kB)
                         .With<SwitchEvent>([](SwitchEvent& e) { e.next_by_dl_server = true; })
                         .Preempt(8, 0, kB, kW)
                         .Late(0, 9, 12, 5)),
            "preempted 1-8 cpu0 rt_bandwidth [B 1-8 rt_bandwidth]");
}

// --- idle_exit

// CPU 1 idles too: leaving idle is never avoidable.
TEST(IdleExitTest, TheCpuOfTheWaitRunsItsIdleTask) {
  const Segment wait = WaitOf(Drawn(2)
                                  .Allowed({0, 1})
                                  .CpuSeed(0, 0, 0)
                                  .CpuSeed(0, 1, 0)
                                  .Preempt(0, 1, 0, 0)
                                  .Wake(1, 0, kW)
                                  .Preempt(8, 0, 0, kW)
                                  .Late(1, 9, 12, 4));
  EXPECT_EQ(SegmentText(wait, kMs), "runqueue_wait 1-8 cpu0 idle_exit [idle 1-8 idle_exit]");
  EXPECT_EQ(wait.avoidable_ns, 0);
  EXPECT_EQ(wait.possibly_avoidable_ns, 0);
}

// Near miss: a SCHED_IDLE occupant is a task.
TEST(IdleExitTest, NotBehindASchedIdleTask) {
  EXPECT_EQ(WaitText(Drawn(1)
                         .Class(kA, SchedClass::kIdlePolicy)
                         .CpuSeed(0, 0, kA)
                         .Wake(1, 0, kW)
                         .Preempt(8, 0, kA, kW)
                         .Late(1, 9, 12, 4)),
            "runqueue_wait 1-8 cpu0 not_preemptible [A 1-8 not_preemptible]");
}

// --- not_preemptible

TEST(NotPreemptibleTest, ALowerRtPriorityThatStayed) {
  EXPECT_EQ(WaitText(Drawn(1)
                         .Class(kW, SchedClass::kRealTime, 50)
                         .Class(kA, SchedClass::kRealTime, 40)
                         .CpuSeed(0, 0, kA)
                         .Wake(1, 0, kW)
                         .Preempt(8, 0, kA, kW)
                         .Late(1, 9, 12, 4)),
            "runqueue_wait 1-8 cpu0 not_preemptible [A 1-8 not_preemptible]");
}

// Near miss: picked after W was queued.
TEST(NotPreemptibleTest, NotWhenPickedLater) {
  EXPECT_EQ(WaitText(Drawn(1)
                         .Class(kW, SchedClass::kRealTime, 50)
                         .Class(kA, SchedClass::kRealTime, 40)
                         .Class(kB, SchedClass::kRealTime, 60)
                         .CpuSeed(0, 0, kB)
                         .Preempt(0, 0, kA, kB)
                         .Wake(1, 0, kW)
                         .Preempt(3, 0, kB, kA)
                         .Preempt(8, 0, kA, kW)
                         .Late(1, 9, 12, 4)),
            "runqueue_wait 1-8 cpu0 undetermined [B 1-3 higher_class] [A 3-8 undetermined]");
}

// --- higher_class

TEST(HigherClassTest, ByClassAndByRtPriority) {
  EXPECT_EQ(WaitText(Drawn(1)
                         .Class(kW, SchedClass::kRealTime, 50)
                         .Class(kA, SchedClass::kStop)
                         .Class(kB, SchedClass::kRealTime, 51)
                         .CpuSeed(0, 0, kA)
                         .Preempt(0, 0, kB, kA)
                         .Wake(1, 0, kW)
                         .Preempt(4, 0, kA, kB)
                         .Preempt(8, 0, kB, kW)
                         .Late(1, 9, 12, 4)),
            "runqueue_wait 1-8 cpu0 higher_class [A 1-4 higher_class] [B 4-8 higher_class]");
}

// Near miss: the same RT priority is the same class.
TEST(HigherClassTest, NotAtEqualRtPriority) {
  EXPECT_EQ(WaitText(Drawn(1)
                         .Class(kW, SchedClass::kRealTime, 50)
                         .Class(kA, SchedClass::kRealTime, 50)
                         .CpuSeed(0, 0, kA)
                         .Wake(1, 0, kW)
                         .Preempt(8, 0, kA, kW)
                         .Late(1, 9, 12, 4)),
            "runqueue_wait 1-8 cpu0 no_preempt [A 1-8 no_preempt]");
}

// It comes before the idle CPUs are looked at.
TEST(HigherClassTest, BeforeAMissedPull) {
  const Segment wait = WaitOf(Drawn(2)
                                  .Allowed({0, 1})
                                  .Class(kA, SchedClass::kRealTime, 50)
                                  .CpuSeed(0, 0, kA)
                                  .Preempt(0, 0, kB, kA)
                                  .CpuSeed(0, 1, 0)
                                  .Wake(1, 0, kW)
                                  .Preempt(8, 0, kA, kW)
                                  .Late(1, 9, 12, 4));
  EXPECT_EQ(SegmentText(wait, kMs), "runqueue_wait 1-8 cpu0 higher_class [A 1-8 higher_class]");
  EXPECT_EQ(wait.avoidable_ns, 7 * kMs);
}

// --- placement and missed_pull

// CPU 0  A ............ |8 W      CPU 1 idle from before the waking until B at 5
TraceBuilder WokenBesideAnIdleCpu() {
  return Drawn(2)
      .Allowed({0, 1})
      .CpuSeed(0, 0, kA)
      .CpuSeed(0, 1, 0)
      .Wake(1, 0, kW)
      .Wake(5, 1, kB)
      .Preempt(5, 1, 0, kB)
      .Preempt(8, 0, kA, kW)
      .Late(1, 9, 12, 4);
}

TEST(PlacementTest, AnAllowedIdleCpuWasNotChosen) {
  const Segment wait = WaitOf(WokenBesideAnIdleCpu());
  EXPECT_EQ(SegmentText(wait, kMs), "runqueue_wait 1-8 cpu0 placement [A 1-8 placement]");
  EXPECT_EQ(wait.avoidable_ns, 4 * kMs);
  EXPECT_THAT(CauseTexts(Explain(WokenBesideAnIdleCpu().Build()), kMs),
              ElementsAre("A/runqueue_wait/no_preempt 3", "A/runqueue_wait/placement 4"));
}

// Near miss: CPU 1 was busy at the waking and idle from 2 on.
TEST(PlacementTest, NotWhereTheCpuBecameIdleLater) {
  EXPECT_EQ(WaitText(Drawn(2)
                         .Allowed({0, 1})
                         .CpuSeed(0, 0, kA)
                         .CpuSeed(0, 1, kB)
                         .Wake(1, 0, kW)
                         .Block(2, 1, kB, 0)
                         .Preempt(8, 0, kA, kW)
                         .Late(1, 9, 12, 4)),
            "runqueue_wait 1-8 cpu0 missed_pull [A 1-8 missed_pull]");
}

// Near miss: it was busy for an instant in between.
TEST(PlacementTest, NotWhereTheCpuDidNotStayIdle) {
  const Recording recording = Drawn(2)
                                  .Allowed({0, 1})
                                  .CpuSeed(0, 0, kA)
                                  .CpuSeed(0, 1, 0)
                                  .Wake(1, 0, kW)
                                  .Wake(3, 1, kB)
                                  .Preempt(3, 1, 0, kB)
                                  .Block(4, 1, kB, 0)
                                  .Preempt(8, 0, kA, kW)
                                  .Late(1, 9, 12, 4)
                                  .Build();
  EXPECT_THAT(CauseTexts(Explain(recording), kMs),
              ElementsAre("A/runqueue_wait/missed_pull 4", "A/runqueue_wait/no_preempt 1",
                          "A/runqueue_wait/placement 2"));
}

// Near miss: a delayed dequeue was never off the runqueue, so nobody placed it.
TEST(PlacementTest, NotAfterADelayedDequeue) {
  TraceBuilder builder = Drawn(2);
  builder.Allowed({0, 1})
      .CpuSeed(0, 0, kW)
      .CpuSeed(0, 1, 0)
      .Preempt(0, 1, 0, 0)
      .Block(1, 0, kW, kA)
      .Waking(2, 0, kW)
      .With<WakingEvent>([](WakingEvent& e) { e.wakee_on_rq = true; })
      .Preempt(8, 0, kA, kW)
      .Late(0, 9, 12, 4);
  EXPECT_EQ(WaitText(builder), "runqueue_wait 2-8 cpu0 missed_pull [A 2-8 missed_pull]");
}

// Near miss: W was not allowed there at the waking; the mask is widened at 3.
TEST(PlacementTest, NotWhereTheCpuWasNotAllowedAtTheWaking) {
  TraceBuilder builder = WokenBesideAnIdleCpu();
  builder.Allowed({0}).Affinity(3, 1, kW, {0, 1});
  builder.recording().allowed_after = TraceBuilder::Cpus({0, 1});
  const Segment wait = WaitOf(builder);
  EXPECT_EQ(wait.avoidable_ns, 2 * kMs);
  EXPECT_EQ(wait.decision, Decision::kNoPreempt);
  EXPECT_THAT(CauseTexts(Explain(builder.Build()), kMs),
              ElementsAre("A/runqueue_wait/missed_pull 2", "A/runqueue_wait/no_preempt 5"));
}

// Near miss: pinned. CPU 1 idles all the while, and it is nobody's fault.
TEST(MissedPullTest, NotWherePinned) {
  TraceBuilder builder = WokenBesideAnIdleCpu();
  builder.Allowed({0});
  const Segment wait = WaitOf(builder);
  EXPECT_EQ(wait.avoidable_ns, 0);
  EXPECT_EQ(wait.possibly_avoidable_ns, 0);
  EXPECT_EQ(wait.decision, Decision::kNoPreempt);
}

TEST(MissedPullTest, NotOnAnIsolatedCpu) {
  TraceBuilder builder = WokenBesideAnIdleCpu();
  builder.Isolated(1);
  const Segment wait = WaitOf(builder);
  EXPECT_EQ(wait.avoidable_ns, 0);
  EXPECT_EQ(wait.not_balanced_ns, 4 * kMs);
  EXPECT_EQ(wait.decision, Decision::kNoPreempt);
}

TEST(MissedPullTest, NotOnAnOfflineCpu) {
  TraceBuilder builder = WokenBesideAnIdleCpu();
  builder.recording().cpus[1].online = false;
  EXPECT_EQ(WaitOf(builder).avoidable_ns, 0);
}

TEST(MissedPullTest, UnknownAffinityIsOnlyPossiblyAvoidable) {
  TraceBuilder builder = WokenBesideAnIdleCpu();
  builder.recording().allowed_after.reset();
  const Segment wait = WaitOf(builder);
  EXPECT_EQ(wait.avoidable_ns, 0);
  EXPECT_EQ(wait.possibly_avoidable_ns, 4 * kMs);
  EXPECT_EQ(wait.decision, Decision::kNoPreempt);
}

// Near miss: a task is on its way to CPU 1 (waking 1, wakeup 7), so it isn't idle.
TEST(MissedPullTest, NotWhereATaskIsBeingWokenTo) {
  EXPECT_EQ(WaitOf(Drawn(2)
                       .Allowed({0, 1})
                       .CpuSeed(0, 0, kA)
                       .CpuSeed(0, 1, 0)
                       .Waking(1, 0, kB)
                       .Wake(2, 0, kW)
                       .Wakeup(7, 1, kB)
                       .Preempt(8, 1, 0, kB)
                       .Preempt(8, 0, kA, kW)
                       .Late(2, 9, 12, 4))
                .avoidable_ns,
            0);
}

// A CPU that runs only SCHED_IDLE tasks is as good as idle, and labelled.
TEST(MissedPullTest, ASchedIdleCpuCounts) {
  const Segment wait = WaitOf(Drawn(2)
                                  .Allowed({0, 1})
                                  .Class(kB, SchedClass::kIdlePolicy)
                                  .CpuSeed(0, 0, kA)
                                  .CpuSeed(0, 1, 0)
                                  .Wake(1, 0, kW)
                                  .Wake(3, 1, kB)
                                  .Preempt(3, 1, 0, kB)
                                  .Preempt(8, 0, kA, kW)
                                  .Late(1, 9, 12, 4));
  EXPECT_EQ(wait.avoidable_ns, 7 * kMs);
  EXPECT_EQ(wait.avoidable_sched_idle_ns, 5 * kMs);
}

// us: 99 avoidable are counted and decide nothing, 100 do.
TEST(MissedPullTest, DecisionsRestOnHundredMicroseconds) {
  auto drawn = [](int64_t idle_for) {
    return Explain(Drawn(2, kUs)
                       .Allowed({0, 1})
                       .CpuSeed(0, 0, kA)
                       .CpuSeed(0, 1, kB)
                       .Wake(1000, 0, kW)
                       .Block(2000, 1, kB, 0)
                       .Wake(2000 + idle_for, 1, kB)
                       .Preempt(2000 + idle_for, 1, 0, kB)
                       .Preempt(8000, 0, kA, kW)
                       .Late(1000, 9000, 12000, 4000)
                       .Build());
  };
  const Explanation below = drawn(99);
  EXPECT_EQ(below.misses[0].segments[0].avoidable_ns, 99 * kUs);
  EXPECT_THAT(CauseTexts(below, kUs), ElementsAre("A/runqueue_wait/no_preempt 7000"));
  EXPECT_THAT(CauseTexts(drawn(100), kUs),
              ElementsAre("A/runqueue_wait/missed_pull 100", "A/runqueue_wait/no_preempt 6900"));
}

// An unseen CPU is unknown, never idle.
TEST(MissedPullTest, NotOnACpuThatWasNeverSeen) {
  EXPECT_EQ(WaitOf(Drawn(2)
                       .Allowed({0, 1})
                       .CpuSeed(0, 0, kA)
                       .Wake(1, 0, kW)
                       .Preempt(8, 0, kA, kW)
                       .Late(1, 9, 12, 4))
                .avoidable_ns,
            0);
}

// --- displaced, slice, no_preempt, undetermined

// W in at 1, A woken at 2 displaces it.
TEST(DisplacedTest, TheOccupantCameAfterTheTask) {
  EXPECT_EQ(WaitText(Drawn(1)
                         .CpuSeed(0, 0, kB)
                         .Wake(1, 0, kW)
                         .Block(1, 0, kB, kW)
                         .Wake(2, 0, kA)
                         .Preempt(2, 0, kW, kA)
                         .Block(8, 0, kA, kW)
                         .Late(1, 9, 12, 4)),
            "preempted 2-8 cpu0 displaced [A 2-8 displaced]");
}

// Near miss: A was queued there all along: its turn.
TEST(SliceTest, TheOccupantWasQueuedBeforeTheTaskRan) {
  EXPECT_EQ(WaitText(Drawn(1)
                         .CpuSeed(0, 0, kA)
                         .Wake(1, 0, kW)
                         .Preempt(1, 0, kA, kW)
                         .Preempt(2, 0, kW, kA)
                         .Preempt(8, 0, kA, kW)
                         .Late(1, 9, 12, 4)),
            "preempted 2-8 cpu0 slice [A 2-8 slice]");
}

// Near miss: A was queued, but on the other CPU.
TEST(SliceTest, NotWhereTheOccupantWasQueuedElsewhere) {
  EXPECT_EQ(WaitText(Drawn(2)
                         .Allowed({0})
                         .CpuSeed(0, 0, 0)
                         .CpuSeed(0, 1, kB)
                         .Wake(0, 1, kA)
                         .Wake(1, 0, kW)
                         .Preempt(1, 0, 0, kW)
                         .Migrate(2, kA, 1, 0)
                         .Preempt(3, 0, kW, kA)
                         .Preempt(8, 0, kA, kW)
                         .Late(1, 9, 12, 4)),
            "preempted 3-8 cpu0 displaced [A 3-8 displaced]");
}

// After a wake-up also one that is picked later keeps the CPU.
TEST(NoPreemptTest, AlsoOnePickedLater) {
  EXPECT_EQ(WaitText(Drawn(1)
                         .CpuSeed(0, 0, kA)
                         .Wake(1, 0, kW)
                         .Preempt(3, 0, kA, kB)
                         .Preempt(8, 0, kB, kW)
                         .Late(1, 9, 12, 4)),
            "runqueue_wait 1-8 cpu0 no_preempt [A 1-3 no_preempt] [B 3-8 no_preempt]");
}

// Near miss: a lower class picked later is no reason.
TEST(NoPreemptTest, NotForALowerClassPickedLater) {
  EXPECT_EQ(WaitText(Drawn(1)
                         .Class(kB, SchedClass::kIdlePolicy)
                         .CpuSeed(0, 0, kA)
                         .Wake(1, 0, kW)
                         .Preempt(3, 0, kA, kB)
                         .Preempt(8, 0, kB, kW)
                         .Late(1, 9, 12, 4)),
            "runqueue_wait 1-8 cpu0 undetermined [A 1-3 no_preempt] [B 3-8 undetermined]");
}

TEST(UndeterminedTest, WhereTheClassIsNotKnown) {
  EXPECT_EQ(WaitText(Drawn(1)
                         .Class(kA, SchedClass::kUnknown)
                         .CpuSeed(0, 0, kA)
                         .Wake(1, 0, kW)
                         .Preempt(8, 0, kA, kW)
                         .Late(1, 9, 12, 4)),
            "runqueue_wait 1-8 cpu0 undetermined [A 1-8 undetermined]");
}

// The recording begins when W is on the CPU: who was queued when it came is not known.
TEST(UndeterminedTest, WhereTheLastSwitchInIsNotKnown) {
  EXPECT_EQ(
      WaitText(
          Drawn(1).CpuSeed(0, 0, kW).Preempt(2, 0, kW, kA).Preempt(8, 0, kA, kW).Late(1, 9, 12, 4)),
      "preempted 2-8 cpu0 undetermined [A 2-8 undetermined]");
}

}  // namespace
}  // namespace whylate
