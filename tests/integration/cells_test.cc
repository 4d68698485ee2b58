// What a session measures and how it runs: conservation in every cell, where its processes live,
// what they are called, and the session directory that it leaves. On the real machine, as root.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/explain.h"
#include "analysis/import/perfetto.h"
#include "analysis/report/explanation_json.h"
#include "analysis/report/report.h"
#include "tests/support/explanation_checks.h"
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

std::string MissesOf(const CellFrames& frames, const Explanation& explanation) {
  nlohmann::ordered_json cell;
  AddExplanation(explanation, frames, cell);
  return cell.dump();
}

TEST(CellsTest, EachCellAccountsForEachFrameAndEveryRenderingSaysTheSame) {
  const ScratchDirectory scratch;
  const std::optional<PrivateMount> disk = PrivateMount::Disk(scratch, 600 << 20);
  const std::string out = scratch.File("session");
  const ProgramResult result =
      RunProgram({"run", "-W", "audio,video,x,gaming,desktop,custom", "-w", "none,burn,compile",
                  "-d", "300ms", "--cpu-percent", "20", "--interval", "10000", "--workdir",
                  disk ? disk->path() : scratch.path(), "-o", out, "--json"});
  EXPECT_EQ(result.exit_code, ExitCodeFor(ReadReport(out))) << result.err;
  const Json report = Json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(report.is_object()) << result.out;
  EXPECT_EQ(report["schema"], "whylate.report/1");
  EXPECT_TRUE(report["finished"].is_string());
  ASSERT_EQ(report["cells"].size(), 18U);
  for (const Json& cell : report["cells"]) CheckCell(cell);

  EXPECT_EQ(ReadText(out + "/report.json"), result.out);
  EXPECT_EQ(RunProgram({"report", out, "--format", "json"}).out, result.out);
  EXPECT_EQ(RunProgram({"report", out}).out, ReadText(out + "/report.txt"));
}

// Columns of a chain: when each stage but the last passed the frame on, and what it ran.
void CheckStages(const Json& cell) {
  SCOPED_TRACE(cell["load"].get<std::string>());
  const Json& samples = cell["samples"];
  const Json& stages = cell["stages"];
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[0]["demand_ns"].get<int64_t>() + stages[1]["demand_ns"].get<int64_t>() +
                stages[2]["demand_ns"].get<int64_t>(),
            samples["demand_ns"][0]);
  EXPECT_NE(stages[0]["tid"], stages[1]["tid"]);
  EXPECT_NE(stages[1]["tid"], stages[2]["tid"]);
  for (size_t i = 0; i < samples["frame"].size(); ++i) {
    EXPECT_LE(samples["start_ns"][i], stages[0]["passed_ns"][i]);
    EXPECT_LE(stages[0]["passed_ns"][i], stages[1]["passed_ns"][i]);
    EXPECT_LE(stages[1]["passed_ns"][i], samples["completion_ns"][i]);
    int64_t cpu_ns = 0;
    for (const Json& stage : stages) cpu_ns += stage["cpu_ns"][i].get<int64_t>();
    EXPECT_EQ(cpu_ns, samples["cpu_ns"][i].get<int64_t>());
  }
  for (const Json& miss : cell["misses"]) {
    EXPECT_FALSE(miss["verdict"].is_null() && !cell["trace"].is_null());
    for (const Json& segment : miss["segments"]) {
      EXPECT_THAT(segment["stage"]["name"].get<std::string>(),
                  AnyOf("desktop-input", "desktop-app", "desktop-comp"));
      // Nobody sleeps for lack of the frame in its own turn. The first stage may: until it is told
      // of the completion before.
      if (segment["kind"] == "blocked" && segment["waker"].is_string() &&
          segment["stage"]["name"] != "desktop-input") {
        EXPECT_FALSE(segment["waker"].get<std::string>().starts_with("desktop-")) << segment;
      }
    }
  }
}

TEST(CellsTest, AChainsFramesGoThroughItsStages) {
  const ScratchDirectory scratch;
  const std::string out = scratch.File("session");
  const ProgramResult result = RunProgram(
      {"run", "-W", "desktop", "-w", "none,burn", "-d", "2s", "-o", out, "--record", "all"});
  const Report report = ReadReport(out);
  EXPECT_EQ(result.exit_code, ExitCodeFor(report)) << result.err;
  const Json json = Json::parse(ReadText(out + "/report.json"), nullptr, false);
  ASSERT_EQ(json["cells"].size(), 2U);
  for (const Json& cell : json["cells"]) {
    CheckCell(cell);
    CheckStages(cell);
  }
  // The work is what it was calibrated to, or the cell says that the machine is too unsteady.
  const Cell& idle = report.cells[0];
  EXPECT_TRUE(std::abs(idle.classic.cpu_per_demand.value_or(0) - 1) <= 0.02 || !idle.valid());
  for (const Cell& cell : report.cells) {
    if (!cell.explanation.trace) continue;
    EXPECT_THAT(BrokenInvariants(cell.frames, cell.explanation), testing::IsEmpty());
    // The recording, read again, says the same of each miss.
    const absl::StatusOr<ImportedTrace> trace =
        ImportPerfetto(ReadText(out + "/" + cell.recording), ImportLimits());
    ASSERT_TRUE(trace.ok()) << trace.status();
    EXPECT_TRUE(HasUsableTimes(trace->recording));
    EXPECT_EQ(MissesOf(trace->recording.frames, Explain(trace->recording)),
              MissesOf(cell.frames, cell.explanation));
  }
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

TEST(CellsTest, PinsAndRenicesEachStageOfAChain) {
  const ScratchDirectory scratch;
  RunningProgram program({.arguments = {"run", "-W", "desktop", "-w", "none", "-c", "0", "-B", "3",
                                        "-d", "1s", "-o", scratch.File("session")}});
  for (const char* name : {"desktop-input", "desktop-app", "desktop-comp"}) {
    SCOPED_TRACE(name);
    std::optional<ThreadFacts> stage;
    ASSERT_TRUE(Eventually([&] {
      stage = FindThread(program.pid(), name);
      return program.HasEnded() || stage.has_value();
    }));
    ASSERT_TRUE(stage) << program.Wait().err;
    EXPECT_EQ(StatusOf(stage->thread, "Cpus_allowed_list"), "0");
    EXPECT_EQ(stage->nice, 3);
  }
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
