#include "userspace/cli/analyze.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "analysis/report/perfetto_writer.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/trace_builder.h"
#include "userspace/cli/command.h"

namespace whylate {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct Outcome {
  int exit_code = 0;
  std::string out;
  std::string err;
};

// rt waits 2 ms behind hog, and is done 1 ms later.
constexpr char kTrace[] =
    "         hog-10    [000] d..2    10.001000: sched_waking: comm=rt pid=11 prio=120 "
    "target_cpu=000\n"
    "         hog-10    [000] d..2    10.001000: sched_wakeup: comm=rt pid=11 prio=120 "
    "target_cpu=000\n"
    "         hog-10    [000] d..2    10.003000: sched_switch: prev_comm=hog prev_pid=10 "
    "prev_prio=120 prev_state=R ==> next_comm=rt next_pid=11 next_prio=120\n"
    "          rt-11    [000] d..2    10.004000: sched_switch: prev_comm=rt prev_pid=11 "
    "prev_prio=120 prev_state=S ==> next_comm=hog next_pid=10 next_prio=120\n";

class AnalyzeCommandTest : public testing::Test {
 protected:
  AnalyzeCommandTest() {
    directory_.Write("trace.txt", kTrace);
    flags_.file = directory_.Path("trace.txt");
  }

  Outcome Run() {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Outcome outcome;
    outcome.exit_code = RunAnalyze(flags_);
    outcome.out = testing::internal::GetCapturedStdout();
    outcome.err = testing::internal::GetCapturedStderr();
    return outcome;
  }

  TemporaryDirectory directory_;
  AnalyzeFlags flags_;
};

TEST_F(AnalyzeCommandTest, TellsWhoMadeTheTaskWait) {
  flags_.task = "rt";
  const Outcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("ftrace text: 4 events in 0.003000 s\n"));
  EXPECT_THAT(outcome.out, HasSubstr("verdict: hog kept the CPU (no_preempt), for 2.000 of its "
                                     "2.000 ms of wait.\n"));
}

TEST_F(AnalyzeCommandTest, AsJsonAndNothingElse) {
  flags_.json = true;
  flags_.deadline = "2ms";
  flags_.worst = 1;
  const Outcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  const auto root = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(root["activations"].size(), 1u);
  EXPECT_EQ(root["activations"][0]["task"], "rt");
  EXPECT_EQ(root["activations"][0]["late"], true);
  EXPECT_EQ(root["activations"][0]["verdict"]["margin_ns"], 1'000'000);
}

TEST_F(AnalyzeCommandTest, APeriodIsADeadline) {
  flags_.period = "16.667ms";
  flags_.json = true;
  flags_.task = "11";
  const auto root = nlohmann::json::parse(Run().out);
  EXPECT_EQ(root["activations"][0]["deadline_ns"], 16'667'000);
  EXPECT_TRUE(root["activations"][0]["verdict"].is_null());
}

TEST_F(AnalyzeCommandTest, UsageErrors) {
  const auto usage = [&](const AnalyzeFlags& flags, const char* message) {
    flags_ = flags;
    const Outcome outcome = Run();
    EXPECT_EQ(outcome.exit_code, kExitUsage) << message;
    EXPECT_THAT(outcome.err, HasSubstr(message));
    EXPECT_THAT(outcome.out, IsEmpty());
  };
  AnalyzeFlags flags = flags_;
  flags.deadline = "5ms";
  flags.period = "5ms";
  usage(flags, "--deadline and --period exclude each other");
  flags.period.reset();
  flags.deadline = "soon";
  usage(flags, "--deadline 'soon' is no time");
  flags.deadline = "0";
  usage(flags, "--deadline 0 is outside 1us to 24h");
  flags.deadline.reset();
  flags.worst = 0;
  usage(flags, "--worst 0 is outside 1 to 100000");
  flags.worst.reset();
  flags.task = "";
  usage(flags, "--task is empty");
}

// CPU 0  hog ... |5 W .. |8
// W      zz|1 wait|run   |
Recording OwnRecording() {
  return TraceBuilder(1, 1'000'000)
      .Watch(1)
      .Name(1, "W")
      .Name(2, "hog")
      .Allowed({0})
      .CpuSeed(0, 0, 2)
      .Wake(1, 0, 1)
      .Preempt(5, 0, 2, 1)
      .Block(8, 0, 1, 2)
      .Late(1, 6, 8, 3)
      .Build();
}

TEST_F(AnalyzeCommandTest, OurOwnRecordingByItsFrames) {
  directory_.Write("own.pftrace", RecordingToPerfetto(OwnRecording(), nullptr));
  flags_.file = directory_.Path("own.pftrace");
  flags_.json = true;
  const Outcome outcome = Run();
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  const auto root = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(root["of"], "frames");
  ASSERT_EQ(root["activations"].size(), 1u);
  EXPECT_EQ(root["activations"][0]["verdict"]["subject"], "hog");
  EXPECT_EQ(root["activations"][0]["verdict"]["margin_ns"], 2'000'000);
}

TEST_F(AnalyzeCommandTest, TimesThatNoClockSaysAreDamage) {
  Recording recording = OwnRecording();
  recording.events.front().time_ns = std::numeric_limits<int64_t>::min();
  directory_.Write("own.pftrace", RecordingToPerfetto(recording, nullptr));
  flags_.file = directory_.Path("own.pftrace");
  EXPECT_EQ(Run().exit_code, kExitFailed);
}

TEST_F(AnalyzeCommandTest, ATaskThatIsNotThereIsAFailure) {
  flags_.task = "nobody";
  const Outcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, kExitFailed);
  EXPECT_THAT(outcome.err, HasSubstr("no task 'nobody' ran or was woken"));
  EXPECT_THAT(outcome.out, IsEmpty());
}

// One line on standard error, exit code 1, and no answer.
TEST_F(AnalyzeCommandTest, WhatIsNoTraceIsAFailure) {
  directory_.Write("empty", "");
  directory_.Write("text", "it was a dark and stormy night\n");
  ASSERT_EQ(mkfifo(directory_.Path("pipe").c_str(), 0600), 0);
  directory_.Write("magic", "\x17\x08\x44tracing6");
  for (const char* name : {"empty", "text", "magic", "pipe", "absent", "."}) {
    flags_.file = directory_.Path(name);
    const Outcome outcome = Run();
    EXPECT_EQ(outcome.exit_code, kExitFailed) << name;
    EXPECT_THAT(outcome.err, StartsWith("whylate: ")) << name;
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << outcome.err;
    EXPECT_THAT(outcome.out, IsEmpty()) << name;
  }
}

}  // namespace
}  // namespace whylate
