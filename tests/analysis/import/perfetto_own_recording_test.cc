#include "analysis/import/perfetto_own_recording.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "analysis/attribution/explain.h"
#include "analysis/import/perfetto.h"
#include "analysis/report/explanation_json.h"
#include "analysis/report/perfetto_sched.h"
#include "analysis/report/perfetto_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/explanation_checks.h"
#include "tests/support/random_recording.h"
#include "tests/support/status_matchers.h"
#include "tests/support/trace_builder.h"
#include "tests/support/trace_generator.h"

namespace whylate {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string JsonOf(const Recording& recording) {
  Json cell;
  AddExplanation(Explain(recording), recording.frames, cell);
  return cell.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A small machine with one late frame, which burn made late.
Recording Small() {
  TraceBuilder builder(2);
  return builder.Watch(1)
      .Name(1, "W")
      .Load(2, "burn")
      .Preempt(2, 0, 1, 2)
      .Preempt(8, 0, 2, 1)
      .Late(0, 10, 16, 6)
      .Build();
}

TEST(PerfettoOwnRecordingTest, GeneratedRecordingsAreTheSameAndSoIsTheirExplanation) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    GeneratorOptions options;
    options.seed = seed;
    options.cpus = 1 + static_cast<int32_t>(seed % 4);
    options.rt_workload = seed % 3 == 0;
    options.stolen = seed % 2 == 0;
    options.asleep_at_release = seed % 5 == 0;
    options.unit_ns = seed % 7 == 0 ? 1000 : 1;
    const Recording recording = GenerateTrace(options);
    const Explanation explanation = Explain(recording);
    const absl::StatusOr<ImportedTrace> trace =
        ImportPerfetto(RecordingToPerfetto(recording, &explanation), ImportLimits());
    ASSERT_THAT(trace, IsOk());
    EXPECT_EQ(Difference(recording, trace->recording), "") << "seed " << seed;
    EXPECT_EQ(JsonOf(recording), JsonOf(trace->recording)) << "seed " << seed;
    EXPECT_THAT(trace->notes, IsEmpty());
    EXPECT_TRUE(trace->has_frames);
    EXPECT_EQ(trace->format, "whylate recording");
  }
}

TEST(PerfettoOwnRecordingTest, ChainsAreTheSameAndSoIsTheirExplanation) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    GeneratorOptions options;
    options.seed = seed;
    options.stolen = seed % 2 == 0;
    const Recording recording = ThroughStages(GenerateTrace(options), seed);
    const Explanation explanation = Explain(recording);
    const absl::StatusOr<ImportedTrace> trace =
        ImportPerfetto(RecordingToPerfetto(recording, &explanation), ImportLimits());
    ASSERT_THAT(trace, IsOk());
    EXPECT_EQ(Difference(recording, trace->recording), "") << "seed " << seed;
    EXPECT_EQ(JsonOf(recording), JsonOf(trace->recording)) << "seed " << seed;
    EXPECT_TRUE(HasUsableTimes(trace->recording));
    EXPECT_THAT(trace->notes, IsEmpty());
  }
}

// A frame of which a stage's share is missing is no frame.
TEST(PerfettoOwnRecordingTest, AChainsFrameWithoutAStageIsBroken) {
  Recording recording = ThroughStages(GenerateTrace(GeneratorOptions()), 1);
  std::string bytes = RecordingToPerfetto(recording, nullptr);
  const size_t at = bytes.find("stage_cpu_ns");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'x';
  const absl::StatusOr<ImportedTrace> trace = ImportPerfetto(bytes, ImportLimits());
  ASSERT_THAT(trace, IsOk());
  EXPECT_THAT(trace->notes, Contains("0 of 1 frames are there"));
  EXPECT_TRUE(trace->recording.frames.HasWholeStages());
}

TEST(PerfettoOwnRecordingTest, AThousandStagesAreRefused) {
  Recording recording = Small();
  recording.frames.frames.clear();
  recording.frames.stages.resize(1000);
  EXPECT_THAT(ImportPerfetto(RecordingToPerfetto(recording, nullptr), ImportLimits()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1000 stages")));
}

TEST(PerfettoOwnRecordingTest, EveryKindOfEventComesBackWithAndWithoutItsFacts) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const Recording recording = MakeRandomRecording(seed, 200);
    const absl::StatusOr<ImportedTrace> trace =
        ImportPerfetto(RecordingToPerfetto(recording, nullptr), ImportLimits());
    ASSERT_THAT(trace, IsOk()) << "seed " << seed;
    ASSERT_EQ(Difference(recording, trace->recording), "") << "seed " << seed;
    EXPECT_THAT(trace->notes, IsEmpty());
  }
}

TEST(PerfettoOwnRecordingTest, SeveralStretchesComeBack) {
  const auto events = static_cast<int>(SchedEventWriter::kStretchEvents * 5 / 2);
  const Recording recording = MakeRandomRecording(7, events);
  const absl::StatusOr<ImportedTrace> trace =
      ImportPerfetto(RecordingToPerfetto(recording, nullptr), ImportLimits());
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(Difference(recording, trace->recording), "");
}

