// Who kept W's sleep from ending. Times are milliseconds.
#include "analysis/attribution/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/attribution/explain.h"
#include "tests/support/trace_builder.h"
#include "tests/support/trace_text.h"

namespace whylate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kMs = 1'000'000;
constexpr int32_t kW = 1;
constexpr int32_t kHog = 12;
constexpr int32_t kH = 13;
constexpr int32_t kG = 14;

TraceBuilder Drawn() {
  TraceBuilder builder(2, kMs);
  builder.Watch(kW).Name(kW, "W").Load(kHog, "hog").Name(kH, "H").Name(kG, "G").Allowed({0});
  builder.Class(kHog, SchedClass::kRealTime, 50);
  return builder;
}

// "H runqueue_wait 2-4", by depth indented.
std::vector<std::string> ChainTexts(const Segment& segment) {
  std::vector<std::string> texts;
  for (const ChainLink& link : segment.chain) {
    texts.push_back(absl::StrCat(std::string(static_cast<size_t>(link.depth - 1), ' '), link.task,
                                 " ", ToString(link.kind), " ", link.start_ns / kMs, "-",
                                 link.end_ns / kMs));
  }
  return texts;
}

const Segment& Blocked(const Explanation& explanation) {
  for (const Segment& segment : explanation.misses.at(0).segments) {
    if (segment.kind == SegmentKind::kBlocked) return segment;
  }
  ADD_FAILURE() << "no sleep";
  return explanation.misses[0].segments[0];
}

//        0  2   4    6     9  10   12
// CPU 0  W..|-----asleep-------|W..|
// CPU 1     hog |H...|io....|H.|
Explanation HolderBehindHog() {
  TraceBuilder builder = Drawn();
  builder.CpuSeed(0, 0, kW)
      .CpuSeed(0, 1, kH)
      .Block(2, 0, kW, 0)
      .Preempt(2, 1, kH, kHog)
      .Block(4, 1, kHog, kH)
      .Block(6, 1, kH, 0, 2)
      .Waking(9, 1, kH)
      .With<WakingEvent>([](WakingEvent& e) {
        e.irq = 24;
        e.source_name = "virtio2-req.0";
      })
      .Wakeup(9, 1, kH)
      .Preempt(9, 1, 0, kH)
      .Wake(10, 0, kW, kH)
      .Preempt(10, 0, 0, kW)
      .Late(0, 11, 12, 4);
  return Explain(builder.Build());
}

TEST(ChainTest, HolderWaitsThenRunsThenReads) {
  const Explanation explanation = HolderBehindHog();
  EXPECT_THAT(CauseTexts(explanation, kMs),
              ElementsAre("H/blocked/- 3", "hog/blocked/higher_class 2", "io/blocked/- 3"));
  EXPECT_THAT(ChainTexts(Blocked(explanation)),
              ElementsAre("H preempted 2-4", "H running 4-6", "H blocked 6-9", "H running 9-10"));
  EXPECT_EQ(Blocked(explanation).chain[2].block_kind, BlockKind::kIo);
  EXPECT_EQ(Blocked(explanation).chain[2].waker, "irq 24 virtio2-req.0");
}

TEST(ChainTest, LinksHaveTheirOccupants) {
  const ChainLink wait = Blocked(HolderBehindHog()).chain[0];
  ASSERT_EQ(wait.occupants.size(), 1U);
  EXPECT_EQ(wait.occupants[0].task, "hog");
  EXPECT_EQ(wait.decision, Decision::kHigherClass);
}

// W asleep [2, 10): H ends it, which slept until G woke it at 8; G slept until its timer at 6.
TEST(ChainTest, FollowsTheWakersOwnWaker) {
  TraceBuilder builder = Drawn();
  builder.CpuSeed(0, 0, kW)
      .CpuSeed(0, 1, kH)
      .Block(2, 0, kW, 0)
      .Block(3, 1, kH, 0)
      .Waking(6, 1, kG)
      .With<WakingEvent>([](WakingEvent& e) { e.source_name = "local_timer"; })
      .Wakeup(6, 1, kG)
      .Preempt(6, 1, 0, kG)
      .Wake(8, 1, kH, kG)
      .Block(8, 1, kG, kH)
      .Wake(10, 0, kW, kH)
      .Preempt(10, 0, 0, kW)
      .Late(0, 11, 12, 4);
  const Explanation explanation = Explain(builder.Build());
  EXPECT_THAT(ChainTexts(Blocked(explanation)),
              ElementsAre("H running 2-3", " G blocked 3-6", " G running 6-8", "H running 8-10"));
  // A sleep of its own is G's to answer for.
  EXPECT_THAT(CauseTexts(explanation, kMs), ElementsAre("G/blocked/- 5", "H/blocked/- 3"));
}

