#include "userspace/cli/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "analysis/report/report_json.h"
#include "tests/support/made_report.h"
#include "tests/support/temporary_directory.h"
#include "userspace/cli/command.h"
#include "userspace/platform/files.h"

namespace whylate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Outcome {
  int exit_code = 0;
  std::string out;
  std::string err;
};

// A session of two runs of video/burn, each with one late frame; the second's is later.
class ExplainCommandTest : public testing::Test {
 protected:
  ExplainCommandTest() {
    Report report = MadeReport();
    report.cells.resize(1);
    report.cells.push_back(report.cells.front());
    report.cells.back().run = 1;
    Miss& miss = report.cells.back().explanation.misses.front();
    miss.frame.completion_ns += 1'000'000;
    report.cells.back().frames.frames.clear();
    absl::StatusOr<UniqueFd> fd = OpenDirectory(directory_.path());
    EXPECT_TRUE(fd.ok());
    EXPECT_TRUE(WriteFileAtomically(fd->get(), "report.json", ReportToJson(report)).ok());
    frame_ = report.cells.front().explanation.misses.front().frame.index;
    flags_.session = directory_.path();
  }

  Outcome Run() {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Outcome outcome;
    outcome.exit_code = RunExplain(flags_);
    outcome.out = testing::internal::GetCapturedStdout();
    outcome.err = testing::internal::GetCapturedStderr();
    return outcome;
  }

  TemporaryDirectory directory_;
  ExplainFlags flags_;
  int64_t frame_ = 0;
};

TEST_F(ExplainCommandTest, TellsTheWorstByDefault) {
  const Outcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, kExitOk);
  EXPECT_THAT(outcome.out, StartsWith("video/burn #2 frame "));
}

TEST_F(ExplainCommandTest, TellsAsManyAsAsked) {
  flags_.worst = 5;
  EXPECT_THAT(Run().out, AllOf(StartsWith("video/burn #2 frame "), HasSubstr("video/burn frame ")));
}

TEST_F(ExplainCommandTest, ARunIsNamedInEachOfItsWays) {
  for (const char* name : {"video/burn", "video/burn#1", "video/burn #1"}) {
    flags_.cell = name;
    EXPECT_THAT(Run().out, StartsWith("video/burn frame ")) << name;
  }
  flags_.cell = "video/burn #2";
  EXPECT_THAT(Run().out, StartsWith("video/burn #2 frame "));
}

TEST_F(ExplainCommandTest, AFrameOfACell) {
  flags_.cell = "video/burn";
  flags_.frame = frame_;
  EXPECT_EQ(Run().exit_code, kExitOk);
  flags_.frame = frame_ + 1;
  const Outcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, kExitUsage);
  EXPECT_THAT(outcome.err, HasSubstr("was dropped: its release passed while frame"));
  flags_.frame = 100000;
  EXPECT_THAT(Run().err, HasSubstr("there is no frame 100000 in that cell"));
}

TEST_F(ExplainCommandTest, AFrameNeedsItsCell) {
  flags_.frame = frame_;
  EXPECT_EQ(Run().exit_code, kExitUsage);
}

TEST_F(ExplainCommandTest, AnUnknownCellNamesThoseThereAre) {
  flags_.cell = "video/none";
  const Outcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, kExitUsage);
  EXPECT_THAT(outcome.err, HasSubstr("video/burn#1, video/burn#2"));
}

TEST_F(ExplainCommandTest, WorstIsAtLeastOne) {
  flags_.worst = 0;
  EXPECT_EQ(Run().exit_code, kExitUsage);
}

TEST_F(ExplainCommandTest, JsonHasTheKeysOfTheReport) {
  flags_.json = true;
  flags_.worst = 2;
  const nlohmann::json rows = nlohmann::json::parse(Run().out);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("cell"), "video/burn");
  EXPECT_EQ(rows[0].at("run"), 1);
  EXPECT_EQ(rows[0].at("frame"), frame_);
  EXPECT_TRUE(rows[0].at("segments").is_array());
}

TEST_F(ExplainCommandTest, ADirectoryThatIsNoSessionIsAFailure) {
  flags_.session = directory_.path() + "/none";
  EXPECT_EQ(Run().exit_code, kExitFailed);
}

}  // namespace
}  // namespace whylate
