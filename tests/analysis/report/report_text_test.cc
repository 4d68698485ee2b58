#include "analysis/report/report_text.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "analysis/report/escape.h"
#include "analysis/report/report_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/golden.h"
#include "tests/support/made_report.h"

namespace whylate {
namespace {

using testing::HasSubstr;
using testing::Not;

// The first line of `text` that begins with `start`.
std::string LineThatBegins(const std::string& text, absl::string_view start) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, start)) return std::string(line);
  }
  return "";
}

TEST(ReportToTextTest, Golden) {
  const std::string text = ReportToText(MadeReport());
  EXPECT_EQ(text, Golden("report.txt", text));
}

TEST(ReportToTextTest, ReadBackFromJsonIsTheSame) {
  const Report read = ReportFromJson(ReportToJson(MadeReport())).value();
  EXPECT_EQ(ReportToText(read), ReportToText(MadeReport()));
}

TEST(ReportToTextTest, RunsAreNumberedOnlyWhereThereAreSeveral) {
  Report report = MadeReport();
  EXPECT_THAT(ReportToText(report), HasSubstr("burn+write #2"));
  report.options.repeat = 1;
  EXPECT_THAT(ReportToText(report), Not(HasSubstr("#")));
}

TEST(ReportToTextTest, CellsOfOneWorkloadShareATable) {
  Report report = MadeReport();
  report.cells.push_back(report.cells[0]);  // after other workloads' cells, as in a second run
  report.cells.back().run = 1;
  const std::string text = ReportToText(report);
  EXPECT_EQ(text.find("Video"), text.rfind("Video"));
  EXPECT_LT(text.find("burn #2"), text.find("Gaming"));
}

TEST(ReportToTextTest, AlmostAllIsNotAll) {
  Report report = MadeReport();
  report.cells[0].classic.deadlines_met_pct = 99.99;
  report.cells[0].classic.desired_cpu_pct = 100;
  EXPECT_THAT(LineThatBegins(ReportToText(report), "burn"), HasSubstr("  100  99.9 "));
}

TEST(ReportToTextTest, ACellWithoutStatisticsShowsDashes) {
  Report report = MadeReport();
  report.cells[0].classic = {};
  EXPECT_THAT(LineThatBegins(ReportToText(report), "burn"),
              HasSubstr("- +/- -           -      -      -     -"));
}

TEST(ReportToTextTest, SaysWhyACellIsNotValid) {
  EXPECT_THAT(ReportToText(MadeReport()),
              HasSubstr("NOT VALID: load write moved no byte to the disk"));
}

TEST(ReportToTextTest, SaysThatNoCellIsFinished) {
  Report report = MadeReport();
  report.cells.clear();
  report.finished.clear();
  EXPECT_THAT(ReportToText(report), HasSubstr("no cell is finished"));
}

TEST(ReportToTextTest, SaysThatASessionIsNotFinished) {
  Report report = MadeReport();
  EXPECT_THAT(ReportToText(report), Not(HasSubstr("--resume")));
  report.finished.clear();
  EXPECT_THAT(ReportToText(report), HasSubstr("the session is not finished: whylate run --resume"));
}

TEST(ReportToTextTest, WideLoadNamesKeepTheColumns) {
  Report report = MadeReport();
  report.options.repeat = 1;
  report.cells[0].load = "日本";
  const std::string row = LineThatBegins(ReportToText(report), "日本");
  report.cells[0].load = "nipp";  // as wide
  const std::string plain = LineThatBegins(ReportToText(report), "nipp");
  EXPECT_EQ(row.substr(std::string("日本").size()), plain.substr(4));
}

