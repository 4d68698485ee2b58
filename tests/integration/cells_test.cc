// What a session measures and how it runs: conservation in every cell, where its processes live,
// what they are called, and the session directory that it leaves. On the real machine, as root.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "tests/support/machine.h"
#include "tests/support/program.h"
#include "userspace/session/session_directory.h"

namespace whylate {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

int ExitCodeFor(const Report& report) {
  const bool valid = std::all_of(report.cells.begin(), report.cells.end(),
                                 [](const Cell& cell) { return cell.valid(); });
  return valid ? 0 : 3;
}

// Counts again from the columns what `frames` says.
void CheckPeriodicCell(const Json& cell) {
  const Json& samples = cell["samples"];
  const int64_t period_numerator_ns = cell["period"]["numerator_ns"];
  const int64_t period_denominator = cell["period"]["denominator"];
  int64_t late = 0;
  int64_t met = 0;
  int64_t last_index = -1;
  for (size_t i = 0; i < samples["frame"].size(); ++i) {
    const int64_t index = samples["frame"][i];
    EXPECT_GT(index, last_index);
    last_index = index;
    EXPECT_EQ(samples["release_ns"][i], index * period_numerator_ns / period_denominator);
    const int64_t deadline_ns = (index + 1) * period_numerator_ns / period_denominator;
    ++(samples["completion_ns"][i].get<int64_t>() > deadline_ns ? late : met);
  }
  EXPECT_EQ(cell["frames"]["late"], late);
  EXPECT_EQ(cell["frames"]["met"], met);
  EXPECT_FALSE(cell["deadlines_met_pct"].is_null() && cell["frames"]["due"] > 0);
  if (cell["workload"] == "x") {
    EXPECT_EQ(cell["frames"]["dropped"], 0);
  }
}

void CheckGamingCell(const Json& cell) {
  EXPECT_TRUE(cell["deadlines_met_pct"].is_null());
  EXPECT_EQ(cell["frames"]["late"], 0);
  EXPECT_EQ(cell["frames"]["dropped"], 0);
  EXPECT_EQ(cell["frames"]["met"], cell["samples"]["frame"].size());
}

void CheckCell(const Json& cell) {
  SCOPED_TRACE(cell["workload"].get<std::string>() + "/" + cell["load"].get<std::string>());
  const Json& frames = cell["frames"];
  EXPECT_EQ(frames["due"].get<int64_t>(), frames["met"].get<int64_t>() +
                                              frames["late"].get<int64_t>() +
                                              frames["dropped"].get<int64_t>());
  EXPECT_GT(frames["due"].get<int64_t>() + frames["censored"].get<int64_t>(), 0);
  const Json& samples = cell["samples"];
  for (const char* column : {"release_ns", "start_ns", "completion_ns", "cpu_ns"}) {
    EXPECT_EQ(samples[column].size(), samples["frame"].size()) << column;
  }
  for (size_t i = 0; i < samples["frame"].size(); ++i) {
    EXPECT_GE(samples["release_ns"][i].get<int64_t>(), 0);
    EXPECT_LT(samples["release_ns"][i].get<int64_t>(), cell["duration_ns"].get<int64_t>());
    EXPECT_LE(samples["release_ns"][i], samples["start_ns"][i]);
    EXPECT_LE(samples["start_ns"][i], samples["completion_ns"][i]);
  }
  // Without a trace there may be nothing to say about a late frame; else there is a row for each.
  if (!cell["trace"].is_null() || !cell["misses"].empty()) {
    EXPECT_EQ(cell["misses"].size(), frames["late"].get<size_t>());
  }
  EXPECT_EQ(cell["load_progress"].is_null(), cell["load"] == "none");
  EXPECT_EQ(cell["valid"].get<bool>(), cell["invalid"].empty());
  if (cell["workload"] == "gaming") {
    CheckGamingCell(cell);
  } else {
    CheckPeriodicCell(cell);
  }
}

TEST(CellsTest, EachCellAccountsForEachFrameAndEveryRenderingSaysTheSame) {
  const ScratchDirectory scratch;
  const std::optional<PrivateMount> disk = PrivateMount::Disk(scratch, 600 << 20);
  const std::string out = scratch.File("session");
  const ProgramResult result =
      RunProgram({"run", "-W", "audio,video,x,gaming,custom", "-w", "none,burn,compile", "-d",
                  "300ms", "--cpu-percent", "20", "--interval", "10000", "--workdir",
                  disk ? disk->path() : scratch.path(), "-o", out, "--json"});
  EXPECT_EQ(result.exit_code, ExitCodeFor(ReadReport(out))) << result.err;
  const Json report = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(report.is_object()) << result.out;
  EXPECT_EQ(report["schema"], "whylate.report/1");
  EXPECT_TRUE(report["finished"].is_string());
  ASSERT_EQ(report["cells"].size(), 15U);
  for (const Json& cell : report["cells"]) CheckCell(cell);

  EXPECT_EQ(ReadText(out + "/report.json"), result.out);
  EXPECT_EQ(RunProgram({"report", out, "--format", "json"}).out, result.out);
  EXPECT_EQ(RunProgram({"report", out}).out, ReadText(out + "/report.txt"));
}

TEST(CellsTest, PinsRenicesAndNamesItsThreadsAndNotItself) {
  const ScratchDirectory scratch;
  RunningProgram program(
      {.arguments = {"run", "-W", "audio", "-w", "burn+hack", "-L", "2", "-c", "0", "-B", "3", "-N",
                     "7", "-d", "1s", "-o", scratch.File("session")}});
  std::vector<ThreadFacts> threads;
  ASSERT_TRUE(Eventually([&] {
    threads = ThreadsBelow(program.pid());
    const auto has = [&](const std::string& name) {
      return std::any_of(threads.begin(), threads.end(),
                         [&](const ThreadFacts& thread) { return thread.name == name; });
    };
    return program.HasEnded() || (has("burn-1") && has("hack-79") && has("audio"));
  }));
  ASSERT_FALSE(program.HasEnded()) << program.Wait().err;
  int checked = 0;
  for (const ThreadFacts& thread : threads) {
    SCOPED_TRACE(thread.name);
    const std::string cpus = StatusOf(thread.thread, "Cpus_allowed_list");
    if (thread.name == "whylate-janitor") {
      EXPECT_EQ(cpus, StatusOf(getpid(), "Cpus_allowed_list"));
      continue;
    }
    EXPECT_EQ(cpus, "0");
    EXPECT_EQ(thread.nice, thread.name == "audio" ? 3 : 7);
    ++checked;
  }
  EXPECT_EQ(checked, 1 + (1 + 2) + (1 + 80));  // each load has a main thread too
  EXPECT_EQ(StatusOf(program.pid(), "Cpus_allowed_list"), StatusOf(getpid(), "Cpus_allowed_list"));
  EXPECT_THAT(program.Wait().exit_code, AnyOf(0, 3));
}

TEST(CellsTest, LoadsAndWorkloadStayInTheCallersSessionAndCgroups) {
  const ScratchDirectory scratch;
  const std::optional<PrivateMount> disk = PrivateMount::Disk(scratch, 600 << 20);
  RunningProgram program(
      {.arguments = {"run", "-W", "video", "-w", "memload+burn", "-d", "1s", "--workdir",
                     disk ? disk->path() : scratch.path(), "-o", scratch.File("session")}});
  ASSERT_TRUE(Eventually([&] {
    return program.HasEnded() ||
           (FindThread(program.pid(), "video") && FindThread(program.pid(), "burn-0") &&
            FindThread(program.pid(), "memload"));
  }));
  ASSERT_FALSE(program.HasEnded()) << program.Wait().err;
  for (const char* name : {"video", "burn-0", "memload"}) {
    SCOPED_TRACE(name);
    const std::optional<ThreadFacts> thread = FindThread(program.pid(), name);
    ASSERT_TRUE(thread);
    EXPECT_EQ(getsid(thread->process), getsid(0));
    EXPECT_EQ(CgroupsBesideMemory(thread->process), CgroupsBesideMemory(getpid()));
  }
  const std::optional<ThreadFacts> janitor = FindThread(program.pid(), "whylate-janitor");
  ASSERT_TRUE(janitor);
  EXPECT_EQ(getsid(janitor->process), janitor->process);
}

TEST(CellsTest, RepeatsTheWholeMatrix) {
  const ScratchDirectory scratch;
  const std::string out = scratch.File("session");
  const ProgramResult result =
      RunProgram({"run", "-W", "audio", "-w", "none,burn", "--repeat", "2", "-d", "100ms", "-o",
                  out, "--quiet", "--label", "mine", "-m", "a comment"});
  const Report report = ReadReport(out);
  EXPECT_EQ(result.exit_code, ExitCodeFor(report));
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, HasSubstr("label mine"));
  EXPECT_THAT(result.out, HasSubstr("a comment"));
  EXPECT_THAT(result.out, HasSubstr("burn #2"));
  std::vector<std::string> cells;
  for (const Cell& cell : report.cells) cells.push_back(cell.load + std::to_string(cell.run));
  EXPECT_THAT(cells, ElementsAre("none0", "burn0", "none1", "burn1"));
}

