#include "analysis/import/timehist_text.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "analysis/attribution/activations.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/imported_waits.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int64_t kUs = 1000;

constexpr char kHead[] =
    "           time    cpu  task name                       wait time  sch delay   run time\n"
    "                        [tid/pid]                          (msec)     (msec)     (msec)\n"
    "--------------- ------  ------------------------------  ---------  ---------  ---------\n";

// The worst activation of `tid`.
Activation WorstOf(const ImportedTrace& trace, const char* tid) {
  ActivationOptions options;
  options.task = tid;
  const Analysis analysis = AnalyzeActivations(trace.recording, options);
  EXPECT_THAT(analysis.activations, Not(IsEmpty()));
  return analysis.activations.empty() ? Activation() : analysis.activations[0];
}

int64_t BehindNs(const Activation& activation, int32_t tid) {
  int64_t ns = 0;
  for (const Segment& segment : activation.segments) {
    for (const Occupant& occupant : segment.occupants) {
      if (occupant.tid == Tid{tid}) ns += occupant.end_ns - occupant.start_ns;
    }
  }
  return ns;
}

int64_t KnownNs(const Activation& activation) {
  int64_t ns = 0;
  for (const Segment& segment : activation.segments) {
    for (const Occupant& occupant : segment.occupants) {
      if (occupant.tid.has_value()) ns += occupant.end_ns - occupant.start_ns;
    }
  }
  return ns;
}

// CPU 1:  disk ----- 10.001 | radio --- 10.003; radio is queued 0.4 ms before it runs.
TEST(TimehistText, RowsThatTouchTellTheOccupant) {
  const auto trace = ImportTimehistText(
      absl::StrCat(kHead, "  10.001000 [0001]  disk[9]       0.000  0.000  0.900\n",
                   "  10.003000 [0001]  radio[7/5]    5.000  0.400  2.000\n"),
      ImportLimits());
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(trace->format, "perf sched timehist");
  const Activation radio = WorstOf(*trace, "7");
  EXPECT_EQ(radio.task, "radio");
  EXPECT_EQ(radio.wait_ns, 400 * kUs);
  EXPECT_EQ(radio.end_ns - *radio.running_ns, 2000 * kUs);
  EXPECT_EQ(BehindNs(radio, 9), 400 * kUs);
}

// As above, but disk left at 10.0008: from there nobody is known, and the idle task least of all.
TEST(TimehistText, BetweenRowsNobodyIsKnown) {
  const auto trace = ImportTimehistText(
      absl::StrCat(kHead, "  10.000800 [0001]  disk[9]       0.000  0.000  0.900\n",
                   "  10.003000 [0001]  radio[7/5]    5.000  0.400  2.000\n"),
      ImportLimits());
  ASSERT_THAT(trace, IsOk());
  const Activation radio = WorstOf(*trace, "7");
  EXPECT_EQ(radio.wait_ns, 400 * kUs);
  EXPECT_EQ(KnownNs(radio), 200 * kUs);
  EXPECT_EQ(BehindNs(radio, 9), 200 * kUs);
}

TEST(TimehistText, AloneARowIsAWaitWithoutAnOccupant) {
  const auto trace = ImportTimehistText(
      absl::StrCat(kHead, "  10.003000 [0001]  radio[7/5]    5.000  0.400  2.000\n"),
      ImportLimits());
  ASSERT_THAT(trace, IsOk());
  const Activation radio = WorstOf(*trace, "7");
  EXPECT_EQ(radio.wait_ns, 400 * kUs);
  EXPECT_EQ(KnownNs(radio), 0);
}

// radio, disk, radio: all of radio's wait is delay, so that it never slept.
TEST(TimehistText, ADelayAsLongAsTheWaitIsAPreemption) {
  const auto trace = ImportTimehistText(
      absl::StrCat(kHead, "  10.001000 [0001]  radio[7/5]    0.000  0.000  1.000\n",
                   "  10.002000 [0001]  disk[9]       3.000  0.100  1.000\n",
                   "  10.003000 [0001]  radio[7/5]    1.000  1.000  1.000\n"),
      ImportLimits());
  ASSERT_THAT(trace, IsOk());
  const Activation radio = WorstOf(*trace, "7");
  EXPECT_EQ(radio.wait_ns, 1000 * kUs);
  EXPECT_EQ(BehindNs(radio, 9), 1000 * kUs);
  EXPECT_THAT(radio.segments, Contains(testing::Field(&Segment::kind, SegmentKind::kPreempted)));
}

