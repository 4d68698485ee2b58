// The proof of each load: it does what its name says, and nothing of it is left. On the real
// machine, as root; disk loads on a small disk of their own, whose device's counters see no one
// else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/support/machine.h"
#include "tests/support/program.h"
#include "userspace/platform/cgroup.h"

namespace whylate {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr std::chrono::seconds kGonePatience(5);

std::vector<std::string> Arguments(const std::string& loads, const std::string& duration,
                                   const std::string& out, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"run", "-W",     "audio", "-w", loads,
                                        "-d",  duration, "-o",    out};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// Asks `condition` of the load while it runs.
void WhileItRuns(RunningProgram& program, const std::function<bool()>& condition) {
  bool held = false;
  ASSERT_TRUE(Eventually([&] {
    held = held || condition();
    return held || program.HasEnded();
  }));
  ASSERT_TRUE(held) << program.Wait().err;
}

class LoadsTest : public testing::Test {
 protected:
  const ProgressPart& Part(const Report& report, size_t cell, size_t part) {
    static const ProgressPart kNone;
    if (report.cells.size() <= cell || !report.cells[cell].load_progress ||
        report.cells[cell].load_progress->parts.size() <= part) {
      ADD_FAILURE() << "no part " << part << " in cell " << cell;
      return kNone;
    }
    return report.cells[cell].load_progress->parts[part];
  }

