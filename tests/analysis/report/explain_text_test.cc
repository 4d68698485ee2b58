#include "analysis/report/explain_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report/causes_text.h"

namespace whylate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr int64_t kMs = 1'000'000;

// A 60 Hz frame, released at 100 ms, 20 ms long: it waits 12 ms behind burn and runs 8.
Cell VideoUnderBurn() {
  Cell cell;
  cell.workload = "video";
  cell.load = "burn";
  cell.frames.period = {1'000'000'000, 60};
  cell.frames.end_ns = 1000 * kMs;
  return cell;
}

Occupant Burn(int64_t from_ms, int64_t to_ms, int32_t tid = 7) {
  Occupant occupant;
  occupant.task = "burn-0";
  occupant.tid = Tid{tid};
  occupant.role = {RoleKind::kLoad, "burn"};
  occupant.cpu = CpuId{0};
  occupant.start_ns = from_ms * kMs;
  occupant.end_ns = to_ms * kMs;
  occupant.decision = Decision::kNoPreempt;
  return occupant;
}

Miss LateFrame() {
  Miss miss;
  miss.frame = {6, 100 * kMs, 112 * kMs, 120 * kMs, 8 * kMs, 8 * kMs};
  miss.deadline_ns = 116 * kMs;
  miss.dropped = 1;
  Segment wait;
  wait.kind = SegmentKind::kRunqueueWait;
  wait.start_ns = 100 * kMs;
  wait.end_ns = 112 * kMs;
  wait.cpu = CpuId{1};
  wait.decision = Decision::kNoPreempt;
  wait.avoidable_ns = 5 * kMs;
  wait.waker = "local_timer";
  wait.occupants = {Burn(100, 112)};
  Segment running;
  running.kind = SegmentKind::kRunning;
  running.start_ns = 112 * kMs;
  running.end_ns = 120 * kMs;
  running.cpu = CpuId{1};
  running.parts = {{PartKind::kIrq, kMs / 4, false, ""}};
  miss.segments = {wait, running};
  Verdict verdict;
  verdict.subject = "burn";
  verdict.subjects = {"burn"};
  verdict.kind = "runqueue_wait";
  verdict.decision = Decision::kNoPreempt;
  verdict.sufficient = true;
  verdict.margin_ns = 8 * kMs;
  miss.verdict = verdict;
  return miss;
}

TEST(ExplainMissTest, TellsTheWholeStory) {
  EXPECT_EQ(ExplainMiss(VideoUnderBurn(), LateFrame()),
            "video/burn frame 6: released 0.100 s into the cell, done 20.00 ms after its release,\n"
            "4.00 ms past its deadline; 1 release skipped\n"
            "\n"
            "   at ms    for ms  what\n"
            "   0.000    12.000  runqueue_wait on CPU 1: no_preempt, avoidable 5.00 ms, woken by "
            "local_timer\n"
            "            12.000    burn-0 (tid 7), load:burn on CPU 0: no_preempt\n"
            "  12.000     8.000  running on CPU 1  (of it 0.25 ms irq)\n"
            "\n"
            "verdict: burn kept the CPU (no_preempt). Without it the frame would have met its "
            "deadline by 8.00 ms.\n");
}

TEST(ExplainMissTest, SaysHowLateATimerFired) {
  Miss miss = LateFrame();
  Segment& late = miss.segments.front();
  late = Segment();
  late.kind = SegmentKind::kLateRelease;
  late.start_ns = 100 * kMs;
  late.end_ns = 112 * kMs;
  late.timer_expires_ns = 100 * kMs;
  late.timer_fired_ns = 111 * kMs;
  EXPECT_THAT(ExplainMiss(VideoUnderBurn(), miss),
              HasSubstr("late_release, its timer fired 11.00 ms late\n"));
}

TEST(ExplainMissTest, WithoutATraceItSaysSo) {
  Miss miss = LateFrame();
  miss.segments.clear();
  miss.verdict.reset();
  EXPECT_THAT(ExplainMiss(VideoUnderBurn(), miss),
              AllOf(StartsWith("video/burn frame 6:"), HasSubstr("no scheduler trace"),
                    Not(HasSubstr("verdict"))));
}

TEST(ExplainMissTest, ManyStretchesAreAddedUpByTask) {
  Miss miss = LateFrame();
  miss.segments[0].occupants.clear();
  for (int64_t ms = 100; ms < 116; ++ms) {
    miss.segments[0].occupants.push_back(Burn(ms, ms + 1, ms % 4 == 0 ? 8 : 7));
  }
  EXPECT_THAT(ExplainMiss(VideoUnderBurn(), miss),
              AllOf(HasSubstr("12.000    burn-0 (tid 7), load:burn on CPU 0: no_preempt, in 12 "),
                    HasSubstr(" 4.000    burn-0 (tid 8), load:burn on CPU 0: no_preempt, in 4 ")));
}

TEST(ExplainMissTest, HostileNamesDoNotSteerTheTerminal) {
  Cell cell = VideoUnderBurn();
  cell.load = "\x1b]0;x\a";
  Miss miss = LateFrame();
  miss.segments[0].occupants[0].task = "\x1b[2J";
  miss.segments[0].waker = "\x1b[1m";
  miss.segments[0].reason = "\n";
  const std::string text = ExplainMiss(cell, miss);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\a")));
}

Cell WithCauses(std::vector<CauseRow> causes) {
  Cell cell = VideoUnderBurn();
  cell.explanation.trace = TraceTotals{.source = "bpf"};
  cell.explanation.misses = {LateFrame()};
  cell.explanation.causes = std::move(causes);
  return cell;
}

TEST(CausesTextTest, IncompleteIsNeverAddedUp) {
  const Cell cell = WithCauses({{"burn", "preempted", Decision::kSlice, 17, 2, 1}});
  EXPECT_THAT(CausesText(cell), HasSubstr("17 (+2 incomplete) burn had its slice"));
  EXPECT_THAT(CausesText(cell), Not(HasSubstr("19")));
}

TEST(CausesTextTest, MostMissesFirstAndTheRestCounted) {
  std::vector<CauseRow> causes;
  for (int64_t frames = 8; frames >= 1; --frames) {
    causes.push_back({"t" + std::to_string(frames), "preempted", Decision::kSlice, frames, 5, 1});
  }
  const std::string text = CausesText(WithCauses(std::move(causes)));
  EXPECT_LT(text.find("8 (+5 incomplete) t8"), text.find("7 (+5 incomplete) t7"));
  EXPECT_THAT(text, HasSubstr("3 (+10 incomplete) by other causes"));  // t1 and t2
  EXPECT_THAT(text, Not(HasSubstr("t2 had")));
}

TEST(CausesTextTest, SaysNothingWhereNothingWasRecorded) {
  Cell cell = WithCauses({});
  cell.explanation.trace.reset();
  EXPECT_EQ(CausesText(cell), "");
}

TEST(CausesTextTest, SaysWhatWasLost) {
  Cell cell = WithCauses({});
  cell.explanation.misses.clear();
  cell.explanation.trace->lost = 5;
  EXPECT_EQ(CausesText(cell), "   trace incomplete: 5 events lost, 0 more not seen\n");
}

TEST(ExplainMissTest, AChainsTimelineSaysWhoseEachPartIs) {
  Miss miss = LateFrame();
  miss.segments[0].stage = {"desktop-app", Tid{8}};
  EXPECT_THAT(ExplainMiss(VideoUnderBurn(), miss), HasSubstr("  desktop-app: runqueue_wait"));
}

}  // namespace
}  // namespace whylate