// Every text of a report comes from elsewhere: a file, a kernel, a command line.
TEST(ReportToTextTest, HostileTextDoesNotSteerTheTerminal) {
  const std::string hostile = "\x1b]0;owned\x07\r";
  Report report = MadeReport();
  report.label = report.version = report.started = hostile;
  report.finished = "";
  for (HostFact& fact : report.host) fact.value = hostile;
  report.options.source = report.options.comment = hostile;
  report.warnings = {hostile};
  for (Cell& cell : report.cells) {
    cell.workload += hostile;
    cell.load = cell.title = hostile;
    cell.invalid = cell.notes = {hostile};
    if (!cell.load_progress) continue;
    for (ProgressPart& part : cell.load_progress->parts) part.load = part.unit = hostile;
  }
  for (Cell& cell : report.cells) {
    Explanation& explanation = cell.explanation;
    for (CauseRow& cause : explanation.causes) cause.subject = cause.kind = hostile;
    for (SubjectRow& subject : explanation.subjects) subject.subject = hostile;
    if (explanation.trace) explanation.trace->source = hostile;
  }
  const std::string text = ReportToText(report);
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    EXPECT_EQ(line, EscapeForTerminal(line));
  }
}

TEST(ReportToTextTest, InvalidUtf8IsSpelledOut) {
  Report report = MadeReport();
  report.options.comment = "\xff";
  EXPECT_THAT(ReportToText(report), HasSubstr("comment: \\xff"));
}

TEST(ReportToTextTest, UnknownHostFactsSaySo) {
  Report report = MadeReport();
  report.host = {{"cpu_model", std::nullopt}};
  EXPECT_THAT(ReportToText(report),
              HasSubstr("kernel unknown, ? CPUs (unknown CPU; virtualization: unknown)"));
}

class DescribeProgressTest : public testing::Test {
 protected:
  // Of one part, over two seconds, at 1000 loops a ms.
  static std::string Describe(const ProgressPart& part) {
    return DescribeProgress(LoadProgress{{part}}, 2000000000, 1000);
  }
  static ProgressPart Part(const char* unit, uint64_t total) {
    ProgressPart part;
    part.unit = unit;
    part.total = total;
    return part;
  }
};

TEST_F(DescribeProgressTest, NoLoad) { EXPECT_EQ(DescribeProgress(std::nullopt, 1, 1), "-"); }

TEST_F(DescribeProgressTest, LoopsAreCpus) {
  EXPECT_EQ(Describe(Part("loops", 3220000)), "1.61 CPUs");
}

TEST_F(DescribeProgressTest, CpuTimeIsCpus) {
  EXPECT_EQ(Describe(Part("cpu_ms", 4100)), "2.05 CPUs");
}

TEST_F(DescribeProgressTest, BytesAreARate) {
  EXPECT_EQ(Describe(Part("bytes", 82400000)), "41.2 MB/s");
  EXPECT_EQ(Describe(Part("bytes", 1998)), "999 B/s");
  EXPECT_EQ(Describe(Part("bytes", 2000)), "1.00 kB/s");
  EXPECT_EQ(Describe(Part("bytes", 0)), "0.00 B/s");
}

TEST_F(DescribeProgressTest, DiskBytesStandBesideThem) {
  ProgressPart part = Part("bytes", 82400000);
  part.disk_bytes = 2000;
  EXPECT_EQ(Describe(part), "41.2 MB/s (disk 1.00 kB/s)");
}

TEST_F(DescribeProgressTest, OtherUnitsAreNamed) {
  EXPECT_EQ(Describe(Part("messages", 3000000)), "1.50 M messages/s");
}

TEST_F(DescribeProgressTest, LoopsWithoutACalibrationAreARate) {
  EXPECT_EQ(DescribeProgress(LoadProgress{{Part("loops", 500)}}, 1000000000, 0), "500 loops/s");
}

TEST_F(DescribeProgressTest, PartsAreListed) {
  EXPECT_EQ(DescribeProgress(LoadProgress{{Part("loops", 1000000), Part("bytes", 1000)}},
                             1000000000, 1000),
            "1.00 CPUs, 1.00 kB/s");
}

TEST_F(DescribeProgressTest, ACellThatNeverBeganDidNothing) {
  EXPECT_EQ(DescribeProgress(LoadProgress{{Part("loops", 7)}}, 0, 1000), "nothing");
}

}  // namespace
}  // namespace whylate