// What H did before W slept is nobody's delay of W.
TEST(ChainTest, OnlyThePartWithinTheSleep) {
  TraceBuilder builder = Drawn();
  builder.CpuSeed(0, 0, kW)
      .CpuSeed(0, 1, kHog)
      .Wake(1, 1, kH)
      .Block(2, 0, kW, 0)
      .Block(5, 1, kHog, kH)
      .Wake(10, 0, kW, kH)
      .Preempt(10, 0, 0, kW)
      .Late(0, 11, 12, 4);
  EXPECT_THAT(CauseTexts(Explain(builder.Build()), kMs),
              ElementsAre("H/blocked/- 5", "hog/blocked/higher_class 3"));
}

// Near miss: an interrupt that came while H ran is not H.
TEST(ChainTest, AnInterruptEndsIt) {
  TraceBuilder builder = Drawn();
  builder.CpuSeed(0, 0, kW)
      .CpuSeed(0, 1, kH)
      .Block(2, 0, kW, 0)
      .Waking(9, 1, kW)
      .With<WakingEvent>([](WakingEvent& e) {
        e.waker = Tid{kH};
        e.source_name = "eth0";
      })
      .Wakeup(10, 0, kW)
      .Preempt(10, 0, 0, kW)
      .Late(0, 11, 12, 4);
  const Explanation explanation = Explain(builder.Build());
  EXPECT_THAT(CauseTexts(explanation, kMs),
              ElementsAre("irq eth0/blocked/- 7", "wakeup/wakeup_dispatch/- 1"));
  EXPECT_THAT(Blocked(explanation).chain, IsEmpty());
}

// Who was stopped has whoever let it go on; what that one did meanwhile is not why.
TEST(ChainTest, AStopIsNotFollowed) {
  TraceBuilder builder = Drawn();
  builder.CpuSeed(0, 0, kW)
      .CpuSeed(0, 1, kH)
      .Block(2, 0, kW, 0, 4)
      .Wake(10, 0, kW, kH)
      .Preempt(10, 0, 0, kW)
      .Late(0, 11, 12, 4);
  const Explanation explanation = Explain(builder.Build());
  EXPECT_THAT(Blocked(explanation).chain, IsEmpty());
  EXPECT_EQ(Blocked(explanation).block_kind, BlockKind::kStopped);
  EXPECT_THAT(CauseTexts(explanation, kMs), ElementsAre("H/blocked/- 8"));
}

// 0-2 preempted by burn, then the lock until 10: what burn took is lost in the sleep, and the lock's
// time alone is enough.
TEST(ChainTest, TheSleepAbsorbsWhatWasSavedBefore) {
  TraceBuilder builder = Drawn();
  builder.Name(20, "other").CpuSeed(0, 0, 20).CpuSeed(0, 1, kH);
  builder.Wake(0, 0, kW)
      .Preempt(2, 0, 20, kW)
      .Block(3, 0, kW, 0)
      .Wake(10, 0, kW, kH)
      .Preempt(10, 0, 0, kW)
      .Late(0, 11, 12, 3);
  const Explanation explanation = Explain(builder.Build());
  EXPECT_EQ(explanation.misses[0].verdict->subject, "H");
  for (const SubjectRow& row : explanation.subjects) {
    EXPECT_EQ(row.frames_saved, row.subject == "H" ? 1 : 0) << row.subject;
  }
}

// A waker of which the recording has lost what it did: unknown, and the verdict is not complete.
TEST(ChainTest, LostRecordsOfTheWakersCpu) {
  TraceBuilder builder = Drawn();
  builder.CpuSeed(0, 0, kW)
      .CpuSeed(0, 1, kH)
      .Block(2, 0, kW, 0)
      .Loss(1, 3, 9)
      .Wake(10, 0, kW, kH)
      .Preempt(10, 0, 0, kW)
      .Late(0, 11, 12, 4);
  const Explanation explanation = Explain(builder.Build());
  EXPECT_EQ(explanation.misses[0].verdict->confidence, Confidence::kIncomplete);
}

// Two tasks that wake each other all the time: each sleep is cut shorter, so it ends.
TEST(ChainTest, PingPongEnds) {
  TraceBuilder builder = Drawn();
  builder.CpuSeed(0, 0, kW).CpuSeed(0, 1, kH).Block(2, 0, kW, 0);
  int64_t at = 3;
  for (int i = 0; i < 100; ++i, at += 2) {
    builder.Wake(at, 1, kG, kH).Block(at, 1, kH, kG);
    builder.Wake(at + 1, 1, kH, kG).Block(at + 1, 1, kG, kH);
  }
  builder.Wake(at, 0, kW, kH).Preempt(at, 0, 0, kW).Late(0, 11, at + 2, 4);
  const Explanation explanation = Explain(builder.Build());
  int64_t ns = 0;
  for (const ChainLink& link : Blocked(explanation).chain) {
    ns += link.end_ns - link.start_ns;
    EXPECT_LE(link.depth, kMostHops);
  }
  EXPECT_EQ(ns, (at - 2) * kMs);
}

}  // namespace
}  // namespace whylate
