// The source tracefs on the real machine, as root: what it leaves behind, what it takes, and what it
// says of its losses.
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "tests/support/machine.h"
#include "tests/support/program.h"
#include "tests/support/status_matchers.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/process.h"
#include "userspace/trace/trace_source.h"
#include "userspace/trace/tracefs_instance.h"

namespace whylate {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::chrono::seconds kCleanPatience(5);

class TracefsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    if (const absl::Status usable = TracefsUsable(); !usable.ok()) GTEST_SKIP() << usable;
  }

  ProgramRequest Run(const std::string& duration) const {
    return {.arguments = {"run", "-W", "audio", "-w", "burn", "-d", duration, "--source", "tracefs",
                          "--record", "all", "-o", out_}};
  }
  std::string LeftNow(const RunningProgram& program) const {
    return Leftovers(program.run_id(), scratch_.path(), std::chrono::milliseconds(0));
  }

  const ScratchDirectory scratch_;
  const std::string out_ = scratch_.File("session");
};

TEST_F(TracefsTest, ReportsAndRecordingsSayWhereTheyComeFrom) {
  const ProgramResult result = RunProgram(Run("500ms"));
  EXPECT_THAT(result.exit_code, AnyOf(0, 3)) << result.err;
  EXPECT_THAT(result.out, HasSubstr("trace source: tracefs"));
  // Reads the recording back, and holds it against the report.
  const Report report = ReadReport(out_);
  EXPECT_EQ(report.options.source, "tracefs");
  ASSERT_EQ(report.cells.size(), 1U);
  ASSERT_TRUE(report.cells[0].explanation.trace.has_value());
  EXPECT_EQ(report.cells[0].explanation.trace->source, "tracefs");
  EXPECT_GT(report.cells[0].explanation.trace->events, 100U);
  EXPECT_NE(report.cells[0].recording, "");
}

TEST_F(TracefsTest, NeedsNoMount) {
  ProgramRequest request = Run("300ms");
  request.before_exec = [] {
    const bool own =
        unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    // EINVAL: it is not mounted in the first place.
    if (!own || (umount2("/sys/kernel/tracing", MNT_DETACH) != 0 && errno != EINVAL)) _exit(99);
  };
  const ProgramResult result = RunProgram(request);
  ASSERT_THAT(result.exit_code, AnyOf(0, 3)) << result.err;
  EXPECT_GT(ReadReport(out_).cells[0].explanation.trace->events, 100U);
}

TEST_F(TracefsTest, UsesTheMountThatIsThere) {
  ProgramRequest request = Run("300ms");
  request.before_exec = [] {
    const bool mounted = unshare(CLONE_NEWNS) == 0 &&
                         mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         mount("none", "/sys/kernel/tracing", "tracefs", 0, nullptr) == 0;
    if (!mounted) _exit(99);
  };
  const ProgramResult result = RunProgram(request);
  ASSERT_THAT(result.exit_code, AnyOf(0, 3)) << result.err;
  EXPECT_GT(ReadReport(out_).cells[0].explanation.trace->events, 100U);
}

TEST_F(TracefsTest, WithoutRightsItIsOneClearLine) {
  ASSERT_EQ(chmod(scratch_.path().c_str(), 0777), 0);
  ProgramRequest request = Run("300ms");
  request.before_exec = [] {
    constexpr uid_t kNobody = 65534;
    if (setgroups(0, nullptr) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 ||
        setresuid(kNobody, kNobody, kNobody) != 0) {
      _exit(99);
    }
  };
  const ProgramResult result = RunProgram(request);
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("ftrace takes root"));
}

TEST_F(TracefsTest, AKilledRunLeavesNoInstance) {
  int seen = 0;
  for (const int64_t after_ms : {0, 50, 200, 600, 1200}) {
    RunningProgram program(Run("20s"));
    ASSERT_TRUE(Eventually([&] {
      return after_ms == 0 || absl::StrContains(LeftNow(program), "ftrace instance") ||
             program.HasEnded();
    }));
    SleepUntilNs(MonotonicNs() + after_ms * kNsPerMs);
    seen += absl::StrContains(LeftNow(program), "ftrace instance") ? 1 : 0;
    program.Signal(SIGKILL);
    EXPECT_EQ(Leftovers(program.run_id(), scratch_.path(), kCleanPatience), "")
        << after_ms << " ms after its instance was there";
    program.Wait();
    std::filesystem::remove_all(out_);
  }
  EXPECT_GE(seen, 3);
}

