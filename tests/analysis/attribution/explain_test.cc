// The worked examples of the definitions, and what the rows of a cell add up to. Times are
// milliseconds unless a test says else; W is the watched thread.
#include "analysis/attribution/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>

#include "tests/support/trace_builder.h"
#include "tests/support/trace_text.h"

namespace whylate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kUs = 1'000;
constexpr int32_t kW = 1;
constexpr int32_t kA = 10;
constexpr int32_t kB = 11;
constexpr int32_t kC = 12;
constexpr int32_t kH = 13;

TraceBuilder Drawn(int32_t cpus, int64_t unit_ns = kMs) {
  TraceBuilder builder(cpus, unit_ns);
  builder.Watch(kW).Name(kW, "W").Name(kA, "A").Name(kB, "B").Name(kC, "C").Name(kH, "H");
  return builder;
}

SubjectRow RowOf(const Explanation& explanation, const std::string& subject) {
  for (const SubjectRow& row : explanation.subjects) {
    if (row.subject == subject) return row;
  }
  ADD_FAILURE() << "no row of " << subject;
  return {};
}

// CPU 0  ? bash .............. W
// W      zzz| wait             run
//           1                 24  30
TEST(ExplainTest, TheFirstSwitchTellsWhoWasThereBefore) {
  const Recording recording = Drawn(1)
                                  .Name(kA, "bash")
                                  .Allowed({0})
                                  .Wake(1, 0, kW)
                                  .Preempt(24, 0, kA, kW)
                                  .Late(1, 20, 30, 6)
                                  .Build();
  const Explanation explanation = Explain(recording);
  ASSERT_EQ(explanation.misses.size(), 1u);
  EXPECT_THAT(SegmentTexts(explanation.misses[0], kMs),
              ElementsAre("runqueue_wait 1-24 cpu0 no_preempt [bash 1-24 no_preempt]",
                          "running 24-30 cpu0"));
}

// us: queued 50, the CPU idle to 100, hog (FIFO) to 12000, burn to 14000.
TEST(ExplainTest, IdleExitThenHogThenBurn) {
  const Recording recording = Drawn(1, kUs)
                                  .Load(kB, "burn")
                                  .Name(kA, "hog")
                                  .Class(kA, SchedClass::kRealTime, 50)
                                  .Allowed({0})
                                  .CpuSeed(0, 0, 0)
                                  .Wake(50, 0, kW)
                                  .Preempt(100, 0, 0, kA)
                                  .Block(12000, 0, kA, kB)
                                  .Preempt(14000, 0, kB, kW)
                                  .Late(50, 16000, 20000, 6000)
                                  .Build();
  const Explanation explanation = Explain(recording);
  EXPECT_EQ(SegmentText(explanation.misses[0].segments[0], kUs),
            "runqueue_wait 50-14000 cpu0 higher_class [idle 50-100 idle_exit] "
            "[hog 100-12000 higher_class] [burn 12000-14000 no_preempt]");
  EXPECT_THAT(CauseTexts(explanation, kUs), ElementsAre("burn/runqueue_wait/no_preempt 2000",
                                                        "hog/runqueue_wait/higher_class 11900",
                                                        "wakeup/runqueue_wait/idle_exit 50"));
  EXPECT_EQ(VerdictText(*explanation.misses[0].verdict, kUs),
            "hog runqueue_wait higher_class sufficient margin 7900 complete");
}

// CPU 0  W  |2 A ....
// CPU 1  B(1) ....... |7 W
// W      run| wait  5>1|run
TEST(ExplainTest, MigrationDuringAWait) {
  const Recording recording = Drawn(2)
                                  .Allowed({0, 1})
                                  .CpuSeed(0, 0, 0)
                                  .CpuSeed(0, 1, 0)
                                  .Wake(0, 0, kW)
                                  .Preempt(0, 0, 0, kW)
                                  .Preempt(1, 1, 0, kB)
                                  .Wake(2, 0, kA)
                                  .Preempt(2, 0, kW, kA)
                                  .Migrate(5, kW, 0, 1)
                                  .Preempt(7, 1, kB, kW)
                                  .Late(0, 9, 11, 6)
                                  .Build();
  const Explanation explanation = Explain(recording);
  ASSERT_EQ(explanation.misses[0].segments.size(), 3u);
  const Segment& wait = explanation.misses[0].segments[1];
  EXPECT_EQ(SegmentText(wait, kMs),
            "preempted 2-7 cpu0 displaced [A 2-5 displaced] [B 5-7 displaced]");
  EXPECT_THAT(wait.migrations, ElementsAre(Migration{CpuId{0}, CpuId{1}, 5 * kMs}));
  EXPECT_EQ(wait.waker, "A");
}