// Interrupts a session of three cells when one is finished.
void Interrupt(const std::string& out) {
  RunningProgram program(
      {.arguments = {"run", "-W", "audio", "-w", "none,burn,ring", "-d", "300ms", "-o", out}});
  ASSERT_TRUE(Eventually([&] {
    const absl::StatusOr<Report> report = ReadSessionReport(out);
    return program.HasEnded() || (report.ok() && report->cells.size() == 1);
  }));
  program.Signal(SIGINT);
  const ProgramResult result = program.Wait();
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_THAT(result.out, HasSubstr("not finished"));
}

TEST(CellsTest, ResumeEndsAnInterruptedSession) {
  const ScratchDirectory scratch;
  const std::string out = scratch.File("session");
  ASSERT_NO_FATAL_FAILURE(Interrupt(out));
  const Report before = ReadReport(out);
  ASSERT_LT(before.cells.size(), 3U);
  EXPECT_EQ(before.finished, "");

  const ProgramResult resumed = RunProgram({"run", "--resume", out});
  const Report after = ReadReport(out);
  EXPECT_EQ(resumed.exit_code, ExitCodeFor(after)) << resumed.err;
  EXPECT_NE(after.finished, "");
  ASSERT_EQ(after.cells.size(), 3U);
  EXPECT_EQ(after.cells[0].frames.origin_ns, before.cells[0].frames.origin_ns);
  EXPECT_EQ(after.cells[1].load, "burn");
  EXPECT_EQ(after.cells[2].load, "ring");
}

