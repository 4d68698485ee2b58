// Stopping and killing a session at any moment: nothing of it stays on the machine, and what was
// finished is in a valid report. On the real machine, as root.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/support/bpf_objects.h"
#include "tests/support/machine.h"
#include "tests/support/program.h"
#include "userspace/platform/process.h"
#include "userspace/session/child_spec.h"
#include "userspace/session/session_directory.h"
#include "userspace/session/sweep.h"
#include "userspace/trace/bpf_source.h"

namespace whylate {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Values;

constexpr int64_t kMiB = int64_t{1} << 20;
// What the machine must be clean after, once the program is dead.
constexpr std::chrono::seconds kCleanPatience(5);

enum class Moment { kStart, kCalibration, kPreparing, kSettling, kMeasuring, kWriting };

struct Case {
  Moment moment;
  int signal;
};

std::string Name(const testing::TestParamInfo<Case>& info) {
  constexpr std::array kMoments = {"Start",    "Calibration", "Preparing",
                                   "Settling", "Measuring",   "Writing"};
  return absl::StrCat(kMoments[static_cast<size_t>(info.param.moment)],
                      info.param.signal == SIGINT    ? "Interrupted"
                      : info.param.signal == SIGTERM ? "Terminated"
                                                     : "Killed");
}

class RobustnessTest : public testing::TestWithParam<Case> {
 protected:
  std::string workdir() const { return disk_ ? disk_->path() : scratch_.path(); }
  bool Started() const { return access(scratch_.File("started").c_str(), F_OK) == 0; }

  // Two cells under everything that could stay behind: a memory cgroup, a tree that is detached
  // and deaf to signals, load files.
  ProgramRequest Request(Moment moment) const {
    const std::string command = absl::StrCat(
        "trap '' TERM HUP INT; setsid sh -c 'trap \"\" TERM HUP INT; (sleep 3333 &); "
        "touch $0/started; while :; do sleep 0.1; done' ",
        scratch_.path(), " & while :; do sleep 0.1; done");
    return {.arguments = {"run", "-W", "audio,custom", "--cpu-percent", "5", "--interval", "10000",
                          "-w", "memload+command+compile", "--load-command", command, "-d",
                          // Met while the loads keep who waits for it off the CPUs.
                          moment == Moment::kMeasuring ? "60s" : "1s", "--workdir", workdir(), "-o",
                          out_},
            // Without a cache the calibration takes a moment that can be met.
            .environment = {absl::StrCat("XDG_CACHE_HOME=", scratch_.path())}};
  }

  void AwaitMoment(const RunningProgram& program, Moment moment) {
    bool reached = false;
    ASSERT_TRUE(Eventually([&] {
      reached = reached || IsAt(program, moment);
      return reached || program.HasEnded();
    }));
    ASSERT_TRUE(reached);
  }

  const ScratchDirectory scratch_;
  const std::string out_ = scratch_.File("session");
  const std::optional<PrivateMount> disk_ = PrivateMount::Disk(scratch_, 600 * kMiB);

 private:
  bool IsAt(const RunningProgram& program, Moment moment) {
    switch (moment) {
      case Moment::kStart:
        return true;
      case Moment::kCalibration:
        return access((out_ + "/report.json").c_str(), F_OK) == 0;
      case Moment::kPreparing:
        // The first load waits, and the file to read is being written.
        return FindThread(program.pid(), "memload").has_value();
      case Moment::kSettling:
        return Started();
      case Moment::kMeasuring:
        return Started() && HasFrames(program) && Captures();
      case Moment::kWriting:
        return IsWritingFirstCell();
    }
    return false;
  }

  // Of the programs, the maps and the links there are several each.
  static bool Captures() { return !BpfUsable().ok() || CaptureObjects().size() > 10; }

  // Each frame of the workload is a sleep: a voluntary switch.
  static bool HasFrames(const RunningProgram& program) {
    const std::optional<ThreadFacts> workload = FindThread(program.pid(), "audio");
    return workload && std::atoi(StatusOf(workload->thread, "voluntary_ctxt_switches").c_str()) > 8;
  }