// CPU 0  W(FIFO) |950 A |975 B |1000 W
TEST(ExplainTest, RtBandwidth) {
  const Recording recording = Drawn(1)
                                  .Class(kW, SchedClass::kRealTime, 50)
                                  .Allowed({0})
                                  .CpuSeed(0, 0, kW)
                                  .Preempt(950, 0, kW, kA)
                                  .Preempt(975, 0, kA, kB)
                                  .Preempt(1000, 0, kB, kW)
                                  .Late(940, 990, 1010, 20)
                                  .Build();
  const Explanation explanation = Explain(recording);
  EXPECT_EQ(SegmentText(explanation.misses[0].segments[1], kMs),
            "preempted 950-1000 cpu0 rt_bandwidth [A 950-975 rt_bandwidth] "
            "[B 975-1000 rt_bandwidth]");
}

// W  run |2 blocked ............ |10 run; woken by H. Who delayed H comes with chains.
TEST(ExplainTest, ABlockIsItsWakers) {
  const Recording recording = Drawn(2)
                                  .Allowed({0})
                                  .CpuSeed(0, 0, kW)
                                  .CpuSeed(0, 1, kH)
                                  .Block(2, 0, kW, 0)
                                  .Wake(10, 0, kW, kH)
                                  .Preempt(10, 0, 0, kW)
                                  .Late(0, 8, 14, 6)
                                  .Build();
  const Explanation explanation = Explain(recording);
  EXPECT_THAT(SegmentTexts(explanation.misses[0], kMs),
              ElementsAre("running 0-2 cpu0", "blocked 2-10 cpu0", "running 10-14 cpu0"));
  EXPECT_EQ(explanation.misses[0].segments[1].waker, "H");
  EXPECT_EQ(VerdictText(*explanation.misses[0].verdict, kMs),
            "H blocked sufficient margin 2 complete");
}

// W  run |2 burn |8 run |9 lock (H) |13 run |16
TraceBuilder BurnThenLock() {
  return Drawn(2)
      .Load(kB, "burn")
      .Allowed({0})
      .CpuSeed(0, 0, kW)
      .CpuSeed(0, 1, kH)
      .Preempt(2, 0, kW, kB)
      .Preempt(8, 0, kB, kW)
      .Block(9, 0, kW, 0)
      .Wake(13, 0, kW, kH)
      .Preempt(13, 0, 0, kW)
      .Late(0, 10, 16, 6);
}

TEST(ExplainTest, ALockAbsorbsWhatWasSavedBeforeIt) {
  const Recording recording = BurnThenLock().Build();
  const Explanation explanation = Explain(recording);
  const Verdict& verdict = *explanation.misses[0].verdict;
  EXPECT_THAT(verdict.subjects, ElementsAre("H", "burn"));
  EXPECT_EQ(VerdictText(verdict, kMs), "H & burn blocked sufficient margin 4 complete");
  ASSERT_EQ(explanation.subjects.size(), 3u);
  EXPECT_EQ(explanation.subjects[0].subject, "H & burn");
  EXPECT_EQ(explanation.subjects[0].frames, 1);
  for (const SubjectRow& row : explanation.subjects) EXPECT_EQ(row.frames_saved, 0) << row.subject;
}