  const ScratchDirectory scratch_;
  const std::string out_ = scratch_.File("session");
};

class DiskLoadsTest : public LoadsTest {
 protected:
  void SetUp() override {
    if (!disk_) GTEST_SKIP() << "no loop device can be mounted here";
  }
  const std::optional<PrivateMount> disk_ = PrivateMount::Disk(scratch_, 600 * kMiB);
};

TEST_F(DiskLoadsTest, ReadReadsFromTheDisk) {
  RunningProgram program(
      {.arguments = Arguments("read", "1s", out_, {"--workdir", disk_->path()})});
  int64_t asked_bytes = 0;
  int64_t disk_bytes = 0;
  WhileItRuns(program, [&] {
    const std::optional<ThreadFacts> load = FindThread(program.pid(), "read");
    if (!load) return false;
    disk_bytes = IoOf(load->process, "read_bytes");
    asked_bytes = IoOf(load->process, "rchar");
    return asked_bytes > 64 * kMiB;  // more than the file holds: it has been all round
  });
  EXPECT_GT(disk_bytes, asked_bytes / 2);
  EXPECT_LT(disk_bytes, asked_bytes * 2);
  EXPECT_GT(disk_->DeviceReadBytes(), asked_bytes / 2);
  program.Wait();
  const Report report = ReadReport(out_);
  const ProgressPart& part = Part(report, 0, 0);
  EXPECT_EQ(part.unit, "bytes");
  EXPECT_GT(part.total, 0U);
  EXPECT_GT(part.disk_bytes.value_or(0), static_cast<int64_t>(part.total) / 2);
  EXPECT_LT(part.disk_bytes.value_or(0), static_cast<int64_t>(part.total) * 2 + 16 * kMiB);
}

TEST_F(DiskLoadsTest, WriteWritesToTheDisk) {
  const int64_t before_bytes = disk_->DeviceWrittenBytes();
  RunProgram(Arguments("write", "1s", out_, {"--workdir", disk_->path()}));
  const int64_t written_bytes = disk_->DeviceWrittenBytes() - before_bytes;
  EXPECT_GT(written_bytes, 16 * kMiB);
  const Report report = ReadReport(out_);
  const ProgressPart& part = Part(report, 0, 0);
  EXPECT_EQ(part.unit, "bytes");
  EXPECT_GT(part.total, 0U);
  ASSERT_TRUE(part.disk_bytes);
  EXPECT_LE(*part.disk_bytes, written_bytes);
  EXPECT_EQ(report.cells[0].valid(), *part.disk_bytes > 0);
}

TEST_F(DiskLoadsTest, MemloadReclaimsAndIsNotKilled) {
  RunningProgram program(
      {.arguments = Arguments("memload", "1s", out_, {"--workdir", disk_->path()})});
  std::string cgroup;
  WhileItRuns(program, [&] {
    VisitOurCgroups([&](const std::string& path) {
      if (absl::EndsWith(path, program.run_id())) cgroup = path;
    });
    return !cgroup.empty() && FindThread(program.pid(), "memload") &&
           (absl::StrContains(ReadText(cgroup + "/cgroup.procs"), "\n"));
  });
  WhileItRuns(program, [&] {
    const bool version1 = access((cgroup + "/memory.failcnt").c_str(), F_OK) == 0;
    return version1 ? ReadText(cgroup + "/memory.failcnt") != "0\n"
                    : !absl::StrContains(ReadText(cgroup + "/memory.events"), "\nmax 0\n");
  });
  const ProgramResult result = program.Wait();
  const Report report = ReadReport(out_);
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(report.cells[0].invalid, ElementsAre());  // an OOM kill would stand here
  EXPECT_EQ(Part(report, 0, 0).unit, "pages");
  EXPECT_GT(Part(report, 0, 0).total, 0U);
  EXPECT_EQ(Leftovers(program.run_id(), scratch_.path(), kGonePatience), "");
}

TEST_F(DiskLoadsTest, ACombinationReportsBothParts) {
  RunProgram(Arguments("burn+write", "1s", out_, {"--workdir", disk_->path()}));
  const Report report = ReadReport(out_);
  EXPECT_EQ(report.cells[0].load, "burn+write");
  EXPECT_EQ(Part(report, 0, 0).load, "burn");
  EXPECT_GT(Part(report, 0, 0).total, 0U);
  EXPECT_EQ(Part(report, 0, 1).load, "write");
  EXPECT_GT(Part(report, 0, 1).total, 0U);
}

TEST_F(LoadsTest, FilesThatAreNotOnADiskStampTheCell) {
  const std::optional<PrivateMount> memory = PrivateMount::Memory(scratch_, 400 * kMiB);
  if (!memory) GTEST_SKIP() << "no tmpfs can be mounted here";
  const ProgramResult result =
      RunProgram(Arguments("write", "100ms", out_, {"--workdir", memory->path()}));
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(ReadReport(out_).cells[0].invalid, ElementsAre(HasSubstr("tmpfs")));
}

TEST_F(LoadsTest, BurnThreadsRunAtTheirShare) {
  RunningProgram program({.arguments = Arguments("burn", "60s", out_, {"-L", "4", "-c", "0"})});
  std::vector<uint64_t> ticks;
  WhileItRuns(program, [&] {
    ticks.clear();
    for (const ThreadFacts& thread : ThreadsBelow(program.pid())) {
      if (absl::StartsWith(thread.name, "burn-")) ticks.push_back(thread.cpu_ticks);
    }
    uint64_t sum = 0;
    for (uint64_t each : ticks) sum += each;
    return sum >= 100;  // a second of CPU time together
  });
  ASSERT_EQ(ticks.size(), 4U);
  EXPECT_GE(*std::min_element(ticks.begin(), ticks.end()), 100U / 4 / 4);
  EXPECT_LE(*std::max_element(ticks.begin(), ticks.end()), 100U / 2);
}

TEST_F(LoadsTest, HackPassesMessagesAndRingPassesItsToken) {
  RunProgram(Arguments("hack,ring", "1s", out_, {"-L", "2"}));
  const Report report = ReadReport(out_);
  const ProgressPart& hack = Part(report, 0, 0);
  EXPECT_EQ(hack.unit, "messages");
  EXPECT_EQ(hack.thread_count, 80);
  EXPECT_GT(hack.total, 1000U);
  ASSERT_EQ(hack.per_second.size(), 1U);
  EXPECT_LE(hack.per_second[0], hack.total);
  const ProgressPart& ring = Part(report, 1, 0);
  EXPECT_EQ(ring.unit, "passes");
  EXPECT_EQ(ring.thread_count, 2);
  EXPECT_GT(ring.total, 100U);
}

// Detached, orphaned and deaf to signals. `directory` stands in its arguments.
std::string DetachedTree(const std::string& directory) {
  return absl::StrCat(
      "trap '' TERM HUP INT; setsid sh -c 'trap \"\" TERM HUP INT; (sleep 3333 &); "
      "touch $0/started; while :; do sleep 0.1; done' ",
      directory, " & while :; do sleep 0.1; done");
}
// One that does what it can to survive: it also has a process without our environment.
std::string StubbornTree(const std::string& directory) {
  return absl::StrCat("env -i sh -c 'while :; do :; done' ", directory, " & ",
                      DetachedTree(directory));
}

TEST_F(LoadsTest, TheWholeTreeOfACommandIsGoneAfterwards) {
  RunningProgram program(
      {.arguments =
           Arguments("command", "1s", out_, {"--load-command", StubbornTree(scratch_.path())})});
  WhileItRuns(program, [&] { return access(scratch_.File("started").c_str(), F_OK) == 0; });
  const ProgramResult result = program.Wait();
  EXPECT_THAT(result.exit_code, AnyOf(0, 3)) << result.err;
  EXPECT_EQ(Leftovers(program.run_id(), scratch_.path(), std::chrono::seconds(0)), "");
  const Report report = ReadReport(out_);
  EXPECT_THAT(report.cells[0].invalid, Not(Contains(HasSubstr("load command"))));
  EXPECT_EQ(Part(report, 0, 0).unit, "cpu_ms");
  EXPECT_GT(Part(report, 0, 0).total, 0U);
}

TEST_F(LoadsTest, ACommandThatEndsEarlyEndsItsCellWithTheReason) {
  const ProgramResult result = RunProgram(
      Arguments("command,none", "100ms", out_,
                {"--load-command", "echo first; printf 'last \\033[31mwords\\n'; exit 7"}));
  EXPECT_EQ(result.exit_code, 3);
  const Report report = ReadReport(out_);
  ASSERT_EQ(report.cells.size(), 2U);
  EXPECT_THAT(report.cells[0].invalid,
              ElementsAre(testing::AllOf(HasSubstr("exited with status 7"),
                                         HasSubstr("last output: last \x1b[31mwords"))));
  EXPECT_THAT(result.out, HasSubstr("last \\x1b[31mwords"));
  EXPECT_THAT(result.out, Not(HasSubstr("\x1b")));
  EXPECT_GT(report.cells[1].counts.due + report.cells[1].counts.censored, 0);
}

// SIGKILLs the process that has thread `name`.
void KillProcessOf(RunningProgram& program, const std::string& name) {
  std::optional<ThreadFacts> victim;
  ASSERT_NO_FATAL_FAILURE(WhileItRuns(program, [&] {
    victim = FindThread(program.pid(), name);
    return victim.has_value();
  }));
  kill(victim->process, SIGKILL);
}

TEST_F(LoadsTest, AProcessThatIsKilledEndsItsCellAndNotTheSession) {
  RunningProgram program({.arguments = Arguments("burn,ring,none", "1s", out_)});
  KillProcessOf(program, "burn-0");
  ASSERT_TRUE(Eventually([&] { return ReadReport(out_).cells.size() == 1; }));
  KillProcessOf(program, "audio");
  const ProgramResult result = program.Wait();
  EXPECT_EQ(result.exit_code, 3) << result.err;
  const Report report = ReadReport(out_);
  ASSERT_EQ(report.cells.size(), 3U);
  EXPECT_THAT(report.cells[0].invalid,
              ElementsAre(HasSubstr("load burn was killed by signal 9 (Killed)")));
  EXPECT_THAT(report.cells[1].invalid,
              ElementsAre(HasSubstr("workload audio was killed by signal 9 (Killed)")));
  EXPECT_GT(report.cells[2].counts.due, 0);
  EXPECT_EQ(Leftovers(program.run_id(), scratch_.path(), kGonePatience), "");
}

TEST_F(LoadsTest, ACommandsTreeIsGoneThoughItsKeeperWasKilled) {
  RunningProgram program(
      {.arguments =
           Arguments("command", "60s", out_, {"--load-command", DetachedTree(scratch_.path())})});
  WhileItRuns(program, [&] { return access(scratch_.File("started").c_str(), F_OK) == 0; });
  KillProcessOf(program, "command");
  EXPECT_EQ(program.Wait().exit_code, 3);
  EXPECT_THAT(ReadReport(out_).cells[0].invalid,
              ElementsAre(HasSubstr("load command was killed by signal 9 (Killed)")));
  EXPECT_EQ(Leftovers(program.run_id(), scratch_.path(), kGonePatience), "");
}

}  // namespace
}  // namespace whylate
