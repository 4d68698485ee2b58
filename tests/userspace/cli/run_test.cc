#include "userspace/cli/run.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "userspace/cli/command.h"

namespace whylate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

struct Outcome {
  int exit_code = 0;
  std::string out;
  std::string err;
};

// Runs with --dry-run: flags are judged, nothing is started.
Outcome DryRun(RunFlags flags, bool changed_by_flags = true) {
  flags.dry_run = true;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.exit_code = RunRun(std::move(flags), changed_by_flags);
  outcome.out = testing::internal::GetCapturedStdout();
  outcome.err = testing::internal::GetCapturedStderr();
  return outcome;
}

RunFlags VideoUnderBurn() {
  RunFlags flags;
  flags.request.options.workloads = {"video"};
  flags.request.options.loads = {"burn"};
  return flags;
}

TEST(RunDurationTest, TakesSecondsAndUnits) {
  for (const auto& [text, shown] :
       {std::pair("10s", "of 10 s"), std::pair("500ms", "of 0.5 s"), std::pair("2m", "of 120 s"),
        std::pair("7", "of 7 s"), std::pair("0.1", "of 0.1 s"), std::pair("24h", "of 86400 s")}) {
    RunFlags flags = VideoUnderBurn();
    flags.duration = text;
    const Outcome outcome = DryRun(flags);
    EXPECT_EQ(outcome.exit_code, kExitOk) << text;
    EXPECT_THAT(outcome.out, HasSubstr(shown)) << text;
  }
}

TEST(RunDurationTest, RefusesWhatIsNoUsefulTime) {
  for (const char* text : {"0", "-1", "0s", "-5s", "99ms", "25h", "1e300", "inf", "nan", "-inf",
                           "soon", "10 s", "10x", "s", "99999999999999999999h"}) {
    RunFlags flags = VideoUnderBurn();
    flags.duration = text;
    const Outcome outcome = DryRun(flags);
    EXPECT_EQ(outcome.exit_code, kExitUsage) << text;
    EXPECT_THAT(outcome.err, AllOf(StartsWith("whylate: --duration "), HasSubstr(text)));
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(RunErrorTest, IsOneLine) {
  RunFlags flags = VideoUnderBurn();
  flags.request.options.load_threads = 0;
  const Outcome outcome = DryRun(flags);
  EXPECT_EQ(outcome.exit_code, kExitUsage);
  EXPECT_THAT(outcome.err, StartsWith("whylate: --load-threads 0 "));
  EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1);
}

TEST(RunErrorTest, HostileNamesAreEscaped) {
  RunFlags flags = VideoUnderBurn();
  flags.request.options.workloads = {"\x1b]0;owned\x07\n"};
  EXPECT_THAT(DryRun(flags).err, HasSubstr("'\\x1b]0;owned\\x07\\x0a'"));
}

TEST(RunDryRunTest, ListsTheCells) {
  RunFlags flags = VideoUnderBurn();
  flags.request.options.loads = {"none", "burn"};
  const Outcome outcome = DryRun(flags);
  EXPECT_THAT(outcome.out, AllOf(StartsWith("video/none\nvideo/burn\n2 cells of 10 s"),
                                 HasSubstr("of disk in .")));
  EXPECT_EQ(outcome.err, "");
}

TEST(RunResumeTest, TakesNoOptionsOfASession) {
  RunFlags flags;
  flags.resume = "somewhere";
  const Outcome outcome = DryRun(flags, true);
  EXPECT_EQ(outcome.exit_code, kExitUsage);
  EXPECT_THAT(outcome.err, HasSubstr("--resume"));
}

TEST(RunListTest, NamesEveryWorkloadAndLoad) {
  RunFlags flags;
  flags.list = true;
  const Outcome outcome = DryRun(flags);
  for (const char* name : {"audio", "video", "x", "gaming", "desktop", "custom", "none", "burn",
                           "write", "read", "ring", "compile", "memload", "hack", "command"}) {
    EXPECT_THAT(outcome.out, HasSubstr(std::string("  ") + name + " "));
  }
}

TEST(RunListTest, JsonIsJsonAlone) {
  RunFlags flags;
  flags.list = true;
  flags.json = true;
  EXPECT_THAT(DryRun(flags).out, AllOf(StartsWith("{\"workloads\":[\"audio\","),
                                       HasSubstr("\"loads\":[\"none\",\"compile\",")));
}

}  // namespace
}  // namespace whylate