TEST(PerfettoOwnRecordingTest, EmptyRecordingComesBack) {
  const absl::StatusOr<ImportedTrace> trace =
      ImportPerfetto(RecordingToPerfetto(Recording(), nullptr), ImportLimits());
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(Difference(Recording(), trace->recording), "");
}

TEST(PerfettoOwnRecordingTest, PeriodicFramesAndDemandsComeBack) {
  Recording recording = Small();
  recording.frames.pacing = Pacing::kCarry;
  recording.frames.period = {1'000'000'000, 60};
  recording.frames.origin_ns = 5;
  recording.frames.end_ns = 1'000'000'005;
  recording.frames.demand_ns = {1, 0, std::numeric_limits<int64_t>::max()};
  const absl::StatusOr<ImportedTrace> trace =
      ImportPerfetto(RecordingToPerfetto(recording, nullptr), ImportLimits());
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(Difference(recording, trace->recording), "");
}

TEST(PerfettoOwnRecordingTest, PeriodsThatCannotBeAreRefused) {
  for (const Period& period : {Period{0, 1}, Period{1, 0}, Period{-5, 1}, Period{1, -1},
                               Period{std::numeric_limits<int64_t>::max(), 1}}) {
    Recording recording = Small();
    recording.frames.pacing = Pacing::kSkip;
    // Written without the late frame, whose deadline would be computed.
    recording.frames.frames.clear();
    recording.frames.end_ns = 100;
    recording.frames.origin_ns = 0;
    recording.frames.period = period;
    EXPECT_THAT(ImportPerfetto(RecordingToPerfetto(recording, nullptr), ImportLimits()),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("period")));
  }
}

TEST(PerfettoOwnRecordingTest, NewerFormatIsRefusedByName) {
  std::string bytes = RecordingToPerfetto(Small(), nullptr);
  const std::string name = "whylate_format";
  const size_t at = bytes.find(name);
  ASSERT_NE(at, std::string::npos);
  // The annotation's value: its tag, and the number.
  bytes[at + name.size() + 1] = 9;
  EXPECT_THAT(ImportPerfetto(bytes, ImportLimits()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("format 9")));
}

TEST(PerfettoOwnRecordingTest, CutAtEveryByteGivesAPrefixWithANoteOrALine) {
  const Recording recording = Small();
  const Explanation explanation = Explain(recording);
  const std::string whole = RecordingToPerfetto(recording, &explanation);
  for (size_t size = 0; size < whole.size(); ++size) {
    const absl::StatusOr<ImportedTrace> trace =
        ImportPerfetto(whole.substr(0, size), ImportLimits());
    if (!trace.ok()) {
      EXPECT_FALSE(trace.status().message().empty());
      continue;
    }
    EXPECT_FALSE(trace->notes.empty()) << "at " << size;
    EXPECT_LE(trace->recording.events.size(), recording.events.size());
  }
}

// What is not there must not be taken for what did not happen.
TEST(PerfettoOwnRecordingTest, CutFilesSayNothingElseWithConfidence) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    GeneratorOptions options;
    options.seed = seed;
    const Recording recording = GenerateTrace(options);
    const Explanation explanation = Explain(recording);
    ASSERT_EQ(explanation.misses.size(), 1u);
    const Verdict& verdict = *explanation.misses.front().verdict;
    const std::string whole = RecordingToPerfetto(recording, &explanation);
    for (size_t part = 1; part < 16; ++part) {
      const absl::StatusOr<ImportedTrace> trace =
          ImportPerfetto(whole.substr(0, whole.size() * part / 16), ImportLimits());
      if (!trace.ok() || trace->recording.frames.frames.empty()) continue;
      EXPECT_THAT(trace->notes, Contains(StartsWith("cut off after ")));
      const Explanation cut = Explain(trace->recording);
      EXPECT_THAT(BrokenInvariants(trace->recording.frames, cut), IsEmpty());
      const Verdict& now = *cut.misses.front().verdict;
      if (now.confidence != Confidence::kComplete) continue;
      EXPECT_EQ(now.subject, verdict.subject);
    }
  }
}

TEST(PerfettoOwnRecordingTest, FewerEventsThanTheFileHasAreSaid) {
  const Recording recording = MakeRandomRecording(3, 100);
  ImportLimits limits;
  limits.events = 10;
  const absl::StatusOr<ImportedTrace> trace =
      ImportPerfetto(RecordingToPerfetto(recording, nullptr), limits);
  ASSERT_THAT(trace, IsOk());
  EXPECT_THAT(trace->notes, Contains("only the first 10 of 100 events were read"));
  EXPECT_LE(trace->recording.events.size(), 10u);
}

TEST(PerfettoOwnRecordingTest, TwoRecordingsInOneFileAreNotMixed) {
  const Recording recording = Small();
  const std::string bytes = RecordingToPerfetto(recording, nullptr);
  const absl::StatusOr<ImportedTrace> trace = ImportPerfetto(bytes + bytes, ImportLimits());
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(Difference(recording, trace->recording), "");
  EXPECT_THAT(trace->notes, Contains(HasSubstr("several recordings")));
}

}  // namespace
}  // namespace whylate
