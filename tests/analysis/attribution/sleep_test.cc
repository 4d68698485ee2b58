// What a sleep of W was, and what it does to time saved before it. Times are milliseconds.
#include "analysis/attribution/sleep.h"

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
constexpr int32_t kH = 13;

TraceBuilder Drawn() {
  TraceBuilder builder(1, kMs);
  builder.Watch(kW).Name(kW, "W").Name(kA, "A").Name(kH, "H").Allowed({0});
  return builder;
}

// --- at the release: W sleeps from 0, the release is at 10, it is woken at 14 and runs to 20.

TraceBuilder AsleepAtRelease(uint32_t state, int32_t waker = 0) {
  TraceBuilder builder = Drawn();
  builder.CpuSeed(0, 0, kW)
      .Block(1, 0, kW, 0, state)
      .Wake(14, 0, kW, waker)
      .Preempt(14, 0, 0, kW)
      .Late(10, 18, 20, 6);
  return builder;
}

std::string FirstSegment(const TraceBuilder& builder) {
  return SegmentText(Explain(builder.Build()).misses.at(0).segments.at(0), kMs);
}

TEST(ReleaseSleepTest, APlainSleepThatNoTaskEnded) {
  EXPECT_EQ(FirstSegment(AsleepAtRelease(1)), "late_release 10-14 cpu0");
}

TEST(ReleaseSleepTest, ItsTimerWasArmedForTheRelease) {
  EXPECT_EQ(FirstSegment(AsleepAtRelease(1).TimerStart(0, 0, kW, 10, true)),
            "late_release 10-14 cpu0");
  EXPECT_EQ(
      FirstSegment(AsleepAtRelease(1).TimerStart(0, 0, kW, 10, true).TimerExpire(13, 0, kW, 10)),
      "late_release 10-14 cpu0");
}

// Near misses: stopped, frozen, in the middle of input or output, woken by a task, another timer.
TEST(ReleaseSleepTest, NotWhereItWaitsForSomethingElse) {
  EXPECT_EQ(FirstSegment(AsleepAtRelease(4, kA)), "blocked 10-14 cpu0");
  EXPECT_EQ(FirstSegment(AsleepAtRelease(0x8000, kA)), "blocked 10-14 cpu0");
  EXPECT_EQ(FirstSegment(AsleepAtRelease(2)), "blocked 10-14 cpu0");
  EXPECT_EQ(FirstSegment(AsleepAtRelease(1, kA)), "blocked 10-14 cpu0");
  EXPECT_EQ(FirstSegment(AsleepAtRelease(1).TimerStart(0, 0, kW, 14, true)), "blocked 10-14 cpu0");
  EXPECT_EQ(FirstSegment(AsleepAtRelease(1).TimerStart(0, 0, kW, 10, false)), "blocked 10-14 cpu0");
}

// It may have run in the meantime, and gone to sleep again.
TEST(ReleaseSleepTest, NothingIsKnownWhereRecordsWereLost) {
  const Recording recording = AsleepAtRelease(1).Loss(0, 11, 13).Build();
  const Miss miss = Explain(recording).misses.at(0);
  ASSERT_GE(miss.segments.size(), 3U);
  EXPECT_EQ(SegmentText(miss.segments[0], kMs), "late_release 10-11 cpu0");
  EXPECT_EQ(miss.segments[1].kind, SegmentKind::kUnknown);
  EXPECT_EQ(miss.segments[1].start_ns, 11 * kMs);
  EXPECT_EQ(miss.segments[1].end_ns, 13 * kMs);
  EXPECT_EQ(SegmentText(miss.segments[2], kMs), "late_release 13-14 cpu0");
  EXPECT_EQ(miss.verdict->confidence, Confidence::kIncomplete);
}

// --- in the frame: A has W's CPU 2-8, W runs to 9, sleeps to 13, runs to 16; demand 6, due at 10.

TraceBuilder SleepInFrame(uint32_t state, int32_t waker = 0) {
  TraceBuilder builder = Drawn();
  builder.CpuSeed(0, 0, kW)
      .Preempt(2, 0, kW, kA)
      .Preempt(8, 0, kA, kW)
      .Block(9, 0, kW, 0, state)
      .Wake(13, 0, kW, waker)
      .Preempt(13, 0, 0, kW)
      .Late(0, 10, 16, 6);
  return builder;
}

std::string VerdictOf(const TraceBuilder& builder) {
  return VerdictText(*Explain(builder.Build()).misses.at(0).verdict, kMs);
}

// Its own relative sleep moves with it: without A everything would be 6 earlier.
TEST(SleepTest, AnOwnRelativeSleepMoves) {
  const TraceBuilder builder =
      SleepInFrame(1).TimerStart(8, 0, kW, 13, false).TimerExpire(13, 0, kW, 13);
  EXPECT_EQ(VerdictOf(builder), "A preempted undetermined sufficient margin 0 complete");
}

TEST(SleepTest, AnOwnAbsoluteSleepAbsorbs) {
  TraceBuilder builder = SleepInFrame(1).TimerStart(8, 0, kW, 13, true).TimerExpire(13, 0, kW, 13);
  EXPECT_EQ(VerdictOf(builder), "A & self blocked sufficient margin 4 complete");
}

// A timer whose start has no record counts as absolute.
TEST(SleepTest, AnUnknownTimerCountsAsAbsolute) {
  EXPECT_EQ(VerdictOf(SleepInFrame(1).TimerExpire(13, 0, kW, 13)),
            "A & self blocked sufficient margin 4 complete");
}

// A timer that was armed in the run before and did not fire ended nothing.
TEST(SleepTest, ATimerThatDidNotFireIsNotTheReason) {
  EXPECT_EQ(VerdictOf(SleepInFrame(1, kH).TimerStart(8, 0, kW, 12, false)),
            "A & H blocked sufficient margin 4 complete");
}

TEST(SleepTest, InputAndOutputMove) {
  TraceBuilder builder = SleepInFrame(2);
  const Recording recording = builder.Build();
  EXPECT_EQ(VerdictText(*Explain(recording).misses[0].verdict, kMs),
            "A preempted undetermined sufficient margin 0 complete");
}

TEST(SleepTest, AStopAbsorbs) {
  EXPECT_EQ(VerdictOf(SleepInFrame(4, kH)), "A & H blocked sufficient margin 4 complete");
}

// An interrupt is never the task that it interrupted.
TEST(SleepTest, AnInterruptByItsName) {
  TraceBuilder builder = SleepInFrame(1);
  for (SchedEvent& event : builder.recording().events) {
    auto* waking = std::get_if<WakingEvent>(&event.body);
    if (waking == nullptr) continue;
    waking->waker = Tid{kA};
    waking->context = WakerContext::kSoftIrq;
    waking->source_name = "NET_RX";
  }
  const Explanation explanation = Explain(builder.Build());
  EXPECT_EQ(explanation.misses[0].segments[3].waker, "NET_RX");
  EXPECT_EQ(explanation.misses[0].verdict->subjects.front(), "NET_RX");
}

// Who woke it, from a context that is not known, is not known.
TEST(SleepTest, AnUnknownContextNamesNobody) {
  TraceBuilder builder = SleepInFrame(1, kH);
  for (SchedEvent& event : builder.recording().events) {
    auto* waking = std::get_if<WakingEvent>(&event.body);
    if (waking != nullptr) waking->context = WakerContext::kUnknown;
  }
  EXPECT_EQ(VerdictOf(builder), "A & unknown blocked sufficient margin 4 incomplete");
}

}  // namespace
}  // namespace whylate
