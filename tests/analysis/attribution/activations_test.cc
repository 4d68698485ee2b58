// The worst activations of drawn traces, and their verdicts. Times are milliseconds.
#include "analysis/attribution/activations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/trace_builder.h"
#include "tests/support/trace_text.h"

namespace whylate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kMs = 1'000'000;
constexpr int32_t kW = 1;
constexpr int32_t kA = 10;
constexpr int32_t kB = 11;

TraceBuilder Drawn(int32_t cpus = 1) {
  TraceBuilder builder(cpus, kMs);
  builder.Name(kW, "W").Name(kA, "A").Name(kB, "B");
  return builder;
}

ActivationOptions Of(std::string task, std::optional<int64_t> deadline_ms = std::nullopt) {
  ActivationOptions options;
  options.task = std::move(task);
  if (deadline_ms) options.deadline_ns = *deadline_ms * kMs;
  return options;
}

std::string Text(const Activation& activation) {
  return absl::StrCat(activation.task, " ", activation.start_ns / kMs, "-", activation.end_ns / kMs,
                      " wait ", activation.wait_ns / kMs, ": ",
                      activation.verdict ? VerdictText(*activation.verdict, kMs) : "no verdict");
}

std::vector<std::string> Texts(const Analysis& analysis) {
  std::vector<std::string> texts;
  for (const Activation& activation : analysis.activations) texts.push_back(Text(activation));
  return texts;
}

// CPU 0  A ........ |5 B .. |7 W ... |10 A
// W      zz|1 wait           |run     |zz
TraceBuilder BehindTwo() {
  return Drawn()
      .CpuSeed(0, 0, kA)
      .Wake(1, 0, kW)
      .Wake(4, 0, kB)
      .Preempt(5, 0, kA, kB)
      .Block(7, 0, kB, kW)
      .Block(10, 0, kW, kA)
      .End(20);
}

TEST(ActivationsTest, WithoutADeadlineTheOneThatMadeItWaitMost) {
  const Analysis analysis = AnalyzeActivations(BehindTwo().Build(), Of("W"));
  EXPECT_THAT(Texts(analysis),
              ElementsAre("W 1-10 wait 6: A runqueue_wait no_preempt insufficient margin -2 "
                          "complete"));
  const Activation& activation = analysis.activations[0];
  EXPECT_EQ(activation.waking_ns, 1 * kMs);
  EXPECT_EQ(activation.running_ns, 7 * kMs);
  EXPECT_EQ(activation.late, std::nullopt);
  EXPECT_EQ(SegmentText(activation.segments[0], kMs),
            "runqueue_wait 1-7 cpu0 no_preempt [A 1-5 no_preempt] [B 5-7 no_preempt]");
}

TEST(ActivationsTest, WithADeadlineTheOneWhoseAbsenceWouldHaveBeenEnough) {
  EXPECT_THAT(Texts(AnalyzeActivations(BehindTwo().Build(), Of("W", 8))),
              ElementsAre("W 1-10 wait 6: A runqueue_wait no_preempt sufficient margin 3 "
                          "complete"));
  EXPECT_THAT(Texts(AnalyzeActivations(BehindTwo().Build(), Of("W", 4))),
              ElementsAre("W 1-10 wait 6: A & B runqueue_wait no_preempt sufficient margin 1 "
                          "complete"));
}

TEST(ActivationsTest, InTimeIsNoVerdict) {
  const Analysis analysis = AnalyzeActivations(BehindTwo().Build(), Of("W", 9));
  EXPECT_THAT(Texts(analysis), ElementsAre("W 1-10 wait 6: no verdict"));
  EXPECT_EQ(analysis.activations[0].late, false);
  EXPECT_EQ(analysis.activations[0].deadline_ns, 10 * kMs);
  EXPECT_EQ(analysis.late, 0);
}

TEST(ActivationsTest, ItsOwnRunIsLongerThanTheDeadline) {
  EXPECT_THAT(Texts(AnalyzeActivations(BehindTwo().Build(), Of("W", 2))),
              ElementsAre("W 1-10 wait 6: overload overload insufficient margin -7 complete"));
}

