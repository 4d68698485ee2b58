#include "userspace/selftest/score.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace whylate {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kPeriodNs = 16 * kMs;
constexpr int64_t kDemandNs = 6 * kMs;

// A run of one late frame, number 0: released at 0, due at 16 ms, 6 ms of demand; and what was charged.
class RunBuilder {
 public:
  explicit RunBuilder(int64_t completion_ms) {
    Recording& recording = run_.recording;
    recording.frames.period = {kPeriodNs, 1};
    recording.frames.end_ns = 100 * kPeriodNs;
    Frame frame;
    frame.completion_ns = completion_ms * kMs;
    frame.cpu_ns = kDemandNs;
    frame.demand_ns = kDemandNs;
    recording.frames.frames = {frame};
    Miss miss;
    miss.frame = frame;
    miss.deadline_ns = kPeriodNs;
    miss.verdict.emplace();
    run_.explanation.misses = {miss};
    run_.explanation.trace.emplace();
  }

  // [begin, end) ms of waiting behind a load.
  RunBuilder& Waits(int64_t begin_ms, int64_t end_ms, const std::string& load) {
    Occupant occupant;
    occupant.role = {RoleKind::kLoad, load};
    occupant.start_ns = begin_ms * kMs;
    occupant.end_ns = end_ms * kMs;
    Segment segment = NewSegment(SegmentKind::kPreempted, begin_ms, end_ms);
    segment.occupants = {occupant};
    return Add(segment);
  }
  RunBuilder& Spends(SegmentKind kind, int64_t begin_ms, int64_t end_ms) {
    return Add(NewSegment(kind, begin_ms, end_ms));
  }
  RunBuilder& IsInterrupted(int64_t begin_ms, int64_t end_ms, int64_t softirq_ms) {
    Segment segment = NewSegment(SegmentKind::kRunning, begin_ms, end_ms);
    segment.parts.push_back({PartKind::kSoftirq, softirq_ms * kMs, false, ""});
    return Add(segment);
  }
  RunBuilder& Verdict(const std::string& subject, const std::string& kind) {
    whylate::Verdict& verdict = *miss().verdict;
    verdict.subjects.push_back(subject);
    verdict.subject = verdict.subject.empty() ? subject : verdict.subject + " & " + subject;
    verdict.kind = kind;
    verdict.margin_ns = kMs;
    return *this;
  }
  RunBuilder& Incomplete() {
    miss().verdict->confidence = Confidence::kIncomplete;
    return *this;
  }
  RunBuilder& Busy(const std::string& name, int64_t begin_ms, int64_t end_ms) {
    Injection& injection = Named(name);
    if (begin_ms < end_ms) injection.busy.push_back({begin_ms * kMs, end_ms * kMs});
    return *this;
  }
  RunBuilder& Has(const std::string& name, int64_t ms, Means means, const std::string& subject) {
    Injection& injection = Named(name);
    injection.amounts.emplace(0, Amount{ms * kMs, 1});
    injection.means = means;
    injection.subjects = {subject};
    return *this;
  }
  Injection& Named(const std::string& name) {
    for (Injection& injection : run_.injections) {
      if (injection.name == name) return injection;
    }
    run_.injections.push_back({});
    run_.injections.back().name = name;
    run_.injections.back().subjects = {name};
    return run_.injections.back();
  }
  Miss& miss() { return run_.explanation.misses.front(); }
  ScenarioRun& run() { return run_; }

 private:
  static Segment NewSegment(SegmentKind kind, int64_t begin_ms, int64_t end_ms) {
    Segment segment;
    segment.kind = kind;
    segment.start_ns = begin_ms * kMs;
    segment.end_ns = end_ms * kMs;
    return segment;
  }
  RunBuilder& Add(const Segment& segment) {
    miss().segments.push_back(segment);
    return *this;
  }

  ScenarioRun run_;
};

Proof Expecting(const std::string& name, const std::vector<std::string>& kinds) {
  Proof proof;
  proof.expected = {{name, kinds, {}}};
  return proof;
}

Score ScoreOf(RunBuilder& builder, const Proof& proof) {
  Score score;
  score.Add(builder.run(), proof);
  return score;
}

// 0 runs 3, 3 hog 17, 17 runs 20: late by 4 ms.
RunBuilder HogRun() {
  RunBuilder builder(20);
  builder.Waits(3, 17, "hog").Busy("hog", 3, 17);
  return builder;
}