// burn |0-3, W 3-13, throttled 13-45, burn 45-50
TEST(ExplainTest, AThrottleAbsorbsAndThenItWaitsLikeAnyOther) {
  const Recording recording = Drawn(1)
                                  .Load(kB, "burn")
                                  .Allowed({0})
                                  .Wake(0, 0, kW)
                                  .Preempt(3, 0, kB, kW)
                                  .Throttle(13, 0, kW, kB)
                                  .Add(45, 0, UnthrottleEvent{Tid{kW}, "game", 10, 50})
                                  .Preempt(50, 0, kB, kW)
                                  .Late(0, 16, 51, 11)
                                  .Build();
  const Explanation explanation = Explain(recording);
  const std::vector<Segment>& segments = explanation.misses[0].segments;
  EXPECT_THAT(SegmentTexts(explanation.misses[0], kMs),
              ElementsAre("runqueue_wait 0-3 cpu0 no_preempt [burn 0-3 no_preempt]",
                          "running 3-13 cpu0", "throttled 13-45 cpu0",
                          "runqueue_wait 45-50 cpu0 no_preempt [burn 45-50 no_preempt]",
                          "running 50-51 cpu0"));
  EXPECT_EQ(segments[2].group, "game");
  EXPECT_EQ(segments[2].quota_ns, 10);
  EXPECT_EQ(segments[2].period_ns, 50);
  const Verdict& verdict = *explanation.misses[0].verdict;
  EXPECT_EQ(verdict.subjects, (std::vector<std::string>{"quota", "burn"}));
  EXPECT_EQ(verdict.confidence, Confidence::kComplete);
  EXPECT_EQ(RowOf(explanation, "burn").frames_saved, 0);
}

// burn |0-3, W 3-13, throttled 13-50
TEST(ExplainTest, AThrottleWithoutARecordOfItsEndIsUnknownAndAbsorbs) {
  const Recording recording = Drawn(1)
                                  .Load(kB, "burn")
                                  .Allowed({0})
                                  .Wake(0, 0, kW)
                                  .Preempt(3, 0, kB, kW)
                                  .Throttle(13, 0, kW, 0)
                                  .Preempt(50, 0, 0, kW)
                                  .Late(0, 10, 50, 6)
                                  .Build();
  const Explanation explanation = Explain(recording);
  EXPECT_THAT(SegmentTexts(explanation.misses[0], kMs),
              ElementsAre("runqueue_wait 0-3 cpu0 no_preempt [burn 0-3 no_preempt]",
                          "running 3-13 cpu0 +slow 4", "unknown 13-50 cpu0 (throttled)"));
  const Verdict& verdict = *explanation.misses[0].verdict;
  EXPECT_EQ(verdict.subjects.front(), "unknown");
  EXPECT_EQ(verdict.confidence, Confidence::kIncomplete);
  EXPECT_EQ(RowOf(explanation, "burn").frames_saved, 0);
}

// D 16, C 24, demand 6: A 0-7, B 7-13, C 13-18, W 18-24
TEST(ExplainTest, AJointCauseIsTheShortestPrefix) {
  const Recording recording = Drawn(1)
                                  .Allowed({0})
                                  .Wake(0, 0, kW)
                                  .Preempt(7, 0, kA, kB)
                                  .Preempt(13, 0, kB, kC)
                                  .Preempt(18, 0, kC, kW)
                                  .Late(0, 16, 24, 6)
                                  .Build();
  const Explanation explanation = Explain(recording);
  EXPECT_EQ(VerdictText(*explanation.misses[0].verdict, kMs),
            "A & B runqueue_wait no_preempt sufficient margin 5 complete");
  int64_t frames = 0;
  for (const CauseRow& row : explanation.causes) frames += row.frames + row.frames_incomplete;
  EXPECT_EQ(frames, 1);
}

// us: waking 411 on its CPU, switch-out 440 (runnable by prev_state), wakeup 459
TEST(ExplainTest, AWakingBeforeTheSwitchOutIsADispatch) {
  const Recording recording = Drawn(1, kUs)
                                  .Allowed({0})
                                  .CpuSeed(0, 0, kW)
                                  .Waking(411, 0, kW)
                                  .With<WakingEvent>([](WakingEvent& e) {
                                    e.wakee_on_rq = true;
                                    e.wakee_on_cpu = true;
                                  })
                                  .Preempt(440, 0, kW, 0)
                                  .Wakeup(459, 0, kW)
                                  .Preempt(470, 0, 0, kW)
                                  .Late(0, 600, 700, 600)
                                  .Build();
  EXPECT_THAT(SegmentTexts(Explain(recording).misses[0], kUs),
              ElementsAre("running 0-440 cpu0 +slow 45", "wakeup_dispatch 440-459 cpu0",
                          "runqueue_wait 459-470 cpu0 idle_exit [idle 459-470 idle_exit]",
                          "running 470-700 cpu0 +slow 24"));
}

