#include "userspace/cli/session_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analysis/attribution/explain.h"
#include "analysis/report/explanation_json.h"
#include "analysis/report/perfetto_writer.h"
#include "analysis/report/report_text.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/trace_generator.h"

namespace whylate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class OpenSessionTest : public testing::Test {
 protected:
  std::string Write(const std::string& contents) {
    directory_.Write("cell.pftrace", contents);
    return directory_.Path("cell.pftrace");
  }

  TemporaryDirectory directory_;
};

TEST_F(OpenSessionTest, ARecordingIsItsOneCell) {
  Recording recording = GenerateTrace({.seed = 7});
  recording.workload = "video";
  recording.load = "burn";
  recording.run = 1;
  const absl::StatusOr<Report> report = OpenSession(Write(RecordingToPerfetto(recording, nullptr)));
  ASSERT_THAT(report, IsOk());
  ASSERT_EQ(report->cells.size(), 1U);
  const Cell& cell = report->cells[0];
  EXPECT_EQ(cell.workload, "video");
  EXPECT_EQ(cell.load, "burn");
  EXPECT_EQ(cell.run, 1);
  EXPECT_THAT(cell.title, HasSubstr("60 Hz"));
  EXPECT_EQ(cell.counts.late, 1);
  Json from_memory;
  Json from_file;
  AddExplanation(Explain(recording), recording.frames, from_memory);
  AddExplanation(cell.explanation, cell.frames, from_file);
  EXPECT_EQ(from_file.dump(), from_memory.dump());
  const std::string text = ReportToText(*report);
  EXPECT_THAT(text, AllOf(HasSubstr("recording "), HasSubstr("cell.pftrace"), HasSubstr("miss")));
  EXPECT_THAT(text, Not(HasSubstr("--resume")));
}

TEST_F(OpenSessionTest, ATraceOfSomethingElseIsForAnalyze) {
  const std::string path = Write(
      "  a-10 [000] d..2 10.001000: sched_switch: prev_comm=a prev_pid=10 prev_prio=120 "
      "prev_state=S ==> next_comm=b next_pid=11 next_prio=120\n");
  EXPECT_THAT(OpenSession(path), StatusIs(absl::StatusCode::kFailedPrecondition,
                                          HasSubstr("whylate analyze reads it")));
}

TEST_F(OpenSessionTest, WhatIsNeitherIsOneLine) {
  EXPECT_THAT(OpenSession(Write("\x01\x02 nothing")),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no trace")));
  EXPECT_THAT(OpenSession(directory_.path()),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("report.json")));
  EXPECT_THAT(OpenSession("/dev/null"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("regular file")));
}

}  // namespace
}  // namespace whylate