TEST(CellsTest, ResumeOfAFinishedSessionSaysSoAndChangesNothing) {
  const ScratchDirectory scratch;
  const std::string out = scratch.File("session");
  const ProgramResult result =
      RunProgram({"run", "-W", "audio", "-w", "none", "-d", "100ms", "-o", out});
  const std::string json = ReadText(out + "/report.json");
  const ProgramResult again = RunProgram({"run", "--resume", out});
  EXPECT_EQ(again.exit_code, result.exit_code);
  EXPECT_THAT(again.err, HasSubstr("finished"));
  EXPECT_EQ(again.out, result.out);
  EXPECT_EQ(ReadText(out + "/report.json"), json);
}

TEST(CellsTest, ResumeLeavesASessionAloneThatStillRuns) {
  const ScratchDirectory scratch;
  const std::string out = scratch.File("session");
  RunningProgram program(
      {.arguments = {"run", "-W", "audio", "-w", "none", "-d", "20s", "-o", out}});
  ASSERT_TRUE(Eventually([&] { return FindThread(program.pid(), "audio").has_value(); }));
  const ProgramResult other = RunProgram({"run", "--resume", out});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("still runs"));
  EXPECT_TRUE(FindThread(program.pid(), "audio"));
}

}  // namespace
}  // namespace whylate