TEST(ScoreTest, WhatWasDoneAndNamedIsRight) {
  RunBuilder builder = HogRun();
  builder.Verdict("hog", "preempted");
  const Score score = ScoreOf(builder, Expecting("hog", {"preempted"}));
  EXPECT_EQ(score.late, 1);
  EXPECT_EQ(score.injections, 1);
  EXPECT_EQ(score.injected_ns, 14 * kMs);
  EXPECT_EQ(score.named_ns, 14 * kMs);
  EXPECT_EQ(score.caused, 1);
  EXPECT_EQ(score.recalled, 1);
  EXPECT_THAT(score.confusion, ElementsAre(Pair("hog", 1)));
  EXPECT_THAT(score.wrong, IsEmpty());
  EXPECT_THAT(score.Unproven(Expecting("hog", {"preempted"}), true), IsEmpty());
}

TEST(ScoreTest, SkippedReleasesAreInTheConfusion) {
  RunBuilder builder = HogRun();
  builder.Verdict("hog", "preempted").miss().dropped = 2;
  EXPECT_THAT(ScoreOf(builder, Expecting("hog", {})).confusion, ElementsAre(Pair("hog", 3)));
}

TEST(ScoreTest, WhoHadTooLittleTimeIsWrong) {
  RunBuilder builder = HogRun();
  builder.Busy("burn", 17, 20).Verdict("burn", "preempted");
  EXPECT_THAT(ScoreOf(builder, Expecting("hog", {})).wrong,
              ElementsAre(HasSubstr("named burn (preempted): it had 3000 us")));
}

TEST(ScoreTest, WhoWasNotThereIsWrong) {
  RunBuilder builder = HogRun();
  builder.Busy("burn", 0, 0).Verdict("burn", "preempted");
  EXPECT_THAT(ScoreOf(builder, Proof()).wrong, ElementsAre(HasSubstr("burn was not there")));
}

TEST(ScoreTest, SomebodyElseCannotHaveHadTheTimeOfWhoWasBusyThere) {
  RunBuilder builder = HogRun();
  builder.Verdict("kworker", "preempted");
  EXPECT_THAT(ScoreOf(builder, Proof()).wrong, SizeIs(1));
}

TEST(ScoreTest, SomebodyElseMayHaveHadItWhereTheInjectorMayHaveBeenElsewhere) {
  RunBuilder builder = HogRun();
  builder.Named("hog").is_exclusive = false;
  builder.Verdict("kworker", "preempted");
  EXPECT_THAT(ScoreOf(builder, Proof()).wrong, IsEmpty());
}

TEST(ScoreTest, TheWrongKindIsWrong) {
  RunBuilder builder = HogRun();
  builder.Verdict("hog", "throttled");
  EXPECT_THAT(ScoreOf(builder, Expecting("hog", {"preempted", "runqueue_wait"})).wrong,
              ElementsAre(HasSubstr("not as throttled")));
}

TEST(ScoreTest, AnIncompleteVerdictIsNeverWrongAndNeverCountsAsNamed) {
  RunBuilder builder = HogRun();
  builder.Busy("burn", 0, 0).Verdict("burn", "preempted").Incomplete();
  const Score score = ScoreOf(builder, Expecting("hog", {}));
  EXPECT_THAT(score.wrong, IsEmpty());
  EXPECT_THAT(score.confusion, IsEmpty());
  EXPECT_EQ(score.incomplete_frames, 1);
  EXPECT_THAT(score.Unproven(Expecting("hog", {}), true), Contains("it is never named"));
}

TEST(ScoreTest, ACompleteVerdictThatTheLostCouldHaveChangedIsWrong) {
  RunBuilder builder = HogRun();
  builder.Verdict("hog", "preempted");
  builder.run().recording.losses = {{CpuId{0}, 1 * kMs, 2 * kMs + 1, 5}};
  EXPECT_THAT(ScoreOf(builder, Proof()).wrong, ElementsAre(HasSubstr("of events lost")));
  builder.run().recording.losses = {{CpuId{0}, 1 * kMs, 2 * kMs, 5}};
  EXPECT_THAT(ScoreOf(builder, Proof()).wrong, IsEmpty());
}

TEST(ScoreTest, OverloadIsRightWhereTheDemandIsAboveThePeriodAlone) {
  RunBuilder builder(20);
  builder.Verdict("overload", "overload");
  EXPECT_THAT(ScoreOf(builder, Proof()).wrong, ElementsAre(HasSubstr("below the period")));
  builder.miss().frame.demand_ns = 17 * kMs;
  EXPECT_THAT(ScoreOf(builder, Proof()).wrong, IsEmpty());
}