  // The temporary file comes to be again after the session has been prepared.
  bool IsWritingFirstCell() {
    if (!watch_.valid()) {
      if (access(out_.c_str(), F_OK) != 0) return false;
      watch_ = UniqueFd(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
      inotify_add_watch(watch_.get(), out_.c_str(), IN_CREATE);
    }
    const bool was_prepared = prepared_;
    if (!prepared_) {
      const absl::StatusOr<Report> report = ReadSessionReport(out_);
      prepared_ = report.ok() && report->loops_per_ms > 0;
    }
    return SawNewTemporary() && was_prepared;
  }

  bool SawNewTemporary() const {
    bool saw = false;
    alignas(inotify_event) std::array<char, 4096> buffer;
    for (ssize_t size = 0; (size = read(watch_.get(), buffer.data(), buffer.size())) > 0;) {
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
        saw = saw || std::strcmp(event->name, ".report.json.tmp") == 0;
        at += static_cast<ssize_t>(sizeof(inotify_event)) + event->len;
      }
    }
    return saw;
  }

  UniqueFd watch_;
  bool prepared_ = false;
};

TEST_P(RobustnessTest, LeavesNothingBehindAndAValidReport) {
  const int64_t free_before_bytes = disk_ ? disk_->FreeBytes() : 0;
  RunningProgram program(Request(GetParam().moment));
  ASSERT_NO_FATAL_FAILURE(AwaitMoment(program, GetParam().moment));
  const size_t finished =
      access((out_ + "/report.json").c_str(), F_OK) == 0 ? ReadReport(out_).cells.size() : 0;
  program.Signal(GetParam().signal);
  ASSERT_TRUE(Eventually([&] { return program.HasEnded(); }, kCleanPatience));
  EXPECT_TRUE(Eventually([] { return CaptureObjects().empty(); }, kCleanPatience))
      << absl::StrJoin(CaptureObjects(), ", ");
  EXPECT_EQ(Leftovers(program.run_id(), scratch_.path(), kCleanPatience), "");
  if (disk_) {
    EXPECT_TRUE(
        Eventually([&] { return disk_->FreeBytes() > free_before_bytes - kMiB; }, kCleanPatience))
        << "a file without a name is still open";
  }
  const ProgramResult result = program.Wait();
  const bool has_report = access((out_ + "/report.json").c_str(), F_OK) == 0;
  if (GetParam().signal == SIGKILL || !has_report) {
    // Before it can handle signals there is nothing to handle.
    EXPECT_THAT(result.exit_code, AnyOf(130, 128 + GetParam().signal));
  } else {
    EXPECT_EQ(result.exit_code, 130) << result.err;
  }
  if (has_report) {
    const Report report = ReadReport(out_);
    EXPECT_GE(report.cells.size(), finished);
    EXPECT_LT(report.cells.size(), 2U);
    EXPECT_EQ(report.finished, "");
  }
}

INSTANTIATE_TEST_SUITE_P(AllMoments, RobustnessTest,
                         Values(Case{Moment::kStart, SIGINT}, Case{Moment::kStart, SIGTERM},
                                Case{Moment::kStart, SIGKILL}, Case{Moment::kCalibration, SIGINT},
                                Case{Moment::kCalibration, SIGTERM},
                                Case{Moment::kCalibration, SIGKILL},
                                Case{Moment::kPreparing, SIGINT}, Case{Moment::kPreparing, SIGTERM},
                                Case{Moment::kPreparing, SIGKILL}, Case{Moment::kSettling, SIGINT},
                                Case{Moment::kSettling, SIGTERM}, Case{Moment::kSettling, SIGKILL},
                                Case{Moment::kMeasuring, SIGINT}, Case{Moment::kMeasuring, SIGTERM},
                                Case{Moment::kMeasuring, SIGKILL}, Case{Moment::kWriting, SIGINT},
                                Case{Moment::kWriting, SIGTERM}, Case{Moment::kWriting, SIGKILL}),
                         Name);

// As Ctrl-C does: every process of the group gets the signal.
TEST_F(RobustnessTest, AnInterruptOfTheWholeGroupIsAnInterruptToo) {
  RunningProgram program(Request(Moment::kMeasuring));
  ASSERT_NO_FATAL_FAILURE(AwaitMoment(program, Moment::kMeasuring));
  program.SignalGroup(SIGINT);
  EXPECT_EQ(program.Wait().exit_code, 130);
  EXPECT_EQ(Leftovers(program.run_id(), scratch_.path(), kCleanPatience), "");
}

TEST_F(RobustnessTest, AnInterruptOfTheGroupWhileTheJanitorStartsIsOneToo) {
  RunningProgram program(
      {.arguments = {"run", "-W", "audio", "-w", "none", "-d", "20s", "-o", out_}});
  ASSERT_TRUE(Eventually([&] {
    return program.HasEnded() || !DescendantsOf(Tgid{program.pid()}, ReadAllProcesses()).empty();
  }));
  program.SignalGroup(SIGINT);
  EXPECT_EQ(program.Wait().exit_code, 130);
  EXPECT_EQ(Leftovers(program.run_id(), scratch_.path(), kCleanPatience), "");
}

TEST_F(RobustnessTest, AHangUpStopsItUnlessItIsIgnored) {
  ProgramRequest request{
      .arguments = {"run", "-W", "audio", "-w", "none", "-d", "300ms", "-o", out_},
      .before_exec = [] { signal(SIGHUP, SIG_IGN); }};  // nohup
  {
    RunningProgram program(request);
    ASSERT_TRUE(Eventually([&] { return FindThread(program.pid(), "audio").has_value(); }));
    program.SignalGroup(SIGHUP);
    EXPECT_THAT(program.Wait().exit_code, AnyOf(0, 3));
  }
  request.arguments.back() = scratch_.File("other");
  request.before_exec = [] {};
  RunningProgram program(request);
  ASSERT_TRUE(Eventually([&] { return FindThread(program.pid(), "audio").has_value(); }));
  program.SignalGroup(SIGHUP);
  EXPECT_EQ(program.Wait().exit_code, 130);
}

// Kills all that could clean up: the supervisor, its janitor, and the keeper of the command's tree.
void KillEveryKeeper(const RunningProgram& program) {
  program.Signal(SIGSTOP);  // so that it does not see the others go
  for (const char* name : {"whylate-janitor", "command"}) {
    const std::optional<ThreadFacts> keeper = FindThread(program.pid(), name);
    ASSERT_TRUE(keeper) << name;
    kill(keeper->process, SIGKILL);
  }
  program.Signal(SIGKILL);
}

// A process that bears `run_id`, as a load would.
pid_t StartBearer(const std::string& run_id) {
  const pid_t pid = fork();
  if (pid == 0) {
    execl("/usr/bin/env", "env", absl::StrCat(kRunIdVariable, "=", run_id).c_str(), "sleep", "3333",
          static_cast<char*>(nullptr));
    _exit(127);
  }
  return pid;
}

TEST_F(RobustnessTest, TheNextRunSweepsWhatNobodyCleanedUp) {
  RunningProgram program(Request(Moment::kMeasuring));
  ASSERT_NO_FATAL_FAILURE(AwaitMoment(program, Moment::kMeasuring));
  ASSERT_NO_FATAL_FAILURE(KillEveryKeeper(program));
  program.Wait();
  const std::string dead_file = absl::StrCat(workdir(), "/.whylate-", program.run_id(), "-abcdef");
  std::ofstream(dead_file) << "left";
  const std::string left =
      Leftovers(program.run_id(), scratch_.path(), std::chrono::milliseconds(300));
  EXPECT_THAT(left, HasSubstr("process"));
  EXPECT_THAT(left, HasSubstr("cgroup"));
  EXPECT_THAT(left, HasSubstr("file"));
  // What belongs to a run that lives stays: this test's own process stands for one.
  const std::string living = MakeRunId(ReadProcess(Tgid{getpid()})->identity);
  const std::string living_file = absl::StrCat(workdir(), "/.whylate-", living, "-abcdef");
  std::ofstream(living_file) << "mine";
  const pid_t bearer = StartBearer(living);

  RunProgram({"run", "-W", "audio", "-w", "none", "-d", "100ms", "--workdir", workdir(), "-o",
              scratch_.File("next")});
  EXPECT_EQ(access(living_file.c_str(), F_OK), 0);
  EXPECT_EQ(kill(bearer, 0), 0);
  EXPECT_EQ(StatusOf(bearer, "State").substr(0, 1), "S");
  unlink(living_file.c_str());
  kill(bearer, SIGKILL);
  EXPECT_EQ(Leftovers(program.run_id(), scratch_.path(), kCleanPatience), "");
}

}  // namespace
}  // namespace whylate
