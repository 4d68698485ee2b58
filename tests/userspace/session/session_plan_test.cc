#include "userspace/session/session_plan.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "userspace/platform/scheduling.h"

namespace whylate {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::SizeIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr int64_t kSecond = 1000000000;

// Options that plan one cell, video/burn.
SessionOptions OneCell() {
  SessionOptions options;
  options.workloads = {"video"};
  options.loads = {"burn"};
  options.duration_ns = kSecond;
  return options;
}

std::vector<std::string> Titles(const SessionOptions& options) {
  std::vector<std::string> titles;
  const std::vector<CellPlan> cells = PlanCells(options).value();
  for (const CellPlan& cell : cells) titles.push_back(cell.title());
  return titles;
}

SessionOptions Filled(SessionOptions options) {
  EXPECT_THAT(FillFromPreset(options), IsOk());
  return options;
}

TEST(FillFromPresetTest, NothingGivenIsQuick) {
  const SessionOptions options = Filled({});
  EXPECT_EQ(options.preset, "quick");
  EXPECT_THAT(options.workloads, ElementsAre("audio", "video", "x", "gaming"));
  EXPECT_THAT(options.loads, ElementsAre("none", "burn", "compile", "memload"));
  EXPECT_EQ(options.duration_ns, 3 * kSecond);
}

TEST(FillFromPresetTest, Standard) {
  SessionOptions options;
  options.preset = "standard";
  options = Filled(options);
  EXPECT_THAT(options.loads, ElementsAre("none", "video", "x", "burn", "write", "read", "ring",
                                         "compile", "memload", "hack"));
  EXPECT_EQ(options.duration_ns, 10 * kSecond);
}

TEST(FillFromPresetTest, ClassicHasNoHack) {
  SessionOptions options;
  options.preset = "classic";
  options = Filled(options);
  EXPECT_THAT(options.loads, ElementsAre("none", "video", "x", "burn", "write", "read", "ring",
                                         "compile", "memload"));
  EXPECT_EQ(options.duration_ns, 30 * kSecond);
}

TEST(FillFromPresetTest, AnUnknownPresetIsAnsweredWithTheKnownOnes) {
  SessionOptions options;
  options.preset = "slow";
  EXPECT_THAT(
      FillFromPreset(options),
      StatusIs(kInvalid, AllOf(HasSubstr("'slow'"), HasSubstr("quick, standard, classic"))));
}

TEST(FillFromPresetTest, WhatIsGivenStays) {
  SessionOptions options;
  options.preset = "standard";
  options.workloads = {"video"};
  options.duration_ns = 5 * kSecond;
  options = Filled(options);
  EXPECT_THAT(options.workloads, ElementsAre("video"));
  EXPECT_EQ(options.duration_ns, 5 * kSecond);
  EXPECT_THAT(options.loads, SizeIs(10));
}

TEST(FillFromPresetTest, AMatrixOfTheUsersOwnHasTenSecondCells) {
  SessionOptions options;
  options.loads = {"burn"};
  options = Filled(options);
  EXPECT_EQ(options.preset, "");
  EXPECT_THAT(options.workloads, ElementsAre("audio", "video", "x", "gaming"));
  EXPECT_EQ(options.duration_ns, 10 * kSecond);
}

TEST(FillFromPresetTest, ACommandThatIsGivenIsRun) {
  SessionOptions options;
  options.load_command = "make -j8";
  EXPECT_THAT(Filled(options).loads, ElementsAre("command"));
  options.workloads = {"video"};
  EXPECT_THAT(Filled(options).loads, ElementsAre("command"));
}

TEST(PlanCellsTest, QuickIsSixteenCells) { EXPECT_THAT(Titles(Filled({})), SizeIs(16)); }

TEST(PlanCellsTest, APresetLeavesOutAWorkloadUnderItself) {
  SessionOptions options;
  options.preset = "classic";
  const std::vector<std::string> titles = Titles(Filled(options));
  EXPECT_THAT(titles, SizeIs(4 * 9 - 2));
  EXPECT_THAT(titles, testing::Not(testing::Contains("video/video")));
  EXPECT_THAT(titles, testing::Contains("x/video"));
}

TEST(PlanCellsTest, WhoAsksForAWorkloadUnderItselfGetsIt) {
  SessionOptions options = OneCell();
  options.loads = {"video"};
  EXPECT_THAT(Titles(options), ElementsAre("video/video"));
}

TEST(PlanCellsTest, ASessionWithoutCellsIsAMistake) {
  SessionOptions options = OneCell();
  options.preset = "quick";
  options.loads = {"video"};
  EXPECT_THAT(PlanCells(options), StatusIs(kInvalid, HasSubstr("no cell")));
}

TEST(PlanCellsTest, LoadsVaryWithinAWorkload) {
  SessionOptions options = OneCell();
  options.workloads = {"audio", "video"};
  options.loads = {"none", "burn+write"};
  EXPECT_THAT(Titles(options),
              ElementsAre("audio/none", "audio/burn+write", "video/none", "video/burn+write"));
}

TEST(PlanCellsTest, RepeatsAreOutermost) {
  SessionOptions options = OneCell();
  options.loads = {"none", "burn"};
  options.repeat = 2;
  const std::vector<CellPlan> cells = PlanCells(options).value();
  ASSERT_THAT(cells, SizeIs(4));
  EXPECT_EQ(cells[0].load, "none");
  EXPECT_EQ(cells[1].load, "burn");
  EXPECT_EQ(cells[1].run, 0);
  EXPECT_EQ(cells[2].load, "none");
  EXPECT_EQ(cells[2].run, 1);
}

TEST(PlanCellsTest, ALoadsPartsAreThere) {
  SessionOptions options = OneCell();
  options.loads = {"compile", "none"};
  const std::vector<CellPlan> cells = PlanCells(options).value();
  EXPECT_THAT(cells[0].parts, SizeIs(3));
  EXPECT_THAT(cells[1].parts, SizeIs(0));
}

class PlanErrorTest : public testing::Test {
 protected:
  void ExpectError(const std::string& what) const {
    EXPECT_THAT(PlanCells(options_), StatusIs(kInvalid, HasSubstr(what)));
  }
  SessionOptions options_ = OneCell();
};

TEST_F(PlanErrorTest, Duration) {
  for (const int64_t duration_ns :
       {int64_t{0}, int64_t{-1}, int64_t{99999999}, 86400 * kSecond + 1, INT64_MAX, INT64_MIN}) {
    options_.duration_ns = duration_ns;
    ExpectError("--duration");
  }
}

TEST_F(PlanErrorTest, LoadThreads) {
  for (const int32_t threads : {0, -1, 4097, INT32_MAX, INT32_MIN}) {
    options_.load_threads = threads;
    ExpectError(absl::StrCat("--load-threads ", threads, " is outside 1 to 4096"));
  }
}

TEST_F(PlanErrorTest, Repeat) {
  for (const int32_t repeat : {0, -1, 1001, INT32_MAX, INT32_MIN}) {
    options_.repeat = repeat;
    ExpectError(absl::StrCat("--repeat ", repeat));
  }
}

TEST_F(PlanErrorTest, Nice) {
  options_.bench_nice = 20;
  ExpectError("--bench-nice 20");
  options_.bench_nice = std::nullopt;
  options_.load_nice = -21;
  ExpectError("--load-nice -21");
}

TEST_F(PlanErrorTest, CpusThatAreNoList) {
  for (const char* cpus : {"a", "-1", "3-1", "0-99999", ","}) {
    options_.cpus = cpus;
    ExpectError("--cpus: ");
  }
}

TEST_F(PlanErrorTest, CpusThatAreNotThere) {
  options_.cpus = "8191";
  ExpectError("--cpus 8191 names a CPU that is not there");
}

TEST_F(PlanErrorTest, BufferSize) {
  for (const int64_t bytes : {int64_t{0}, int64_t{-1}, int64_t{4095}, INT64_MAX, INT64_MIN}) {
    options_.buffer_bytes = bytes;
    ExpectError("--buffer-size");
  }
}

TEST_F(PlanErrorTest, ValuesOfCustomAreCheckedThoughNoCustomRuns) {
  options_.cpu_percent = -5;
  ExpectError("--cpu-percent");
}

TEST_F(PlanErrorTest, Source) {
  options_.source = "rumour";
  ExpectError("--source");
}

TEST_F(PlanErrorTest, UnknownWorkload) {
  options_.workloads = {"video", "vidoe"};
  ExpectError("unknown workload 'vidoe'");
}

TEST_F(PlanErrorTest, UnknownLoad) {
  options_.loads = {"burn", "brun"};
  ExpectError("unknown load 'brun'");
}

TEST_F(PlanErrorTest, WorkloadTwice) {
  options_.workloads = {"video", "audio", "video"};
  ExpectError("workload 'video' is named twice");
}

TEST_F(PlanErrorTest, LoadTwice) {
  options_.loads = {"burn", "none", "burn"};
  ExpectError("load 'burn' is named twice");
}

TEST_F(PlanErrorTest, CustomWithoutItsValues) {
  options_.workloads = {"custom"};
  ExpectError("--cpu-percent");
  options_ = OneCell();
  options_.loads = {"custom"};
  ExpectError("--cpu-percent");
  options_.loads = {"burn+custom"};
  options_.cpu_percent = 5;
  options_.interval_us = 1;
  ExpectError("--interval 1");
}

TEST_F(PlanErrorTest, CommandWithoutItsLine) {
  options_.loads = {"burn+command"};
  ExpectError("--load-command");
}

TEST_F(PlanErrorTest, ACommandLineThatIsTooLong) {
  options_.loads = {"command"};
  options_.load_command = std::string(100000, 'x');
  ExpectError("--load-command");
}

TEST(PlanCellsTest, TheLimitsAreAllowed) {
  SessionOptions options = OneCell();
  options.duration_ns = kMinDurationNs;
  options.load_threads = kMaxLoadThreads;
  options.load_nice = 19;
  EXPECT_THAT(PlanCells(options), IsOk());
  options.duration_ns = kMaxDurationNs;
  options.repeat = kMaxRepeat;
  EXPECT_THAT(PlanCells(options), IsOkAndHolds(SizeIs(1000)));
}

TEST(PlanCellsTest, OurOwnCpusAreAllowed) {
  SessionOptions options = OneCell();
  options.cpus = GetAffinity(Tid{0})->ToString();
  EXPECT_THAT(PlanCells(options), IsOk());
}

TEST(ResolveLoadThreadsTest, AsTold) {
  SessionOptions options = OneCell();
  options.load_threads = 7;
  options.cpus = "0-1";
  EXPECT_THAT(ResolveLoadThreads(options), IsOkAndHolds(7));
}

TEST(ResolveLoadThreadsTest, OnePerCpuOfTheSession) {
  SessionOptions options = OneCell();
  options.cpus = "0-2,5";
  EXPECT_THAT(ResolveLoadThreads(options), IsOkAndHolds(4));
}

TEST(ResolveLoadThreadsTest, OnePerCpuThatWeMayUse) {
  EXPECT_THAT(ResolveLoadThreads(OneCell()), IsOkAndHolds(GetAffinity(Tid{0})->Count()));
}

TEST(EstimateNsTest, GrowsWithCellsAndDuration) {
  SessionOptions options = OneCell();
  EXPECT_EQ(EstimateNs(options, 0), 0);
  EXPECT_THAT(EstimateNs(options, 1), Gt(kSecond));
  EXPECT_EQ(EstimateNs(options, 10), 10 * EstimateNs(options, 1));
}

TEST(EstimateNsTest, TheLongestSessionDoesNotOverflow) {
  SessionOptions options = OneCell();
  options.duration_ns = kMaxDurationNs;
  EXPECT_GT(EstimateNs(options, 1000 * 50), 0);
}

}  // namespace
}  // namespace whylate