TEST(ScoreTest, WhatIsChargedBeyondTheInjectedIsNotCounted) {
  RunBuilder builder(20);
  builder.Waits(3, 17, "hog").Busy("hog", 4, 16).Verdict("hog", "preempted");
  const Score score = ScoreOf(builder, Expecting("hog", {}));
  EXPECT_EQ(score.injected_ns, 12 * kMs);
  EXPECT_EQ(score.named_ns, 12 * kMs);
}

// 97 %, or all but 300 us an injection.
TEST(ScoreTest, TooLittleIsShort) {
  RunBuilder builder(20);
  builder.Waits(3, 16, "hog").Busy("hog", 3, 17).Verdict("hog", "preempted");
  EXPECT_THAT(ScoreOf(builder, Expecting("hog", {})).short_named,
              ElementsAre(HasSubstr("hog had 14000 us, and was charged 13000 us")));
}

// One window that is short is not yet a scenario that is.
TEST(ScoreTest, AScenarioIsShortByAllOfItsTime) {
  Score score;
  score.late = 40;
  score.injections = 40;
  score.injected_ns = 400 * kMs;
  score.named_ns = 388 * kMs;
  score.short_named = {"frame 7"};
  EXPECT_FALSE(score.IsShort());
  score.named_ns -= 1 * kMs;
  EXPECT_TRUE(score.IsShort());
  EXPECT_THAT(score.Unproven(Proof(), true), ElementsAre("96.75 % of it is named"));
  score.injections = 44;
  EXPECT_FALSE(score.IsShort());
}