// Out (asleep in name, still queued) 1, waking 4, in 6; CPU 1 idle all the while.
TEST(ExplainTest, DelayedDequeueIsABlockAndNeverAPlacement) {
  const Recording recording = Drawn(2)
                                  .Allowed({0, 1})
                                  .CpuSeed(0, 0, kW)
                                  .CpuSeed(0, 1, 0)
                                  .Preempt(0, 1, 0, 0)
                                  .Block(1, 0, kW, kA)
                                  .Waking(4, 0, kW)
                                  .With<WakingEvent>([](WakingEvent& e) { e.wakee_on_rq = true; })
                                  .Preempt(6, 0, kA, kW)
                                  .Late(0, 7, 9, 3)
                                  .Build();
  EXPECT_THAT(SegmentTexts(Explain(recording).misses[0], kMs),
              ElementsAre("running 0-1 cpu0 +slow 0", "blocked 1-4 cpu0",
                          "runqueue_wait 4-6 cpu0 missed_pull [A 4-6 missed_pull]",
                          "running 6-9 cpu0 +slow 0"));
}

// x, 100 ms steps: frame 97 completes at 9807 because of burn, frame 98 at 9905.
TEST(ExplainTest, CarryOverIsChargedToWhatDelayedTheFrameBefore) {
  const Recording recording = Drawn(1)
                                  .Load(kB, "burn")
                                  .Allowed({0})
                                  .Wake(9700, 0, kW)
                                  .Preempt(9710, 0, kB, kW)
                                  .Pace(Pacing::kCarry, 100, 10000)
                                  .Frame(97, 9807, 97)
                                  .Frame(98, 9905, 98)
                                  .Build();
  const Explanation explanation = Explain(recording);
  ASSERT_EQ(explanation.misses.size(), 2u);
  EXPECT_THAT(SegmentTexts(explanation.misses[1], kMs),
              ElementsAre("carry_over 9800-9807", "running 9807-9905 cpu0"));
  EXPECT_EQ(VerdictText(*explanation.misses[0].verdict, kMs),
            "burn runqueue_wait no_preempt sufficient margin 3 complete");
  EXPECT_EQ(VerdictText(*explanation.misses[1].verdict, kMs),
            "burn carry_over sufficient margin 2 complete");
  EXPECT_THAT(CauseTexts(explanation, kMs),
              ElementsAre("burn/carry_over/- 7", "burn/runqueue_wait/no_preempt 10"));
}

TEST(ExplainTest, CarryOverOfAnOverloadIsItsOwn) {
  const Recording recording = Drawn(1)
                                  .Allowed({0})
                                  .Wake(9700, 0, kW)
                                  .Preempt(9700, 0, kA, kW)
                                  .Pace(Pacing::kCarry, 100, 10000)
                                  .Frame(97, 9807, 107)
                                  .Frame(98, 9905, 98)
                                  .Build();
  const Explanation explanation = Explain(recording);
  EXPECT_EQ(VerdictText(*explanation.misses[0].verdict, kMs),
            "overload overload insufficient margin -7 complete");
  EXPECT_EQ(VerdictText(*explanation.misses[1].verdict, kMs),
            "self carry_over sufficient margin 2 complete");
}

// Overrun 5: burn 12, kworker 4, 5 unknown. Given to kworker, the 5 would flip it.
TEST(ExplainTest, AnUncertaintyThatCouldNameAnotherIsIncomplete) {
  auto drawn = [](int64_t kworker_from) {
    return Drawn(1)
        .Load(kB, "burn")
        .KernelThread(kA, "kworker/0:1")
        .Allowed({0})
        .Wake(0, 0, kW)
        .Preempt(12, 0, kB, kW)
        .Preempt(13, 0, kW, kA)
        .Preempt(17, 0, kA, kW)
        .Loss(0, 20, kworker_from)
        .Preempt(kworker_from + 1, 0, kW, 0)
        .Late(0, 25, 30, 9)
        .Build();
  };
  const Explanation explanation = Explain(drawn(25));
  EXPECT_EQ(SegmentText(explanation.misses[0].segments[4], kMs), "unknown 20-25 (events lost)");
  EXPECT_EQ(explanation.misses[0].verdict->subject, "burn");
  EXPECT_EQ(explanation.misses[0].verdict->confidence, Confidence::kIncomplete);
}

