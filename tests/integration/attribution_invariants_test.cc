// What the program says of each late frame, over whole cells: its times tile, its sums are
// conserved, and under burn it is burn that is named. On the real machine, as root.
//
// Environment: WHYLATE_SECONDS of each cell (3), and WHYLATE_EXACT=1 for a quiet machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analysis/attribution/totals.h"
#include "analysis/report/report.h"
#include "tests/support/explanation_checks.h"
#include "tests/support/machine.h"
#include "tests/support/program.h"
#include "userspace/trace/bpf_source.h"

namespace whylate {
namespace {

using ::testing::IsEmpty;

bool Exact() {
  const char* exact = std::getenv("WHYLATE_EXACT");
  return exact != nullptr && std::string(exact) == "1";
}

std::string Duration() {
  const char* seconds = std::getenv("WHYLATE_SECONDS");
  return absl::StrCat(seconds != nullptr ? seconds : "3", "s");
}

// Of all late frames of a cell.
struct Sums {
  double unknown_percent = 0;
  int64_t complete = 0;
  int64_t wait_ns = 0;  // of complete verdicts
  int64_t burn_ns = 0;  // of it, burn's
};

Sums Sum(const Cell& cell) {
  Sums totals;
  totals.unknown_percent = TotalDelay(cell.explanation.misses).UnknownPercent();
  for (const Miss& miss : cell.explanation.misses) {
    if (miss.verdict->confidence != Confidence::kComplete) continue;
    ++totals.complete;
    totals.wait_ns += TotalDelay(miss).wait_ns;
    totals.burn_ns += OccupantNs(miss, "load:burn");
  }
  return totals;
}

// Of nothing, none: no claim holds because nothing happened.
double Percent(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

class AttributionInvariantsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    if (const absl::Status usable = BpfUsable(); !usable.ok()) GTEST_SKIP() << usable;
  }

  static Report Run(std::vector<std::string> arguments) {
    const ScratchDirectory scratch;
    const std::optional<PrivateMount> disk = PrivateMount::Disk(scratch, 600 << 20);
    const std::string out = scratch.File("session");
    for (const std::string& argument :
         {std::string("--workdir"), disk ? disk->path() : scratch.path(), std::string("-o"), out}) {
      arguments.push_back(argument);
    }
    arguments.insert(arguments.begin(), "run");
    const ProgramResult result = RunProgram(arguments);
    EXPECT_THAT(result.exit_code, testing::AnyOf(0, 3)) << result.err;
    return ReadReport(out);
  }

  static void Check(const Cell& cell) {
    const std::string title = absl::StrCat(cell.workload, "/", cell.load);
    ASSERT_TRUE(cell.explanation.trace) << title;
    EXPECT_EQ(cell.explanation.trace->lost, 0U) << title;
    EXPECT_THAT(BrokenInvariants(cell.frames, cell.explanation), IsEmpty()) << title;
    EXPECT_EQ(static_cast<int64_t>(cell.explanation.misses.size()), cell.counts.late) << title;
    const Sums totals = Sum(cell);
    const auto late = static_cast<int64_t>(cell.explanation.misses.size());
    std::cout << absl::StrFormat(
        "invariants cell=%s late=%d complete=%.1f%% burn_of_waiting=%.2f%% unknown=%.3f%%\n", title,
        late, Percent(totals.complete, late), Percent(totals.burn_ns, totals.wait_ns),
        totals.unknown_percent);
  }
};

TEST_F(AttributionInvariantsTest, VideoUnderBurnIsLateBecauseOfBurn) {
  const Report report = Run({"-W", "video", "-w", "burn", "-L", "8", "-d", Duration()});
  ASSERT_EQ(report.cells.size(), 1U);
  const Cell& cell = report.cells.front();
  ASSERT_NO_FATAL_FAILURE(Check(cell));
  const Sums totals = Sum(cell);
  const auto late = static_cast<int64_t>(cell.explanation.misses.size());
  EXPECT_GT(late, 0);
  EXPECT_GT(Percent(totals.burn_ns, totals.wait_ns), Exact() ? 95 : 50);
  EXPECT_LE(totals.unknown_percent, Exact() ? 0.5 : 10);
  EXPECT_GE(Percent(totals.complete, late), Exact() ? 90 : 60);
}

TEST_F(AttributionInvariantsTest, HoldsInEveryCell) {
  const Report report =
      Run({"-W", "audio,video,x,gaming", "-w", "burn,compile", "-L", "4", "-d", "2s"});
  ASSERT_EQ(report.cells.size(), 8U);
  for (const Cell& cell : report.cells) ASSERT_NO_FATAL_FAILURE(Check(cell));
}

}  // namespace
}  // namespace whylate