TEST(ScoreTest, AllButALittleAnInjectionIsEnough) {
  RunBuilder builder(20);
  builder.Waits(3, 4, "hog").Verdict("hog", "preempted");
  builder.Named("hog").busy = {{3 * kMs, 3 * kMs + 600'000}, {4 * kMs, 4 * kMs + 900'000}};
  EXPECT_THAT(ScoreOf(builder, Expecting("hog", {})).short_named, IsEmpty());
  builder.Named("hog").busy = {{3 * kMs, 4 * kMs + 310'000}};
  EXPECT_THAT(ScoreOf(builder, Expecting("hog", {})).short_named, SizeIs(1));
}

TEST(ScoreTest, EachMeansIsNamedByItsOwnTime) {
  RunBuilder builder(20);
  builder.Waits(0, 1, "hog")
      .Spends(SegmentKind::kThrottled, 1, 3)
      .Spends(SegmentKind::kBlocked, 3, 6)
      .IsInterrupted(6, 20, 4);
  Injection injection;
  injection.name = "hog";
  EXPECT_EQ(NamedNs(builder.miss(), injection), 1 * kMs);
  injection.means = Means::kThrottles;
  EXPECT_EQ(NamedNs(builder.miss(), injection), 2 * kMs);
  injection.means = Means::kBlocks;
  EXPECT_EQ(NamedNs(builder.miss(), injection), 0);
  builder.miss().segments[2].waker = "hog";
  EXPECT_EQ(NamedNs(builder.miss(), injection), 3 * kMs);
  injection.means = Means::kInterrupts;
  EXPECT_EQ(NamedNs(builder.miss(), injection), 4 * kMs);
}

TEST(ScoreTest, ADisksTimeIsNobodyElses) {
  RunBuilder builder(20);
  builder.Spends(SegmentKind::kBlocked, 3, 17);
  builder.miss().segments.front().block_kind = BlockKind::kIo;
  builder.miss().segments.front().waker = "hog";
  Injection injection;
  injection.name = "hog";
  injection.subjects = {"hog"};
  injection.means = Means::kBlocks;
  EXPECT_EQ(NamedNs(builder.miss(), injection), 0);
  injection.subjects = {"io"};
  EXPECT_EQ(NamedNs(builder.miss(), injection), 14 * kMs);
}

// W sleeps [3, 17) until the holder wakes it, who waits behind hog [3, 12) and runs [12, 17).
TEST(ScoreTest, InAChainEachHasItsOwnTime) {
  RunBuilder builder(20);
  builder.Spends(SegmentKind::kBlocked, 3, 17);
  ChainLink waits;
  waits.kind = SegmentKind::kPreempted;
  waits.role = {RoleKind::kLoad, "holder"};
  waits.start_ns = 3 * kMs;
  waits.end_ns = 12 * kMs;
  waits.occupants.resize(1);
  waits.occupants.front().role = {RoleKind::kLoad, "hog"};
  waits.occupants.front().start_ns = waits.start_ns;
  waits.occupants.front().end_ns = waits.end_ns;
  ChainLink runs = waits;
  runs.kind = SegmentKind::kRunning;
  runs.start_ns = 12 * kMs;
  runs.end_ns = 17 * kMs;
  runs.occupants.clear();
  builder.miss().segments.front().waker = "holder";
  builder.miss().segments.front().chain = {waits, runs};
  Injection injection;
  injection.name = "hog";
  EXPECT_EQ(NamedNs(builder.miss(), injection), 9 * kMs);
  injection.name = "holder";
  injection.means = Means::kBlocks;
  EXPECT_EQ(NamedNs(builder.miss(), injection), 5 * kMs);
}

// Burn has the CPU for 14 ms, and the workload is throttled in 5 of them.
TEST(ScoreTest, WhatDoesNotCountOfAnAccountIsTakenAway) {
  RunBuilder builder(20);
  builder.Spends(SegmentKind::kThrottled, 3, 8).Waits(8, 17, "burn");
  builder.Busy("burn", 3, 17).Has("quota", 5, Means::kThrottles, "quota");
  builder.Named("burn").amounts.emplace(0, Amount{-5 * kMs, 0});
  builder.Verdict("burn", "runqueue_wait");
  Proof proof = Expecting("burn", {"runqueue_wait"});
  proof.expected.push_back({"quota", {"throttled"}, {}});
  proof.split_ns = 100'000;
  const Score score = ScoreOf(builder, proof);
  EXPECT_EQ(score.injected_ns, 14 * kMs);
  EXPECT_EQ(score.named_ns, 14 * kMs);
  EXPECT_THAT(score.named_ns_of,
              UnorderedElementsAre(Pair("burn", 9 * kMs), Pair("quota", 5 * kMs)));
  EXPECT_THAT(score.badly_split, IsEmpty());
}

TEST(ScoreTest, WhatMayHaveBeenMoreIsNotWrong) {
  RunBuilder builder(20);
  builder.Spends(SegmentKind::kThrottled, 3, 8).Waits(8, 17, "burn").Busy("burn", 12, 17);
  builder.Named("burn").amounts.emplace(0, Amount{-4 * kMs, 0, 0});
  builder.Verdict("burn", "runqueue_wait");
  EXPECT_THAT(ScoreOf(builder, Proof()).wrong, ElementsAre(HasSubstr("it had 1000 us")));
  builder.Named("burn").amounts[0].unsure_ns = 4 * kMs;
  EXPECT_THAT(ScoreOf(builder, Proof()).wrong, IsEmpty());
}

// A host that stops a virtual CPU keeps the task on it from seeing that it has the CPU.
TEST(ScoreTest, CpuTimeThatAnAccountDidNotSeeIsNotWrong) {
  RunBuilder builder(20);
  builder.Waits(2, 16, "burn").Busy("burn", 2, 3).Busy("burn", 5, 6).Verdict("burn", "slice");
  EXPECT_THAT(ScoreOf(builder, Proof()).wrong, ElementsAre(HasSubstr("it had 2000 us")));
  Injection& burn = builder.Named("burn");
  for (const TimeWindow& time : burn.busy) burn.stamps.push_back({time, CpuId{0}, CpuId{0}});
  burn.stamps[1].unseen_ns = kMs;
  EXPECT_THAT(ScoreOf(builder, Proof()).wrong, ElementsAre(HasSubstr("it had 3000 us")));
  burn.stamps[1].unseen_ns = 2 * kMs;
  EXPECT_THAT(ScoreOf(builder, Proof()).wrong, IsEmpty());
  // No more than the time in which it was not seen.
  burn.busy = {{2 * kMs, 3 * kMs}, {3'500'000, 4 * kMs}};
  burn.stamps[1].time = burn.busy[1];
  burn.stamps[1].unseen_ns = 50 * kMs;
  EXPECT_THAT(ScoreOf(builder, Proof()).wrong, ElementsAre(HasSubstr("it had 2000 us")));
}

// Who watches the clock takes the host's time for his own.
TEST(ScoreTest, TheHostMayHaveHadWhatItTookOfAnAccount) {
  RunBuilder builder(20);
  builder.Waits(2, 16, "burn").Busy("burn", 2, 16).Verdict("steal", "preempted");
  EXPECT_THAT(ScoreOf(builder, Proof()).wrong, ElementsAre(HasSubstr("it had 0 us")));
  builder.run().host_ns = 4 * kMs;
  EXPECT_THAT(ScoreOf(builder, Proof()).wrong, IsEmpty());
}

TEST(ScoreTest, MoreStealThanTheHostTookIsWrong) {
  RunBuilder builder(20);
  builder.Verdict("self", "running");
  CauseRow steal;
  steal.subject = "steal";
  steal.ns = 5 * kMs;
  builder.run().explanation.causes = {steal};
  builder.run().host_ns = 5 * kMs;
  EXPECT_THAT(ScoreOf(builder, Proof()).wrong, IsEmpty());
  builder.run().host_ns = 4 * kMs;
  EXPECT_THAT(ScoreOf(builder, Proof()).wrong,
              ElementsAre("5000 us are charged to steal, and the host took 4000 us at most"));
}

TEST(ScoreTest, ASplitThatIsOffIsSeen) {
  RunBuilder builder(20);
  builder.Spends(SegmentKind::kThrottled, 3, 8).Has("quota", 5, Means::kThrottles, "quota");
  builder.Verdict("quota", "throttled");
  Proof proof = Expecting("quota", {});
  proof.split_ns = 100'000;
  EXPECT_THAT(ScoreOf(builder, proof).badly_split, IsEmpty());
  builder.miss().segments.front().end_ns += 100'001;
  EXPECT_THAT(ScoreOf(builder, proof).badly_split, SizeIs(1));
}

// Few are off by a little, none by much.
TEST(ScoreTest, HowExactSplitsMustBe) {
  Proof proof;
  proof.split_ns = 100'000;
  proof.needs_late_frames = false;
  Score score;
  score.splits = 20;
  score.badly_split.resize(1);
  EXPECT_THAT(score.Unproven(proof, true), IsEmpty());
  score.far_splits = 1;
  EXPECT_THAT(score.Unproven(proof, true), ElementsAre("split more than 300 us off in 1 windows"));
  score.far_splits = 0;
  score.splits = 19;
  EXPECT_THAT(score.Unproven(proof, true), ElementsAre("not split exactly in 1 of 19 windows"));
}

TEST(ScoreTest, FarSplitsAreCounted) {
  RunBuilder builder(20);
  builder.Spends(SegmentKind::kThrottled, 3, 8).Has("quota", 5, Means::kThrottles, "quota");
  builder.Verdict("quota", "throttled");
  Proof proof = Expecting("quota", {});
  proof.split_ns = 100'000;
  builder.miss().segments.front().end_ns += 300'000;
  EXPECT_EQ(ScoreOf(builder, proof).far_splits, 0);
  builder.miss().segments.front().end_ns += 1;
  EXPECT_EQ(ScoreOf(builder, proof).far_splits, 1);
}

TEST(ScoreTest, SubjectsAreKnownByTheirBeginnings) {
  RunBuilder builder(20);
  builder.IsInterrupted(0, 20, 14).Has("interrupts", 14, Means::kInterrupts, "softirq*");
  builder.Verdict("softirq NET_RX", "running");
  const Score score = ScoreOf(builder, Expecting("interrupts", {"running"}));
  EXPECT_THAT(score.wrong, IsEmpty());
  EXPECT_EQ(score.recalled, 1);
}

TEST(ScoreTest, WhoMustSaveNothing) {
  RunBuilder builder = HogRun();
  builder.Verdict("hog", "preempted");
  SubjectRow row;
  row.subject = "hog";
  row.frames_saved = 1;
  builder.run().explanation.subjects = {row};
  Proof proof;
  proof.saves_nothing = "hog";
  EXPECT_THAT(ScoreOf(builder, proof).Unproven(proof, true),
              ElementsAre("hog is said to save frames"));
}

TEST(ScoreTest, TheDecisionWithMostTimeMustBeOneOfThose) {
  RunBuilder builder = HogRun();
  builder.Verdict("hog", "preempted");
  CauseRow slice;
  slice.subject = "hog";
  slice.decision = Decision::kSlice;
  slice.ns = 2;
  CauseRow higher = slice;
  higher.decision = Decision::kHigherClass;
  higher.ns = 1;
  builder.run().explanation.causes = {slice, higher};
  Proof proof = Expecting("hog", {});
  proof.expected.front().decisions = {Decision::kHigherClass};
  EXPECT_THAT(ScoreOf(builder, proof).Unproven(proof, true), ElementsAre("hog is named as slice"));
  // On a machine that is not quiet nobody can ask for an idle CPU.
  EXPECT_THAT(ScoreOf(builder, proof).Unproven(proof, false), IsEmpty());
}

TEST(ScoreTest, WithoutALateFrameNothingIsProven) {
  EXPECT_THAT(Score().Unproven(Proof(), true), ElementsAre("no frame was late"));
  Proof proof;
  proof.needs_late_frames = false;
  EXPECT_THAT(Score().Unproven(proof, true), IsEmpty());
}

}  // namespace
}  // namespace whylate