TEST(ActivationsTest, NoWaitIsNoVerdict) {
  const Recording recording =
      Drawn().Block(2, 0, kW, kA).Preempt(5, 0, kA, kW).Block(8, 0, kW, kA).Build();
  EXPECT_THAT(Texts(AnalyzeActivations(recording, Of("W"))),
              ElementsAre("W 0-2 wait 0: no verdict", "W 5-8 wait 0: no verdict"));
}

// Nothing is known of the CPU that it is queued on.
TEST(ActivationsTest, WithoutAWakingNobodyKnowsWhetherItWaited) {
  const Recording recording = Drawn()
                                  .Preempt(1, 0, kA, kW)
                                  .Block(2, 0, kW, kA)
                                  .Wake(3, 0, kW)
                                  .Preempt(3, 0, kA, kW)
                                  .Block(4, 0, kW, kA)
                                  .Build();
  const Analysis analysis = AnalyzeActivations(recording, Of("W"));
  EXPECT_THAT(Texts(analysis), ElementsAre("W 1-2 wait 0: no verdict", "W 3-4 wait 0: no verdict"));
  EXPECT_FALSE(analysis.activations[0].wait_known);
  EXPECT_TRUE(analysis.activations[1].wait_known);
}

TEST(ActivationsTest, AfterALossNobodyKnowsWhetherItWaited) {
  TraceBuilder builder = Drawn().CpuSeed(0, 0, kA).Wake(1, 0, kW);
  builder.Preempt(7, 0, kA, kW).Block(9, 0, kW, kA).Watch(kW).Late(1, 8, 9, 1);
  EXPECT_TRUE(AnalyzeActivations(builder.Build(), Of("")).activations.at(0).wait_known);
  builder.Loss(0, 1, 4);
  const Analysis frames = AnalyzeActivations(builder.Build(), Of(""));
  EXPECT_TRUE(frames.of_frames);
  EXPECT_FALSE(frames.activations.at(0).wait_known);
  const Analysis woken = AnalyzeActivations(builder.Build(), Of("", 1));
  EXPECT_FALSE(woken.of_frames);
  EXPECT_EQ(woken.activations.back().start_ns, 7 * kMs);
  EXPECT_FALSE(woken.activations.back().wait_known);
}

TEST(ActivationsTest, AWaitOnACpuNeverSeenIsUnknown) {
  const Recording recording = Drawn(2).CpuSeed(0, 0, kA).Wake(1, 1, kW).End(9).Build();
  EXPECT_THAT(Texts(AnalyzeActivations(recording, Of("W"))),
              ElementsAre("W 1-9 wait 8: unknown runqueue_wait undetermined sufficient margin 0 "
                          "incomplete"));
}

TEST(ActivationsTest, OneThatIsNotOverYetMayBeLateAlready) {
  const Recording recording = Drawn().CpuSeed(0, 0, kA).Wake(1, 0, kW).End(9).Build();
  EXPECT_EQ(AnalyzeActivations(recording, Of("W", 7)).activations[0].late, true);
  EXPECT_EQ(AnalyzeActivations(recording, Of("W", 8)).activations[0].late, std::nullopt);
}

TEST(ActivationsTest, AllTasksWorstWaitFirst) {
  const Analysis analysis = AnalyzeActivations(BehindTwo().Build(), ActivationOptions());
  EXPECT_THAT(Texts(analysis),
              ElementsAre("W 1-10 wait 6: A runqueue_wait no_preempt insufficient margin -2 "
                          "complete",
                          "A 0-20 wait 5: W preempted undetermined insufficient margin -2 complete",
                          "B 4-7 wait 1: A runqueue_wait no_preempt sufficient margin 0 complete"));
}

