#include "analysis/stats/frame_accounting.h"

#include <algorithm>
#include <cstdint>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

absl::StatusOr<FrameCounts> Count(CellFrames cell, bool has_unfinished) {
  cell.has_unfinished = has_unfinished;
  return CountFrames(cell);
}

using testing::HasSubstr;

// Releases at 0, 10, 20, 30, 40; the cell ends at 50.
CellFrames FiveReleases(Pacing pacing) {
  CellFrames cell;
  cell.pacing = pacing;
  cell.period = {10, 1};
  cell.end_ns = 50;
  return cell;
}

void AddFrame(CellFrames& cell, int64_t index, int64_t start_ns, int64_t completion_ns) {
  cell.frames.push_back({index, cell.ReleaseNs(index), start_ns, completion_ns, 0, 0});
}

//   0     10    20    30    40    50
//  [--)  [--)  [--)  [--)  [--)
TEST(CountFramesTest, AllMet) {
  CellFrames cell = FiveReleases(Pacing::kSkip);
  for (int64_t k = 0; k < 5; ++k) AddFrame(cell, k, 10 * k + 1, 10 * k + 4);
  EXPECT_THAT(Count(cell, false), IsOkAndHolds(FrameCounts{5, 5, 0, 0, 0}));
}

//   0     10    20    30    40    50
//  [--)  [--------------)  [--)        r2 and r3 dropped
TEST(CountFramesTest, ALateFrameDropsWhatItPassed) {
  CellFrames cell = FiveReleases(Pacing::kSkip);
  AddFrame(cell, 0, 1, 4);
  AddFrame(cell, 1, 11, 35);
  AddFrame(cell, 4, 41, 44);
  EXPECT_THAT(Count(cell, false), IsOkAndHolds(FrameCounts{5, 2, 1, 2, 0}));
}

//   0     10    20    30    40    50
//  [--)  [----)[--)  [--)  [--)        frame 1 ends as r2 is released: met
TEST(CountFramesTest, CompletionAtTheDeadlineIsMet) {
  CellFrames cell = FiveReleases(Pacing::kSkip);
  AddFrame(cell, 0, 1, 4);
  AddFrame(cell, 1, 11, 20);
  for (int64_t k = 2; k < 5; ++k) AddFrame(cell, k, 10 * k, 10 * k + 4);
  EXPECT_THAT(Count(cell, false), IsOkAndHolds(FrameCounts{5, 5, 0, 0, 0}));
}

//   0     10    20    30    40    50
//  [--)  [--)  [------------------------)   r3 and r4 dropped, nothing past the end
TEST(CountFramesTest, ALateFrameMayCompleteAfterTheEnd) {
  CellFrames cell = FiveReleases(Pacing::kSkip);
  AddFrame(cell, 0, 1, 4);
  AddFrame(cell, 1, 11, 14);
  AddFrame(cell, 2, 21, 77);
  EXPECT_THAT(Count(cell, false), IsOkAndHolds(FrameCounts{5, 2, 1, 2, 0}));
}

//   0     10    20    30    40    50
//  [--)  [--)  [ . . . .                frame 2 never completes: it, r3 and r4 are censored
TEST(CountFramesTest, AnUnfinishedFrameAndWhatItBlocksAreCensored) {
  CellFrames cell = FiveReleases(Pacing::kSkip);
  AddFrame(cell, 0, 1, 4);
  AddFrame(cell, 1, 11, 14);
  EXPECT_THAT(Count(cell, true), IsOkAndHolds(FrameCounts{2, 2, 0, 0, 3}));
}

TEST(CountFramesTest, NoFrameAtAllIsAllCensored) {
  EXPECT_THAT(Count(FiveReleases(Pacing::kSkip), true), IsOkAndHolds(FrameCounts{0, 0, 0, 0, 5}));
}

TEST(CountFramesTest, AnEmptyCellHasNothingDue) {
  CellFrames cell = FiveReleases(Pacing::kSkip);
  cell.end_ns = 0;
  EXPECT_THAT(Count(cell, false), IsOkAndHolds(FrameCounts{}));
}

//   0     10    20    30    40    50
//  [--)  [-------------)[)[)[)          a late step is never skipped
TEST(CountFramesTest, CarryDropsNothing) {
  CellFrames cell = FiveReleases(Pacing::kCarry);
  AddFrame(cell, 0, 1, 4);
  AddFrame(cell, 1, 11, 34);
  AddFrame(cell, 2, 34, 36);
  AddFrame(cell, 3, 36, 38);
  AddFrame(cell, 4, 40, 42);
  EXPECT_THAT(Count(cell, false), IsOkAndHolds(FrameCounts{5, 3, 2, 0, 0}));
}

TEST(CountFramesTest, BackToBackIsDueAsOftenAsItRan) {
  CellFrames cell = FiveReleases(Pacing::kBackToBack);
  cell.frames = {{0, 0, 1, 30, 0, 0}, {1, 30, 30, 49, 0, 0}, {2, 49, 49, 90, 0, 0}};
  EXPECT_THAT(Count(cell, false), IsOkAndHolds(FrameCounts{3, 3, 0, 0, 0}));
  EXPECT_THAT(Count(cell, true), IsOkAndHolds(FrameCounts{3, 3, 0, 0, 1}));
}