TEST(ExplainTest, WithoutATraceOnlyMisses) {
  Recording recording = BurnThenLock().Build();
  recording.trace.reset();
  const Explanation explanation = Explain(recording);
  ASSERT_EQ(explanation.misses.size(), 1u);
  EXPECT_THAT(explanation.misses[0].segments, IsEmpty());
  EXPECT_FALSE(explanation.misses[0].verdict.has_value());
  EXPECT_FALSE(explanation.trace.has_value());
  EXPECT_THAT(explanation.causes, IsEmpty());
}

TEST(ExplainTest, RecursionMissesMakeTheCellIncomplete) {
  Recording recording = BurnThenLock().Build();
  recording.trace->recursion_misses = 1;
  EXPECT_EQ(Explain(recording).misses[0].verdict->confidence, Confidence::kIncomplete);
}

// Period 10, released 0: burn to 31 skips the releases 10, 20 and 30. Without burn it is done at 6.
TEST(ExplainTest, SkippedReleasesBelongToTheLateFrame) {
  const Recording recording = Drawn(1)
                                  .Load(kB, "burn")
                                  .Allowed({0})
                                  .Wake(0, 0, kW)
                                  .Preempt(26, 0, kB, kW)
                                  .Pace(Pacing::kSkip, 10, 100)
                                  .Frame(0, 32, 6)
                                  .Build();
  const Explanation explanation = Explain(recording);
  EXPECT_EQ(explanation.misses[0].dropped, 3);
  ASSERT_EQ(explanation.subjects.size(), 1u);
  EXPECT_EQ(explanation.subjects[0].frames, 4);
  EXPECT_EQ(explanation.subjects[0].frames_saved, 4);
  EXPECT_EQ(explanation.causes[0].frames, 4);
}

// As above, and A takes 12 of the 26: without A it is done at 20, so the releases 20 and 30 are
// met.
TEST(ExplainTest, FramesSavedCountsTheReleasesThatWouldBeMet) {
  const Recording recording = Drawn(1)
                                  .Allowed({0})
                                  .Wake(0, 0, kW)
                                  .Preempt(12, 0, kA, kB)
                                  .Preempt(26, 0, kB, kW)
                                  .Pace(Pacing::kSkip, 10, 100)
                                  .Frame(0, 32, 6)
                                  .Build();
  const Explanation explanation = Explain(recording);
  EXPECT_EQ(RowOf(explanation, "A").frames_saved, 2);
  EXPECT_EQ(RowOf(explanation, "B").frames_saved, 2);
  EXPECT_EQ(RowOf(explanation, "A & B").frames, 4);
}

// Demand 96 of 100 and every undisturbed frame takes 5 more: no room, whatever else happened.
TEST(ExplainTest, OverloadIsTestedFirst) {
  TraceBuilder builder = Drawn(1);
  builder.Load(kB, "burn").Allowed({0});
  builder.Pace(Pacing::kSkip, 100, 100'000);
  for (int64_t i = 0; i < 100; ++i) builder.Frame(i, i * 100 + 99, 94);
  builder.Wake(10'000, 0, kW).Preempt(10'010, 0, kB, kW).Frame(100, 10'106, 96);
  const Explanation explanation = Explain(builder.Build());
  ASSERT_EQ(explanation.misses.size(), 1u);
  // Those frames were not undisturbed by their CPU time (99 - 94 > 0.1), so there is no floor.
  EXPECT_EQ(explanation.misses[0].verdict->subject, "burn");
  for (Frame& frame : builder.recording().frames.frames) {
    frame.cpu_ns = frame.completion_ns - frame.start_ns;
  }
  EXPECT_EQ(VerdictText(*Explain(builder.Build()).misses[0].verdict, kMs),
            "overload overload insufficient margin -6 complete");
}

TEST(ExplainTest, FloorIsTheNearestRankP99) {
  TraceBuilder builder = Drawn(1);
  builder.Pace(Pacing::kSkip, 1000, 1'000'000);
  for (int64_t i = 0; i < 100; ++i) builder.Frame(i, i * 1000 + 10 + i, 10);
  for (Frame& frame : builder.recording().frames.frames) {
    frame.cpu_ns = frame.completion_ns - frame.start_ns;
  }
  EXPECT_EQ(OverheadFloorNs(builder.recording().frames), 98 * kMs);
  builder.recording().frames.frames.pop_back();
  EXPECT_EQ(OverheadFloorNs(builder.recording().frames), 0);
}

}  // namespace
}  // namespace whylate
