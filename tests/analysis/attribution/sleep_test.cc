// What a sleep of W was, and what it does to time saved before it. Times are milliseconds.
#include "analysis/attribution/sleep.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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
  TraceBuilder builder(2, kMs);
  builder.Watch(kW).Name(kW, "W").Name(kA, "A").Name(kH, "H").Allowed({0});
  return builder.CpuSeed(0, 1, kH);  // where it runs all the time
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

TEST(ReleaseSleepTest, SaysWhenItsTimerFired) {
  const TraceBuilder builder =
      AsleepAtRelease(1).TimerStart(0, 0, kW, 10, true).TimerExpire(13, 0, kW, 10);
  const Segment late = Explain(builder.Build()).misses.at(0).segments.at(0);
  EXPECT_EQ(late.timer_expires_ns, 10 * kMs);
  EXPECT_EQ(late.timer_fired_ns, 13 * kMs);
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

// A freezer takes the state away from a task that sleeps: its timer expires and wakes nobody.
TEST(ReleaseSleepTest, NotWhereItOutlivedItsTimer) {
  const TraceBuilder frozen =
      AsleepAtRelease(1, kA).TimerStart(0, 0, kW, 10, true).TimerExpire(10, 0, kW, 10);
  const Miss miss = Explain(frozen.Build()).misses.at(0);
  EXPECT_EQ(SegmentText(miss.segments.at(0), kMs), "blocked 10-14 cpu0");
  EXPECT_EQ(miss.segments.at(0).block_kind, BlockKind::kFrozen);
  EXPECT_TRUE(miss.segments.at(0).chain.empty());
  EXPECT_EQ(miss.verdict->subject, "A");
}

// In PREEMPT_RT a thread of the kernel runs timers.
TEST(ReleaseSleepTest, ATimerMayWakeThroughATask) {
  EXPECT_EQ(FirstSegment(
                AsleepAtRelease(1, kA).TimerStart(0, 0, kW, 10, true).TimerExpire(14, 0, kW, 10)),
            "late_release 10-14 cpu0");
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
  for (SchedEvent& event : builder.recording().events) {
    if (auto* waking = std::get_if<WakingEvent>(&event.body)) waking->irq = 24;
  }
  EXPECT_EQ(VerdictOf(builder), "A preempted undetermined sufficient margin 0 complete");
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
  EXPECT_EQ(explanation.misses[0].segments[3].waker, "softirq NET_RX");
  EXPECT_EQ(explanation.misses[0].verdict->subjects.front(), "softirq NET_RX");
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

// --- what for: by the kernel's stack, by its mark, by the state.

TraceBuilder SleepToTen(std::vector<std::string> stack, bool in_iowait, uint32_t state,
                        int32_t waker) {
  TraceBuilder builder = Drawn();
  builder.CpuSeed(0, 0, kW)
      .Block(2, 0, kW, 0, state)
      .With<SwitchEvent>([&](SwitchEvent& e) {
        if (!stack.empty()) e.stack = 0;
        e.prev_in_iowait = in_iowait;
      })
      .Wake(10, 0, kW, waker)
      .Preempt(10, 0, 0, kW)
      .Late(0, 11, 12, 4);
  builder.recording().stacks = {std::move(stack)};
  return builder;
}

Segment SleepWith(std::vector<std::string> stack, bool in_iowait, uint32_t state, int32_t waker) {
  const TraceBuilder builder = SleepToTen(std::move(stack), in_iowait, state, waker);
  return Explain(builder.Build()).misses.at(0).segments.at(1);
}

TEST(BlockKindTest, InnermostFunctionThatSaysSomething) {
  EXPECT_EQ(SleepWith({"futex_wait_queue", "do_futex"}, false, 1, kH).block_kind, BlockKind::kLock);
  EXPECT_EQ(
      SleepWith({"io_schedule", "folio_wait_bit_common", "filemap_read"}, false, 2, 0).block_kind,
      BlockKind::kIo);
  EXPECT_EQ(SleepWith({"io_schedule", "folio_wait_bit_common", "filemap_fault", "handle_mm_fault"},
                      false, 2, 0)
                .block_kind,
            BlockKind::kFault);
  EXPECT_EQ(SleepWith({"pipe_read", "vfs_read"}, false, 1, kH).block_kind, BlockKind::kOther);
  // A lock that is taken on the way to a page is a lock.
  EXPECT_EQ(SleepWith({"rwsem_down_read_slowpath", "down_read", "handle_mm_fault"}, false, 2, kH)
                .block_kind,
            BlockKind::kLock);
}

TEST(BlockKindTest, WithoutAStackTheMarkOfAWaitForInput) {
  EXPECT_EQ(SleepWith({}, true, 2, kH).block_kind, BlockKind::kIo);
  EXPECT_EQ(SleepWith({}, false, 2, kH).block_kind, BlockKind::kOther);
  EXPECT_EQ(SleepWith({}, false, 1, 0).block_kind, BlockKind::kUnknown);
}

// Of a sleep that is not interruptible and ends by an interrupt: by which one.
BlockKind EndedBy(WakerContext context, std::optional<int32_t> irq, const std::string& source,
                  std::vector<std::string> stack = {}) {
  TraceBuilder builder = SleepToTen(std::move(stack), false, 2, 0);
  for (SchedEvent& event : builder.recording().events) {
    auto* waking = std::get_if<WakingEvent>(&event.body);
    if (waking == nullptr) continue;
    waking->context = context;
    waking->irq = irq;
    waking->source_name = source;
  }
  return Explain(builder.Build()).misses.at(0).segments.at(1).block_kind;
}

TEST(BlockKindTest, OnlyADevicesInterruptIsInput) {
  EXPECT_EQ(EndedBy(WakerContext::kHardIrq, 24, "virtio2-req.0"), BlockKind::kIo);
  EXPECT_EQ(EndedBy(WakerContext::kSoftIrq, {}, "BLOCK"), BlockKind::kIo);
  EXPECT_EQ(EndedBy(WakerContext::kHardIrq, {}, "call_function"), BlockKind::kUnknown);
  EXPECT_EQ(EndedBy(WakerContext::kSoftIrq, {}, "RCU"), BlockKind::kUnknown);
  // A wait for other CPUs: the stack says that it is none for a device.
  EXPECT_EQ(EndedBy(WakerContext::kHardIrq, 24, "virtio2-req.0",
                    {"wait_for_completion", "synchronize_rcu"}),
            BlockKind::kOther);
}

// What ended a stop or a freeze, not what that waited for.
TEST(BlockKindTest, StopsAndFreezesHaveNoChain) {
  const Segment frozen = SleepWith({"do_freezer_trap", "get_signal"}, false, 1, kH);
  EXPECT_EQ(frozen.block_kind, BlockKind::kFrozen);
  EXPECT_TRUE(frozen.chain.empty());
  const Segment stopped = SleepWith({"do_signal_stop", "get_signal"}, false, 1, kH);
  EXPECT_EQ(stopped.block_kind, BlockKind::kStopped);
  EXPECT_TRUE(stopped.chain.empty());
}

// A stops W, and H lets it go on.
TEST(BlockKindTest, AStopIsWhoseSignalItWas) {
  const auto subject_of = [](std::optional<Tid> by, uint32_t state = 4) {
    TraceBuilder builder = SleepToTen({}, false, state, kH);
    builder.Add(1, 1, StopEvent{Tid{kW}, by});
    const Miss miss = Explain(builder.Build()).misses.at(0);
    EXPECT_EQ(miss.segments.at(1).waker, "H");
    return miss.verdict->subject;
  };
  EXPECT_EQ(subject_of(Tid{kA}), "A");
  EXPECT_EQ(subject_of(Tid{kW}), "self");
  EXPECT_EQ(subject_of(std::nullopt), "H");
  // A tracer's stop is no signal's.
  EXPECT_EQ(subject_of(Tid{kA}, 8), "H");
}

TEST(BlockKindTest, StoppedAndFrozenByTheirStates) {
  EXPECT_EQ(SleepWith({}, false, 4, kH).block_kind, BlockKind::kStopped);
  EXPECT_EQ(SleepWith({}, false, 0x8000, kH).block_kind, BlockKind::kFrozen);
}

// Whoever brings the news of a page, it is the device that took its time.
TEST(BlockKindTest, InputHasNoChain) {
  const Segment sleep = SleepWith({"io_schedule", "filemap_read"}, true, 2, kH);
  EXPECT_TRUE(sleep.chain.empty());
  EXPECT_EQ(sleep.stack.front(), "io_schedule");
}

// A hostile recording.
TEST(BlockKindTest, AStackThatIsNotThere) {
  TraceBuilder builder = Drawn();
  builder.CpuSeed(0, 0, kW)
      .Block(2, 0, kW, 0)
      .With<SwitchEvent>([](SwitchEvent& e) { e.stack = 7; })
      .Wake(10, 0, kW, kH)
      .Preempt(10, 0, 0, kW)
      .Late(0, 11, 12, 4);
  EXPECT_TRUE(Explain(builder.Build()).misses.at(0).segments.at(1).stack.empty());
}

}  // namespace
}  // namespace whylate
