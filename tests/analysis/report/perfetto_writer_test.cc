#include "analysis/report/perfetto_writer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/explain.h"
#include "analysis/import/perfetto.h"
#include "analysis/model/perfetto_fields.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/perfetto_text.h"
#include "tests/support/random_recording.h"
#include "tests/support/status_matchers.h"
#include "tests/support/trace_builder.h"

namespace whylate {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

std::vector<std::string> LinesOf(const Recording& recording, bool explained = true) {
  const Explanation explanation = Explain(recording);
  return PacketLines(RecordingToPerfetto(recording, explained ? &explanation : nullptr));
}

// The lines between the one that begins with `head` and the next that is not indented.
std::vector<std::string> BundleOf(const std::vector<std::string>& lines, const std::string& head) {
  auto at = std::find(lines.begin(), lines.end(), head);
  std::vector<std::string> bundle;
  if (at == lines.end()) return bundle;
  for (++at; at != lines.end() && at->front() == ' '; ++at) bundle.push_back(*at);
  return bundle;
}

//        0        4    6   8   10           16
// CPU 0  W---------sleep-----burn waits.. W-W
TraceBuilder Woken() {
  TraceBuilder builder(1);
  builder.Watch(1)
      .Name(1, "W")
      .Load(2, "burn")
      .Block(1, 0, 1, 2)
      .Waking(4, 0, 1, 2)
      .Wakeup(4, 0, 1)
      .Preempt(8, 0, 2, 1)
      .Late(0, 10, 16, 6);
  return builder;
}

TEST(PerfettoWriterTest, LateFramesHoldTheirSegmentsAsSlices) {
  const std::vector<std::string> lines = LinesOf(Woken().Build());
  EXPECT_THAT(lines, IsSupersetOf({"begin 0 late frame 0, by 0.00 ms", "begin 0 running",
                                   "begin 1 blocked", "begin 8 running", "end 16"}));
}

TEST(PerfettoWriterTest, WithoutAnExplanationThereAreFramesAlone) {
  const std::vector<std::string> lines = LinesOf(Woken().Build(), false);
  EXPECT_THAT(lines, Contains("begin 0 frame 0"));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("running"))));
}

TEST(PerfettoWriterTest, AnArrowGoesFromTheWakerToTheWait) {
  const std::vector<std::string> lines = LinesOf(Woken().Build());
  EXPECT_THAT(lines, Contains("instant 4 burn leaves"));
  EXPECT_THAT(lines, Contains("begin 4 runqueue_wait: no_preempt arrives"));
}

// Task 3 came on unseen after 2: other tools get a switch that says so, and we do not.
// Each part of a chain's frame says whose it is, and has an arrow from who woke that thread.
TEST(PerfettoWriterTest, AChainsSegmentsAreNamedForTheirStages) {
  TraceBuilder builder(1);
  builder.Stage(1, "in")
      .Stage(2, "app")
      .CpuSeed(0, 0, 1)
      .Wake(3, 0, 2, 1)
      .Block(8, 0, 1, 2)
      .Late(0, 10, 16, 6)
      .Passed({3});
  const std::vector<std::string> lines = LinesOf(builder.Build());
  EXPECT_THAT(lines, IsSupersetOf({"begin 0 in: running", "instant 3 in leaves",
                                   "begin 3 app: runqueue_wait: no_preempt arrives",
                                   "begin 8 app: running"}));
}

TEST(PerfettoWriterTest, AHiddenSwitchIsShownAndNotReadBack) {
  const Recording recording = TraceBuilder(1)
                                  .Watch(1)
                                  .Switch(2, 0, 1, 2, SwitchOut::kRunnable)
                                  .Switch(9, 0, 3, 1, SwitchOut::kRunnable)
                                  .Build();
  const std::string trace = RecordingToPerfetto(recording, nullptr);
  EXPECT_THAT(trace, HasSubstr(perfetto::kHiddenSwitch));
  const absl::StatusOr<ImportedTrace> again = ImportPerfetto(trace, ImportLimits());
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->recording.events, recording.events);
}

TEST(PerfettoWriterTest, FactsFollowTheirEventAtOnce) {
  Recording recording = TraceBuilder(2)
                            .Watch(1)
                            .Switch(2, 0, 1, 2, SwitchOut::kThrottled)
                            .Switch(3, 1, 5, 6, SwitchOut::kRunnable)
                            .Switch(4, 0, 2, 1, SwitchOut::kThrottled)
                            .Build();
  const std::vector<std::string> lines = LinesOf(recording);
  EXPECT_THAT(BundleOf(lines, "cpu 0"),
              testing::ElementsAre("  2 4", "  2 whylate_switch", "  4 4", "  4 whylate_switch"));
  EXPECT_THAT(BundleOf(lines, "cpu 1"), Contains("  3 4"));
}

TEST(PerfettoWriterTest, OverlappingFramesAreOnTracksOfTheirOwn) {
  TraceBuilder builder(1);
  builder.Watch(1).Pace(Pacing::kCarry, 10, 30).Frame(0, 25, 5).Frame(1, 27, 5).Frame(2, 28, 5);
  const std::vector<std::string> lines = LinesOf(builder.Build());
  EXPECT_THAT(lines, IsSupersetOf({"track video frames", "track video frames, overlapping 1",
                                   "track video frames, overlapping 2"}));
}

TEST(PerfettoWriterTest, FramesOneAfterTheOtherShareATrack) {
  TraceBuilder builder(1);
  builder.Watch(1).Pace(Pacing::kSkip, 10, 30).Frame(0, 5, 5).Frame(1, 15, 5).Frame(2, 25, 5);
  EXPECT_THAT(LinesOf(builder.Build()), Not(Contains(HasSubstr("overlapping"))));
}

TEST(PerfettoWriterTest, LossesAreSlicesACounterAndAMarkOnTheBundle) {
  Recording recording = TraceBuilder(1).Watch(1).Loss(0, 3, 5).Preempt(6, 0, 1, 2).Build();
  recording.losses.front().count = 7;
  const std::vector<std::string> lines = LinesOf(recording);
  EXPECT_THAT(lines, IsSupersetOf({"begin 3 events lost", "end 5", "counter 3 7", "counter 5 0",
                                   "cpu 0 lost"}));
}

TEST(PerfettoWriterTest, OmittedStretchesAreSlices) {
  const Recording recording = TraceBuilder(1).Watch(1).Omitted(3, 5).Build();
  EXPECT_THAT(LinesOf(recording), IsSupersetOf({"begin 3 not recorded", "end 5"}));
}

TEST(PerfettoWriterTest, TheRecordingComesBeforeItsContents) {
  const std::vector<std::string> lines = LinesOf(Woken().Build());
  ASSERT_GE(lines.size(), 2u);
  EXPECT_THAT(lines[0], StartsWith("track whylate"));
  EXPECT_THAT(lines[1], HasSubstr("whylate_recording"));
}

TEST(PerfettoWriterTest, HostileNamesAreValidUtf8EverywhereInTheFile) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<std::string> lines =
        PacketLines(RecordingToPerfetto(MakeRandomRecording(seed, 300), nullptr));
    EXPECT_THAT(lines, Each(testing::Truly([](const std::string& line) {
                  return IsValidUtf8(line) && line.find('\x1b') == std::string::npos;
                })));
  }
  // Comms, of which the lines above have none.
  const std::string name = "\xff\xfe\x1b[31m";
  Recording recording = Woken().Name(2, name).Build();
  EXPECT_THAT(RecordingToPerfetto(recording, nullptr), Not(HasSubstr(name)));
}

}  // namespace
}  // namespace whylate