class ContradictionTest : public testing::Test {
 protected:
  void ExpectContradiction(const char* what) {
    EXPECT_THAT(Count(cell_, false),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(what)));
  }
  CellFrames cell_ = FiveReleases(Pacing::kSkip);
};

TEST_F(ContradictionTest, AReleaseIsMissing) {
  AddFrame(cell_, 0, 1, 4);
  AddFrame(cell_, 2, 21, 24);
  ExpectContradiction("frame 2 follows where 1 was due");
}

TEST_F(ContradictionTest, ASkippedReleaseWasRun) {
  AddFrame(cell_, 0, 1, 24);
  AddFrame(cell_, 1, 24, 26);
  ExpectContradiction("frame 1 follows where 3 was due");
}

TEST_F(ContradictionTest, AFrameAppearsTwice) {
  AddFrame(cell_, 0, 1, 4);
  AddFrame(cell_, 0, 1, 4);
  ExpectContradiction("frame 0 follows where 1 was due");
}

TEST_F(ContradictionTest, AFrameStartsBeforeItsRelease) {
  AddFrame(cell_, 0, 1, 4);
  AddFrame(cell_, 1, 9, 14);
  ExpectContradiction("frame 1 starts before its release");
}

TEST_F(ContradictionTest, AFrameCompletesBeforeItsStart) {
  AddFrame(cell_, 0, 4, 3);
  ExpectContradiction("completes before its start");
}

TEST_F(ContradictionTest, AReleaseIsNotAtItsInstant) {
  cell_.frames = {{0, 1, 2, 4, 0, 0}};
  ExpectContradiction("was not released at its instant");
}

TEST_F(ContradictionTest, ReleasesAreLeftAndNoFrameIsUnfinished) {
  AddFrame(cell_, 0, 1, 4);
  ExpectContradiction("of 5 releases 1 are accounted for");
}

TEST_F(ContradictionTest, MoreFramesThanReleases) {
  for (int64_t k = 0; k < 6; ++k) AddFrame(cell_, k, 10 * k + 1, 10 * k + 4);
  ExpectContradiction("of 5 releases 6 are accounted for");
}

// A workload that runs as frame_loop.h says, with random lengths, is conserved whatever happens.
TEST(CountFramesTest, ConservationHoldsForRandomCells) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    CellFrames cell = FiveReleases(round % 2 == 0 ? Pacing::kSkip : Pacing::kCarry);
    cell.period = {static_cast<int64_t>(7 + random() % 20), static_cast<int64_t>(1 + random() % 3)};
    cell.end_ns = 200;
    const bool finishes = random() % 4 != 0;
    const int64_t stop_ns = finishes ? INT64_MAX : static_cast<int64_t>(random() % 200);
    int64_t now_ns = 0;
    int64_t index = 0;
    while (index < cell.ReleaseCount() && now_ns < stop_ns) {
      const int64_t start_ns =
          std::max(now_ns, cell.ReleaseNs(index)) + static_cast<int64_t>(random() % 5);
      now_ns = start_ns + static_cast<int64_t>(random() % 30);
      AddFrame(cell, index, start_ns, now_ns);
      index += 1 + cell.SkippedReleases(cell.frames.back());
    }
    const bool unfinished = index < cell.ReleaseCount();
    const absl::StatusOr<FrameCounts> counts = Count(cell, unfinished);
    ASSERT_THAT(counts, IsOk());
    EXPECT_EQ(counts->due, counts->met + counts->late + counts->dropped);
    EXPECT_EQ(counts->due + counts->censored, cell.ReleaseCount());
    EXPECT_EQ(counts->met + counts->late, static_cast<int64_t>(cell.frames.size()));
  }
}

// Two of five releases run, one of them late, through two stages.
CellFrames ThroughTwoStages() {
  CellFrames cell = FiveReleases(Pacing::kSkip);
  cell.stages = {{"a", Tid{1}, 1, {}, {}}, {"b", Tid{2}, 1, {}, {}}};
  AddFrame(cell, 0, 1, 4);
  AddFrame(cell, 1, 11, 41);
  cell.passed_ns = {2, 15};
  cell.stage_cpu_ns = {0, 0, 0, 0};
  return cell;
}

TEST(CountFramesTest, AChainIsCountedAsAThread) {
  EXPECT_THAT(Count(ThroughTwoStages(), false), IsOkAndHolds(FrameCounts{5, 1, 1, 3, 0}));
}

TEST(CountFramesTest, FramesThatDidNotPassTheirStagesAreRefused) {
  CellFrames cell = ThroughTwoStages();
  cell.passed_ns[1] = 42;
  EXPECT_THAT(Count(cell, false), StatusIs(absl::StatusCode::kFailedPrecondition,
                                           HasSubstr("frame 1 did not pass its stages in order")));
  cell = ThroughTwoStages();
  cell.stage_cpu_ns[0] = 1;
  EXPECT_THAT(Count(cell, false),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("frame 0")));
  cell = ThroughTwoStages();
  cell.passed_ns.pop_back();
  EXPECT_THAT(Count(cell, false),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("stages")));
}

}  // namespace
}  // namespace whylate
