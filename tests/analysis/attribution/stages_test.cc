// A chain's frames: whose each instant is, and who is charged for it. Times are milliseconds. The
// stages are "in", "app" and "comp"; each wakes the next one. All on CPU 0 unless a test says else.
#include "analysis/attribution/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/attribution/explain.h"
#include "tests/support/explanation_checks.h"
#include "tests/support/trace_builder.h"
#include "tests/support/trace_generator.h"
#include "tests/support/trace_text.h"

namespace whylate {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

constexpr int64_t kMs = 1'000'000;
constexpr int32_t kIn = 1;
constexpr int32_t kApp = 2;
constexpr int32_t kComp = 3;
constexpr int32_t kHog = 10;
constexpr uint32_t kFutexWait = 0x2001;  // TASK_INTERRUPTIBLE | TASK_FREEZABLE, since Linux 6.1

// The input stage runs on CPU 0 at 0.
TraceBuilder Chain(int32_t cpus = 1) {
  TraceBuilder builder(cpus, kMs);
  builder.Stage(kIn, "in", 2).Stage(kApp, "app", 3).Stage(kComp, "comp", 2);
  builder.Name(kHog, "hog").CpuSeed(0, 0, kIn);
  return builder;
}

TraceBuilder& WithHog(TraceBuilder& builder) {
  return builder.Class(kHog, SchedClass::kRealTime, 50);
}

std::vector<std::string> TextsOf(const Recording& recording) {
  const Explanation explanation = Explain(recording);
  EXPECT_THAT(BrokenInvariants(recording.frames, explanation), IsEmpty());
  return SegmentTexts(explanation.misses.at(0), kMs);
}

std::string VerdictOf(const Recording& recording) {
  return VerdictText(*Explain(recording).misses.at(0).verdict, kMs);
}

//      0   2 3      10   13 14  16
// in   run |.
// app      |wait    |run |.
// comp                   |w|run|
// hog        |run   |
Recording MiddleStageBehindAHog() {
  TraceBuilder builder = Chain();
  return WithHog(builder)
      .Allowed({0})
      .Wake(2, 0, kApp, kIn)
      .Wake(3, 0, kHog)
      .Preempt(3, 0, kIn, kHog)
      .Block(10, 0, kHog, kApp)
      .Wake(13, 0, kComp, kApp)
      .Block(14, 0, kApp, kComp)
      .Late(0, 12, 16, 7)
      .Passed({2, 13})
      .Build();
}

TEST(StagesTest, EachInstantIsOfTheStageThatHoldsTheFrame) {
  EXPECT_THAT(TextsOf(MiddleStageBehindAHog()),
              ElementsAre("in: running 0-2 cpu0",
                          "app: runqueue_wait 2-10 cpu0 higher_class [in 2-3 no_preempt] "
                          "[hog 3-10 higher_class]",
                          "app: running 10-13 cpu0",
                          "comp: runqueue_wait 13-14 cpu0 no_preempt [app 13-14 no_preempt]",
                          "comp: running 14-16 cpu0"));
}

TEST(StagesTest, TheMiddleStagesHogIsNamedWithTheStage) {
  const Recording recording = MiddleStageBehindAHog();
  EXPECT_EQ(VerdictOf(recording),
            "hog runqueue_wait higher_class sufficient margin 3 complete in app");
  EXPECT_THAT(CauseTexts(Explain(recording), kMs),
              ElementsAre("app/runqueue_wait/no_preempt 1", "hog/runqueue_wait/higher_class 7",
                          "in/runqueue_wait/no_preempt 1"));
}

TEST(StagesTest, ASegmentSaysWhoseThreadItIs) {
  const Explanation explanation = Explain(MiddleStageBehindAHog());
  EXPECT_EQ(explanation.misses.at(0).segments.back().stage, (StageThread{"comp", Tid{kComp}}));
}

TEST(StagesTest, OneThreadsFramesHaveNoStage) {
  const Recording recording =
      TraceBuilder(1, kMs).Watch(kIn).CpuSeed(0, 0, kIn).Late(0, 5, 9, 3).Build();
  const Explanation explanation = Explain(recording);
  EXPECT_THAT(explanation.misses.at(0).segments,
              Each(Field(&Segment::stage, std::optional<StageThread>())));
  EXPECT_EQ(explanation.misses.at(0).verdict->stage, "");
}

// A stage that is displaced after it read the clock and before it woke the next one has not passed
// the frame on.
//      0   2 3      9  10  12 13
// in   run |.|pre   |. |
// app                  |run|
// comp                     | run
TEST(StagesTest, AStageHoldsTheFrameUntilItHasWokenTheNext) {
  TraceBuilder builder = Chain();
  const Recording recording = WithHog(builder)
                                  .Allowed({0})
                                  .Wake(3, 0, kHog)
                                  .Preempt(3, 0, kIn, kHog)
                                  .Block(9, 0, kHog, kIn)
                                  .Wake(10, 0, kApp, kIn)
                                  .Block(10, 0, kIn, kApp)
                                  .Wake(12, 0, kComp, kApp)
                                  .Block(12, 0, kApp, kComp)
                                  .Late(0, 10, 13, 7)
                                  .Passed({2, 12})
                                  .Build();
  EXPECT_THAT(
      TextsOf(recording),
      ElementsAre("in: running 0-3 cpu0",
                  "in: preempted 3-9 cpu0 higher_class [hog 3-9 higher_class]",
                  "in: running 9-10 cpu0", "app: running 10-12 cpu0", "comp: running 12-13 cpu0"));
  EXPECT_EQ(VerdictOf(recording), "hog preempted higher_class sufficient margin 3 complete in in");
}

// The next stage had not fallen asleep yet: nobody had to wake it.
//      0   2    6   8
// in   run |
// app  run | .. |           CPU 1
// comp          |run|
TEST(StagesTest, ANextStageThatIsAwakeHoldsTheFrameAtOnce) {
  const Recording recording = Chain(2)
                                  .Allowed({0, 1})
                                  .CpuSeed(0, 1, kApp)
                                  .Block(3, 0, kIn, 0)
                                  .Wake(6, 0, kComp, kApp)
                                  .Preempt(6, 0, 0, kComp)
                                  .Late(0, 7, 8, 8)
                                  .Passed({2, 6})
                                  .Build();
  EXPECT_THAT(TextsOf(recording), ElementsAre("in: running 0-2 cpu0", "app: running 2-6 cpu1",
                                              "comp: running 6-8 cpu0"));
}

// It falls asleep between the clock and the wake-up, and the hand-over ends that sleep.
TEST(StagesTest, ANextStageThatFallsAsleepMeanwhileDoesNotHoldTheFrame) {
  const Recording recording = Chain(2)
                                  .Allowed({0, 1})
                                  .CpuSeed(0, 1, kApp)
                                  .Block(3, 1, kApp, 0, kFutexWait)
                                  .Wake(5, 1, kApp, kIn)
                                  .Preempt(5, 1, 0, kApp)
                                  .Wake(6, 1, kComp, kApp)
                                  .Block(6, 1, kApp, kComp)
                                  .Late(0, 7, 8, 8)
                                  .Passed({2, 6})
                                  .Build();
  EXPECT_THAT(TextsOf(recording), ElementsAre("in: running 0-5 cpu0", "app: running 5-6 cpu1",
                                              "comp: running 6-8 cpu1"));
}

// The way from the waking to a runqueue is the receiver's.
TEST(StagesTest, DispatchOfTheHandOverIsTheReceivers) {
  const Recording recording = Chain(2)
                                  .Allowed({0, 1})
                                  .CpuSeed(0, 1, 0)
                                  .Waking(2, 0, kApp, kIn)
                                  .Wakeup(7, 1, kApp)
                                  .Preempt(7, 1, 0, kApp)
                                  .Wake(9, 1, kComp, kApp)
                                  .Block(9, 1, kApp, kComp)
                                  .Late(0, 8, 11, 7)
                                  .Passed({2, 9})
                                  .Build();
  EXPECT_THAT(TextsOf(recording),
              ElementsAre("in: running 0-2 cpu0", "app: wakeup_dispatch 2-7 cpu1",
                          "app: running 7-9 cpu1", "comp: running 9-11 cpu1"));
  EXPECT_EQ(VerdictOf(recording), "wakeup wakeup_dispatch sufficient margin 2 complete in app");
}

// A lock that the first stage let go of: an uninterruptible sleep is no wait for a frame.
TEST(StagesTest, ASleepOfTheNextStageThatIsNoHandOverIsItsOwn) {
  const Recording recording = Chain(2)
                                  .Allowed({0, 1})
                                  .CpuSeed(0, 1, kApp)
                                  .Block(4, 1, kApp, 0, 2)
                                  .Wake(9, 1, kApp, kIn)
                                  .Preempt(9, 1, 0, kApp)
                                  .Wake(10, 1, kComp, kApp)
                                  .Block(10, 1, kApp, kComp)
                                  .Late(0, 8, 12, 7)
                                  .Passed({2, 10})
                                  .Build();
  EXPECT_THAT(TextsOf(recording),
              ElementsAre("in: running 0-2 cpu0", "app: running 2-4 cpu1", "app: blocked 4-9 cpu1",
                          "app: running 9-10 cpu1", "comp: running 10-12 cpu1"));
}

// What a stage ran less than its part makes up for what another ran more: 4, 1 and 2 of 2, 3 and 2.
TEST(StagesTest, TheDemandIsOfAllStagesTogether) {
  const Recording recording = Chain()
                                  .Allowed({0})
                                  .Wake(4, 0, kApp, kIn)
                                  .Block(4, 0, kIn, kApp)
                                  .Wake(5, 0, kComp, kApp)
                                  .Block(5, 0, kApp, kComp)
                                  .Wake(6, 0, kHog)
                                  .Preempt(6, 0, kComp, kHog)
                                  .Block(10, 0, kHog, kComp)
                                  .Late(0, 8, 11, 7)
                                  .Passed({4, 5})
                                  .Build();
  EXPECT_THAT(CauseTexts(Explain(recording), kMs), ElementsAre("hog/preempted/displaced 4"));
}

// CPU 1 is idle all the while.
TEST(StagesTest, EachStageHasItsOwnAffinity) {
  const auto drawn = [](std::initializer_list<int32_t> of_app) {
    TraceBuilder builder = Chain(2);
    WithHog(builder)
        .Allowed({0})
        .CpuSeed(0, 1, 0)
        .Wake(2, 0, kApp, kIn)
        .Wake(2, 0, kHog)
        .Preempt(2, 0, kIn, kHog)
        .Block(10, 0, kHog, kApp)
        .Wake(12, 0, kComp, kApp)
        .Block(12, 0, kApp, kComp)
        .Late(0, 10, 14, 7)
        .Passed({2, 12});
    Stage& app = builder.recording().frames.stages[1];
    app.allowed_before = app.allowed_after = TraceBuilder::Cpus(of_app);
    return Explain(builder.Build()).misses.at(0).segments.at(1).avoidable_ns;
  };
  EXPECT_EQ(drawn({0, 1}), 8 * kMs);
  EXPECT_EQ(drawn({0}), 0);
}

// The application sleeps 5 ms on a timer of its own: that moves with it, so that the hog's time is
// saved whole.
TEST(StagesTest, EachStageHasItsOwnTimers) {
  TraceBuilder builder = Chain();
  const Recording recording = WithHog(builder)
                                  .Allowed({0})
                                  .Wake(2, 0, kApp, kIn)
                                  .Wake(2, 0, kHog)
                                  .Preempt(2, 0, kIn, kHog)
                                  .Block(6, 0, kHog, kApp)
                                  .TimerStart(7, 0, kApp, 12, false)
                                  .Block(7, 0, kApp, 0)
                                  .TimerExpire(12, 0, kApp, 12)
                                  .Wake(12, 0, kApp)
                                  .Preempt(12, 0, 0, kApp)
                                  .Wake(13, 0, kComp, kApp)
                                  .Block(13, 0, kApp, kComp)
                                  .Late(0, 12, 15, 7)
                                  .Passed({2, 13})
                                  .Build();
  EXPECT_THAT(TextsOf(recording), Contains("app: blocked 7-12 cpu0"));
  EXPECT_THAT(CauseTexts(Explain(recording), kMs),
              AllOf(Contains("self/blocked/- 5"), Contains("hog/runqueue_wait/higher_class 4")));
  EXPECT_EQ(VerdictOf(recording), "self blocked sufficient margin 2 complete in app");
  const Explanation explanation = Explain(recording);
  ASSERT_EQ(explanation.subjects.size(), 2u);
  for (const SubjectRow& row : explanation.subjects) EXPECT_EQ(row.frames_saved, 1) << row.subject;
}

TEST(StagesTest, AStageThatNobodySawIsUnknown) {
  const Recording recording = Chain()
                                  .Allowed({0})
                                  .Wake(2, 0, kComp, kApp)
                                  .Preempt(8, 0, kIn, kComp)
                                  .Late(0, 7, 9, 3)
                                  .Passed({2, 4})
                                  .Build();
  EXPECT_THAT(
      TextsOf(recording),
      ElementsAre("in: running 0-2 cpu0", testing::StartsWith("app: unknown 2-4"),
                  testing::StartsWith("comp: runqueue_wait 4-8"), "comp: running 8-9 cpu0"));
  EXPECT_EQ(Explain(recording).misses.at(0).verdict->confidence, Confidence::kIncomplete);
}

// The application passed the frame on at 6, and was not seen on a CPU then.
TEST(StagesTest, APassByAStageThatDidNotRunLeavesTheVerdictIncomplete) {
  const auto drawn = [](int64_t passed) {
    TraceBuilder builder = Chain();
    return WithHog(builder)
        .Allowed({0})
        .Wake(2, 0, kApp, kIn)
        .Block(2, 0, kIn, kApp)
        .Wake(4, 0, kHog)
        .Wake(4, 0, kComp, kApp)
        .Preempt(4, 0, kApp, kHog)
        .Block(9, 0, kHog, kComp)
        .Late(0, 7, 11, 6)
        .Passed({2, passed})
        .Build();
  };
  EXPECT_EQ(VerdictOf(drawn(4)),
            "hog runqueue_wait higher_class sufficient margin 1 complete in comp");
  EXPECT_EQ(Explain(drawn(6)).misses.at(0).verdict->confidence, Confidence::kIncomplete);
}

TEST(StagesTest, InstantsOfGeneratedChainsTileTheWindow) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    GeneratorOptions options;
    options.seed = seed;
    options.cpus = 1 + static_cast<int32_t>(seed % 4);
    options.stolen = seed % 2 == 0;
    options.asleep_at_release = seed % 3 == 0;
    const Recording recording = ThroughStages(GenerateTrace(options), seed);
    ASSERT_TRUE(HasUsableTimes(recording));
    const Explanation explanation = Explain(recording);
    ASSERT_THAT(BrokenInvariants(recording.frames, explanation), IsEmpty()) << "seed " << seed;
    // The stages come in their order, and no turn begins before its pass.
    size_t stage = 0;
    for (const Segment& segment : explanation.misses.at(0).segments) {
      while (segment.stage->tid != recording.frames.stages.at(stage).tid) ++stage;
      if (stage > 0) {
        EXPECT_GE(segment.start_ns, recording.frames.passed_ns[stage - 1]);
      }
    }
  }
}

}  // namespace
}  // namespace whylate