TEST_F(TracefsTest, TheNextRunRemovesWhatTheJanitorCouldNot) {
  RunningProgram program(Run("20s"));
  ASSERT_TRUE(Eventually([&] {
    return FindThread(program.pid(), "audio").has_value() &&
           absl::StrContains(LeftNow(program), "ftrace instance");
  }));
  std::vector<ProcessFacts> all = DescendantsOf(Tgid{program.pid()}, ReadAllProcesses());
  program.Signal(SIGSTOP);
  for (const ProcessFacts& child : all) KillProcess(child.identity);
  program.Signal(SIGKILL);
  program.Wait();
  ASSERT_THAT(LeftNow(program), HasSubstr("ftrace instance"));
  // That of a process that lives stays.
  absl::StatusOr<std::unique_ptr<TracefsInstance>> living = TracefsInstance::Create();
  ASSERT_THAT(living, IsOk());
  RunProgram({"run", "-W", "audio", "-w", "none", "-d", "100ms", "--source", "none", "-o",
              scratch_.File("next")});
  EXPECT_TRUE((*living)->Has("tracing_on"));
  EXPECT_EQ(Leftovers(program.run_id(), scratch_.path(), kCleanPatience), "");
}

TEST_F(TracefsTest, ASourceThatIsDestroyedWithoutStopLeavesNothing) {
  const std::string run_id = MakeRunId(ReadProcess(Tgid{getpid()})->identity);
  {
    auto source = CreateTraceSource("tracefs").value();
    ASSERT_THAT(source->Start({}), IsOk());
    EXPECT_THAT(Leftovers(run_id, scratch_.path(), std::chrono::milliseconds(0)),
                HasSubstr("ftrace instance"));
  }
  EXPECT_EQ(Leftovers(run_id, scratch_.path(), std::chrono::milliseconds(0)), "");
}

// Pipes that hand a byte to and fro, on every CPU, for a while.
void Storm(std::chrono::milliseconds duration) {
  const auto until = std::chrono::steady_clock::now() + duration;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([until] {
      int there[2];
      int back[2];
      if (pipe(there) != 0 || pipe(back) != 0) std::abort();
      std::thread echo([&] {
        char byte = 0;
        while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1 && byte == 0) {
        }
      });
      for (char byte = 0; byte == 0;) {
        byte = std::chrono::steady_clock::now() < until ? 0 : 1;
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) std::abort();
      }
      echo.join();
      for (const int fd : {there[0], there[1], back[0], back[1]}) close(fd);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Where nothing is lost, each CPU's switches are a chain, but for the few tasks that this kernel
// hides; what a tiny buffer loses is told, and counted.
TEST_F(TracefsTest, LossesAreToldAndCounted) {
  auto source = CreateTraceSource("tracefs").value();
  TraceOptions options;
  options.buffer_bytes = 16 << 10;
  ASSERT_THAT(source->Start(options), IsOk());
  Storm(std::chrono::milliseconds(500));
  const auto capture = source->Stop();
  ASSERT_THAT(capture, IsOk());
  EXPECT_GT(capture->facts.lost, 0U);
  EXPECT_THAT(capture->losses, Not(IsEmpty()));
  uint64_t told = 0;
  for (const LossInterval& loss : capture->losses) {
    EXPECT_LE(capture->begin_ns, loss.begin_ns);
    EXPECT_LE(loss.begin_ns, loss.end_ns);
    EXPECT_LE(loss.end_ns, capture->end_ns);
    told += loss.count;
  }
  EXPECT_EQ(told, capture->facts.lost);
  // No switch of a CPU lies in one of its losses.
  for (const SchedEvent& event : capture->events) {
    if (!std::holds_alternative<SwitchEvent>(event.body)) continue;
    for (const LossInterval& loss : capture->losses) {
      const bool inside =
          loss.cpu == event.cpu && loss.begin_ns < event.time_ns && event.time_ns < loss.end_ns;
      ASSERT_FALSE(inside) << event.time_ns;
    }
  }
}

TEST_F(TracefsTest, MemoryIsBounded) {
  auto source = CreateTraceSource("tracefs").value();
  TraceOptions options;
  options.memory_bytes = 512 << 10;
  ASSERT_THAT(source->Start(options), IsOk());
  Storm(std::chrono::milliseconds(500));
  const auto capture = source->Stop();
  ASSERT_THAT(capture, IsOk());
  EXPECT_LE(capture->captured_bytes, options.memory_bytes);
  EXPECT_GT(capture->facts.lost, 0U);
  EXPECT_THAT(capture->losses, Not(IsEmpty()));
}

}  // namespace
}  // namespace whylate