TEST(ActivationsTest, OnlyTheWorstAreExplainedAndAllAreCounted) {
  ActivationOptions options;
  options.worst = 1;
  const Analysis analysis = AnalyzeActivations(BehindTwo().Build(), options);
  ASSERT_EQ(analysis.activations.size(), 1u);
  EXPECT_EQ(analysis.activations[0].task, "W");
  EXPECT_EQ(analysis.total, 3);
  ASSERT_EQ(analysis.tasks.size(), 3u);
  EXPECT_EQ(analysis.tasks[0].task, "W");
  EXPECT_EQ(analysis.tasks[0].longest_wait_ns, 6 * kMs);
  ASSERT_EQ(analysis.subjects.size(), 2u);
  EXPECT_EQ(analysis.subjects[0].subject, "A");
  EXPECT_EQ(analysis.subjects[0].ns, 4 * kMs);
  EXPECT_EQ(analysis.subjects[1].subject, "B");
}

TEST(ActivationsTest, LateOnesAreChosenBeforeLongerWaits) {
  ActivationOptions options;
  options.worst = 1;
  options.deadline_ns = 12 * kMs;
  // A, unfinished, is the only one past 12 ms.
  EXPECT_EQ(AnalyzeActivations(BehindTwo().Build(), options).activations[0].task, "A");
}

TEST(ActivationsTest, ATaskByItsTid) {
  EXPECT_EQ(AnalyzeActivations(BehindTwo().Build(), Of("11")).activations[0].task, "B");
  EXPECT_THAT(AnalyzeActivations(BehindTwo().Build(), Of("nobody")).activations, IsEmpty());
}

TEST(ActivationsTest, TheIdleTaskHasNone) {
  const Recording recording = Drawn().CpuSeed(0, 0, 0).Wake(1, 0, kW).Preempt(2, 0, 0, kW).Build();
  EXPECT_THAT(AnalyzeActivations(recording, Of("0")).activations, IsEmpty());
}

// A slept before B's slice, or was queued all the time: without wake-ups nobody knows.
TEST(ActivationsTest, WithoutWakeupsNobodyIsSaidToHaveHadItsTurn) {
  const Recording recording = Drawn()
                                  .Preempt(1, 0, kB, kW)
                                  .Preempt(2, 0, kW, kA)
                                  .Block(4, 0, kA, kW)
                                  .Block(5, 0, kW, kB)
                                  .Build();
  EXPECT_THAT(Texts(AnalyzeActivations(recording, Of("W"))),
              ElementsAre("W 1-5 wait 2: A preempted undetermined sufficient margin 0 complete"));
}

// The same wait: the watched task's affinity is known, another's is not.
TEST(ActivationsTest, OnlyTheWatchedTasksWaitIsSurelyAvoidable) {
  TraceBuilder builder = Drawn(2).CpuSeed(0, 0, kA).CpuSeed(0, 1, 0).Allowed({0, 1});
  builder.Wake(1, 0, kW).Preempt(7, 0, kA, kW).Block(9, 0, kW, kA);
  const Recording other = builder.Build();
  EXPECT_EQ(AnalyzeActivations(other, Of("W")).activations[0].segments[0].avoidable_ns, 0);
  EXPECT_EQ(AnalyzeActivations(other, Of("W")).activations[0].segments[0].possibly_avoidable_ns,
            6 * kMs);
  const Recording watched = builder.Watch(kW).Build();
  EXPECT_EQ(AnalyzeActivations(watched, Of("W")).activations[0].segments[0].avoidable_ns, 6 * kMs);
}

TEST(ActivationsTest, ARecordingWithFramesIsExplainedByItsLateFrames) {
  const Recording recording = BehindTwo().Watch(kW).Late(1, 8, 10, 3).Build();
  const Analysis analysis = AnalyzeActivations(recording, ActivationOptions());
  EXPECT_TRUE(analysis.of_frames);
  EXPECT_THAT(Texts(analysis),
              ElementsAre("W 1-10 wait 6: A runqueue_wait no_preempt sufficient margin 2 "
                          "complete"));
  EXPECT_EQ(analysis.activations[0].deadline_ns, 8 * kMs);
  EXPECT_EQ(analysis.activations[0].running_ns, 7 * kMs);
  EXPECT_FALSE(AnalyzeActivations(recording, Of("B")).of_frames);
  const Analysis own_deadline = AnalyzeActivations(recording, Of("", 3));
  EXPECT_FALSE(own_deadline.of_frames);
  EXPECT_EQ(own_deadline.tasks.size(), 1u);  // the watched one
}

}  // namespace
}  // namespace whylate