// CPU 1 was disk's all the time; on which CPU radio was queued no row tells.
TEST(TimehistText, OnAnotherQueueTheOccupantIsNotKnown) {
  std::string head(kHead);
  head.insert(head.find('\n'), "  pre-mig time");
  const auto trace = ImportTimehistText(
      absl::StrCat(head, "  10.001000 [0001]  disk[9]       0.000  0.000  0.900  0.000\n",
                   "  10.003000 [0001]  radio[7/5]    5.000  0.400  2.000  0.350\n",
                   "  10.003000 [0002]  other[8]      5.000  0.000  3.000  0.000\n"),
      ImportLimits());
  ASSERT_THAT(trace, IsOk());
  const Activation radio = WorstOf(*trace, "7");
  EXPECT_EQ(radio.wait_ns, 400 * kUs);
  EXPECT_EQ(KnownNs(radio), 0);
  EXPECT_THAT(trace->notes, Contains(AllOf(HasSubstr("radio (tid 7)"), HasSubstr("0.400 ms"),
                                           HasSubstr("0.350 of them"))));
}

TEST(TimehistText, CountsTheRowsOfEachKind) {
  const auto trace = ImportTimehistText(
      absl::StrCat(kHead, "  10.000100 [0001]  disk[9]       awakened: radio[7/5]\n",
                   "  10.000200 [0001]  disk[9]       migrated: radio[7/5] cpu 1 => 2\n",
                   "  10.001000 [0001]  disk[9]       0.000  0.000  1.000\n"),
      ImportLimits());
  ASSERT_THAT(trace, IsOk());
  EXPECT_THAT(trace->notes, Contains("3 rows: 1 stays on a CPU, 1 wake-ups, 1 migrations"));
  EXPECT_EQ(CountOf<MigrateEvent>(trace->recording), 1u);
}

// The idle task's rows are there with -I: then it is idle time.
TEST(TimehistText, IdleRowsTellIdleTime) {
  const auto trace = ImportTimehistText(
      absl::StrCat(kHead, "  10.001000 [0001]  disk[9]       0.000  0.000  1.000\n",
                   "  10.002000 [0001]  <idle>        0.000  0.000  1.000\n",
                   "  10.003000 [0001]  radio[7/5]    5.000  0.400  1.000\n"),
      ImportLimits());
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(BehindNs(WorstOf(*trace, "7"), 0), 400 * kUs);
}

TEST(TimehistText, ReadsQuotedMails) {
  const std::string text =
      absl::StrCat("> ", kHead, "> 10.003000 [0001]  radio[7/5]  5.000  0.400  2.000\n");
  EXPECT_TRUE(LooksLikeTimehistText(text));
  EXPECT_THAT(ImportTimehistText(text, ImportLimits()), IsOk());
}

TEST(TimehistText, ReadsAPrefix) {
  const std::string whole =
      absl::StrCat(kHead, "  10.001000 [0001]  disk[9]       0.000  0.000  0.900\n",
                   "  10.003000 [0001]  radio[7/5]    5.000  0.400  2.000\n");
  for (size_t length = 0; length < whole.size(); ++length) {
    const auto trace = ImportTimehistText(whole.substr(0, length), ImportLimits());
    if (trace.ok()) {
      EXPECT_EQ(trace->recording.end_ns, 10'001'000'001);
    } else {
      EXPECT_THAT(trace, StatusIs(absl::StatusCode::kInvalidArgument, Not(HasSubstr("\n"))));
    }
  }
}

TEST(TimehistText, IsToldByARow) {
  EXPECT_FALSE(LooksLikeTimehistText(kHead));
  EXPECT_FALSE(LooksLikeTimehistText("a 5/5 [000] 1.0: sched:sched_switch: x\n"));
  EXPECT_FALSE(LooksLikeTimehistText(""));
}

}  // namespace
}  // namespace whylate
