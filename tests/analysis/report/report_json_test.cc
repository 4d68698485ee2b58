#include "analysis/report/report_json.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "analysis/model/recording.h"
#include "analysis/report/escape.h"
#include "analysis/report/json_fields.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/json_shape.h"
#include "tests/support/made_report.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

using testing::_;
using testing::AllOf;
using testing::AnyOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Json MadeJson() { return Json::parse(ReportToJson(MadeReport())); }

TEST(ReportSchemaTest, Session) {
  const Json report = MadeJson();
  ExpectShape(report, {{"schema", "string"},
                       {"label", "string"},
                       {"version", "string"},
                       {"run_id", "string"},
                       {"started", "string"},
                       {"finished", "string"},
                       {"warnings", "array"},
                       {"host", "object"},
                       {"loops_per_ms", "integer"},
                       {"options", "object"},
                       {"cells", "array"}});
  EXPECT_EQ(report["schema"], "whylate.report/1");
}

TEST(ReportSchemaTest, HostFactsAreTextOrNull) {
  const Json host = MadeJson()["host"];
  EXPECT_EQ(host["kernel"], "6.18.0");
  EXPECT_TRUE(host["hz"].is_null());
}

TEST(ReportSchemaTest, Options) {
  ExpectShape(MadeJson()["options"], {{"preset", "string"},
                                      {"workloads", "array"},
                                      {"loads", "array"},
                                      {"duration_ns", "integer"},
                                      {"repeat", "integer"},
                                      {"cpu_percent", "null"},
                                      {"interval_us", "null"},
                                      {"load_threads", "integer"},
                                      {"load_command", "string"},
                                      {"bench_nice", "integer"},
                                      {"load_nice", "null"},
                                      {"cpus", "string"},
                                      {"source", "string"},
                                      {"buffer_bytes", "integer"},
                                      {"workdir", "string"},
                                      {"comment", "string"}});
}

TEST(ReportSchemaTest, UnfinishedSession) {
  Report report = MadeReport();
  report.finished.clear();
  EXPECT_TRUE(Json::parse(ReportToJson(report))["finished"].is_null());
}

class CellSchemaTest : public testing::TestWithParam<size_t> {
 protected:
  const Json cell_ = MadeJson()["cells"][GetParam()];
};

TEST_P(CellSchemaTest, Keys) {
  ExpectShape(cell_, {{"workload", "string"},
                      {"load", "string"},
                      {"run", "integer"},
                      {"title", "string"},
                      {"origin_ns", "string"},
                      {"duration_ns", "integer"},
                      {"pacing", "string"},
                      {"period", "object"},
                      {"valid", "boolean"},
                      {"invalid", "array"},
                      {"notes", "array"},
                      {"frames", "object"},
                      {"latency_us", "object"},
                      {"desired_cpu_pct", "float|null"},
                      {"deadlines_met_pct", "float|null"},
                      {"cpu_per_demand", "float|null"},
                      {"load_progress", "object|null"},
                      {"samples", "object"},
                      {"observer", "object|null"},
                      {"trace", "object|null"},
                      {"misses", "array"},
                      {"causes", "array"},
                      {"subjects", "array"}});
  ExpectShape(cell_["period"], {{"numerator_ns", "integer"}, {"denominator", "integer"}});
}

TEST_P(CellSchemaTest, Frames) {
  const Json frames = cell_["frames"];
  ExpectShape(frames, {{"due", "integer"},
                       {"met", "integer"},
                       {"late", "integer"},
                       {"dropped", "integer"},
                       {"censored", "integer"}});
  EXPECT_EQ(frames["due"].get<int>(),
            frames["met"].get<int>() + frames["late"].get<int>() + frames["dropped"].get<int>());
}

TEST_P(CellSchemaTest, Latency) {
  ExpectShape(cell_["latency_us"], {{"mean", "float"},
                                    {"sd", "float"},
                                    {"p50", "float"},
                                    {"p95", "float"},
                                    {"p99", "float"},
                                    {"p999", "float"},
                                    {"max", "float"}});
}

TEST_P(CellSchemaTest, SamplesAreColumnsOfEqualLength) {
  const Json samples = cell_["samples"];
  const size_t rows = MadeReport().cells[GetParam()].frames.frames.size();
  for (const char* column :
       {"frame", "release_ns", "start_ns", "completion_ns", "cpu_ns", "demand_ns"}) {
    ASSERT_TRUE(samples.contains(column));
    ExpectArrayOf(samples[column], "integer");
    EXPECT_EQ(samples[column].size(), rows) << column;
  }
}

TEST_P(CellSchemaTest, ValidSaysWhetherThereAreReasons) {
  EXPECT_EQ(cell_["valid"].get<bool>(), cell_["invalid"].empty());
}

INSTANTIATE_TEST_SUITE_P(Cells, CellSchemaTest, testing::Values(0, 1, 2));

TEST(ReportToJsonTest, TimesAreRelativeToTheOrigin) {
  const Json cell = MadeJson()["cells"][0];
  EXPECT_EQ(cell["origin_ns"], "9007199254740993");
  EXPECT_EQ(cell["duration_ns"], 66666666);
  EXPECT_EQ(cell["samples"]["frame"], Json({0, 1, 3}));
  EXPECT_EQ(cell["samples"]["release_ns"], Json({0, 16666666, 50000000}));
  EXPECT_EQ(cell["samples"]["start_ns"], Json({50000, 20000000, 50100000}));
  EXPECT_EQ(cell["samples"]["completion_ns"], Json({6800000, 40000000, 56900000}));
  EXPECT_EQ(cell["misses"][0]["release_ns"], 16666666);
}

TEST(ReportToJsonTest, CountsOfASkippingCell) {
  EXPECT_EQ(MadeJson()["cells"][0]["frames"],
            Json({{"due", 4}, {"met", 2}, {"late", 1}, {"dropped", 1}, {"censored", 0}}));
}

TEST(ReportToJsonTest, GamingHasNoDeadlines) {
  const Json gaming = MadeJson()["cells"][1];
  EXPECT_TRUE(gaming["deadlines_met_pct"].is_null());
  EXPECT_EQ(gaming["frames"],
            Json({{"due", 3}, {"met", 3}, {"late", 0}, {"dropped", 0}, {"censored", 0}}));
}

TEST(ReportToJsonTest, ProgressIsNullUnderNoLoad) {
  EXPECT_TRUE(MadeJson()["cells"][1]["load_progress"].is_null());
}

TEST(ReportToJsonTest, ProgressShowsThePartsAndTheFirstOfThem) {
  const Json progress = MadeJson()["cells"][2]["load_progress"];
  ExpectShape(
      progress,
      {{"unit", "string"}, {"total", "integer"}, {"per_second", "array"}, {"parts", "array"}});
  EXPECT_EQ(progress["unit"], "loops");
  EXPECT_EQ(progress["total"], 450000000);
  ASSERT_EQ(progress["parts"].size(), 2u);
  EXPECT_EQ(progress["parts"][1], Json({{"load", "write"},
                                        {"unit", "bytes"},
                                        {"total", 12345678},
                                        {"per_second", {12000000}},
                                        {"disk_bytes", 9876543},
                                        {"thread_count", 1}}));
  EXPECT_TRUE(progress["parts"][0]["disk_bytes"].is_null());
}

TEST(ReportToJsonTest, ObserverIsThereWithATrace) {
  const Json cells = MadeJson()["cells"];
  ExpectShape(cells[0]["observer"], {{"wall_ns", "integer"},
                                     {"bpf_run_ns", "integer"},
                                     {"reader_cpu_ns", "integer"},
                                     {"process_cpu_ns", "integer"},
                                     {"captured_bytes", "integer"}});
  EXPECT_TRUE(cells[1]["observer"].is_null());
}

TEST(ReportToJsonTest, LatencyIsNullWhereNothingCompleted) {
  Report report = MadeReport();
  report.cells[0].frames.frames.clear();
  report.cells[0].classic = {};
  const Json cell = Json::parse(ReportToJson(report))["cells"][0];
  for (const auto& [key, value] : cell["latency_us"].items()) EXPECT_TRUE(value.is_null()) << key;
  EXPECT_EQ(cell["latency_us"].size(), 7u);
  EXPECT_TRUE(cell["samples"]["frame"].is_array());
}

TEST(MissToJsonTest, IsTheMissAndWhereItWas) {
  const Cell cell = MadeReport().cells[0];
  const Json miss = Json::parse(MissToJson(cell, cell.explanation.misses[0]));
  EXPECT_EQ(miss["cell"], "video/burn");
  EXPECT_EQ(miss["run"], 0);
  const Json row = MadeJson()["cells"][0]["misses"][0];
  for (const auto& [key, value] : row.items()) EXPECT_EQ(miss[key], value) << key;
}

TEST(ReportToJsonTest, IsOneLine) {
  const std::string text = ReportToJson(MadeReport());
  EXPECT_EQ(text.find('\n'), text.size() - 1);
}

void ExpectRoundTrip(const Report& report) {
  const std::string text = ReportToJson(report);
  const absl::StatusOr<Report> read = ReportFromJson(text);
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(ReportToJson(*read), text);
}

TEST(RoundTripTest, MadeReport) { ExpectRoundTrip(MadeReport()); }

TEST(RoundTripTest, EmptyReport) { ExpectRoundTrip(Report()); }

TEST(RoundTripTest, KeepsOptions) {
  Report report = MadeReport();
  report.options.preset = "quick";
  report.options.cpu_percent = 12.5;
  report.options.interval_us = 2667;
  report.options.load_threads = std::nullopt;
  report.options.load_nice = 19;
  report.options.load_command = "make -j8 'a b'";
  report.options.workdir = "/tmp/x";
  ExpectRoundTrip(report);
  const Report read = ReportFromJson(ReportToJson(report)).value();
  EXPECT_EQ(read.options.cpu_percent, 12.5);
  EXPECT_EQ(read.options.load_threads, std::nullopt);
  EXPECT_EQ(read.options.load_command, "make -j8 'a b'");
}

TEST(RoundTripTest, KeepsAbsoluteTimesExactly) {
  const Report read = ReportFromJson(ReportToJson(MadeReport())).value();
  EXPECT_EQ(read.cells[0].frames.origin_ns, kMadeOriginNs);
  EXPECT_EQ(read.cells[0].frames.frames[1].start_ns, kMadeOriginNs + 20000000);
}

TEST(RoundTripTest, ACellThatNeverBegan) {
  Report report = MadeReport();
  Cell& cell = report.cells[0];
  cell.frames.frames.clear();
  cell.frames.origin_ns = cell.frames.end_ns = 0;
  cell.counts = {};
  cell.classic = {};
  cell.explanation = {};
  cell.invalid = {"load burn was killed by signal 9 (Killed)"};
  ExpectRoundTrip(report);
}

// Its frames contradict each other: they are kept, and nothing is computed from them.
TEST(RoundTripTest, ACellWithFramesAndWithoutStatistics) {
  Report report = MadeReport();
  report.cells[0].counts = {};
  report.cells[0].classic = {};
  ExpectRoundTrip(report);
}

// The video cell's three frames, as if they went through two stages.
Report WithStages() {
  Report report = MadeReport();
  CellFrames& frames = report.cells[0].frames;
  frames.stages = {{"a \x1b\"", Tid{70}, 4000000, {}, {}}, {"b", Tid{71}, 2666667, {}, {}}};
  for (const Frame& frame : frames.frames) {
    frames.passed_ns.push_back(frame.start_ns + 1000);
    frames.stage_cpu_ns.insert(frames.stage_cpu_ns.end(), {frame.cpu_ns - 1, 1});
  }
  Miss& miss = report.cells[0].explanation.misses[0];
  miss.segments[0].stage = {"a", Tid{70}};
  miss.segments[1].stage = {"b", Tid{71}};
  miss.verdict->stage = "b";
  return report;
}

TEST(RoundTripTest, KeepsTheStagesOfAChain) {
  const Report report = WithStages();
  ExpectRoundTrip(report);
  const Report read = ReportFromJson(ReportToJson(report)).value();
  const CellFrames& frames = read.cells[0].frames;
  EXPECT_EQ(frames.stages, report.cells[0].frames.stages);
  EXPECT_EQ(frames.passed_ns, report.cells[0].frames.passed_ns);
  EXPECT_EQ(frames.stage_cpu_ns, report.cells[0].frames.stage_cpu_ns);
  const Miss& miss = read.cells[0].explanation.misses[0];
  EXPECT_EQ(miss.segments[1].stage, (StageThread{"b", Tid{71}}));
  EXPECT_EQ(miss.verdict->stage, "b");
}

TEST(ReportToJsonTest, AStageHasColumnsAsLongAsTheFrames) {
  const Json cell = Json::parse(ReportToJson(WithStages()))["cells"][0];
  ASSERT_EQ(cell["stages"].size(), 2u);
  EXPECT_EQ(cell["stages"][0]["passed_ns"], Json({51000, 20001000, 50101000}));
  EXPECT_EQ(cell["stages"][1]["cpu_ns"], Json({1, 1, 1}));
  EXPECT_FALSE(cell["stages"][1].contains("passed_ns"));
  EXPECT_EQ(cell["misses"][0]["segments"][0]["stage"], Json({{"name", "a"}, {"tid", 70}}));
}

TEST(ReportToJsonTest, WhatHasNoStagesDoesNotSpeakOfThem) {
  EXPECT_THAT(ReportToJson(MadeReport()), Not(HasSubstr("\"stage")));
}

TEST(ReportFromJsonTest, StagesThatAreNotWholeAreRefused) {
  const auto read = [](const std::function<void(Json&)>& change) {
    Json report = Json::parse(ReportToJson(WithStages()));
    change(report["cells"][0]["stages"]);
    return ReportFromJson(report.dump()).status();
  };
  EXPECT_THAT(read([](Json& stages) { stages = Json::array(); }), StatusIs(kInvalid, _));
  EXPECT_THAT(read([](Json& stages) { stages = nullptr; }), StatusIs(kInvalid, _));
  EXPECT_THAT(read([](Json& stages) { stages = Json::object({{"a", 1}}); }), StatusIs(kInvalid, _));
  EXPECT_THAT(read([](Json& stages) { stages[0].erase("passed_ns"); }), StatusIs(kInvalid, _));
  EXPECT_THAT(read([](Json& stages) { stages[0]["passed_ns"].erase(2); }), StatusIs(kInvalid, _));
  EXPECT_THAT(read([](Json& stages) { stages[1]["cpu_ns"] = Json::array(); }),
              StatusIs(kInvalid, _));
  EXPECT_THAT(read([](Json& stages) { stages[0]["passed_ns"][1] = int64_t{1} << 61; }),
              StatusIs(kInvalid, _));
  EXPECT_THAT(read([](Json& stages) {
                while (stages.size() <= kMostStages) stages.push_back(stages[0]);
              }),
              StatusIs(kInvalid, _));
}

TEST(RoundTripTest, HostileNames) {
  const std::string hostile("\x1b]0;owned\x07\"\\\n\0\x7f</script>\xe2\x80\xae", 28);
  Report report = MadeReport();
  report.label = hostile;
  report.host.push_back({hostile, hostile});
  report.cells[0].workload = hostile;
  report.cells[0].invalid = {hostile};
  report.cells[0].explanation.misses[0].segments[1].occupants[0].task = hostile;
  ExpectRoundTrip(report);
  EXPECT_EQ(ReportFromJson(ReportToJson(report))->label, hostile);
}

TEST(RoundTripTest, InvalidUtf8BecomesReplacementCharacters) {
  Report report = MadeReport();
  report.label = "a\xff";
  report.options.comment = "\xed\xa0\x80";  // a surrogate
  report.cells[0].load = "cut \xe6\x97";
  report.cells[0].explanation.misses[0].segments[1].occupants[0].task = "\xc0\xaf";
  const std::string text = ReportToJson(report);
  EXPECT_EQ(ValidUtf8(text), text);
  ExpectRoundTrip(report);
  EXPECT_EQ(ReportFromJson(text)->label, "a\xef\xbf\xbd");
}

class TruncationTest : public testing::TestWithParam<size_t> {};

TEST_P(TruncationTest, IsNoReport) {
  const std::string text = ReportToJson(MadeReport());
  EXPECT_THAT(ReportFromJson(text.substr(0, text.size() * GetParam() / 16)),
              StatusIs(kInvalid, HasSubstr("not a whole report")));
}

INSTANTIATE_TEST_SUITE_P(Sixteenths, TruncationTest, testing::Range<size_t>(0, 16));

TEST(ReportFromJsonTest, TheLastBraceIsNeeded) {
  const std::string text = ReportToJson(MadeReport());
  EXPECT_THAT(ReportFromJson(text.substr(0, text.size() - 2)), StatusIs(kInvalid, _));
}

TEST(ReportFromJsonTest, AnythingAfterTheReportIsAnError) {
  EXPECT_THAT(ReportFromJson(ReportToJson(MadeReport()) + "{}"), StatusIs(kInvalid, _));
}

TEST(ReportFromJsonTest, AnotherSchemaIsNamed) {
  Json report = MadeJson();
  report["schema"] = "whylate.report/2";
  EXPECT_THAT(ReportFromJson(report.dump()),
              StatusIs(kInvalid,
                       AllOf(HasSubstr("'whylate.report/2'"), EndsWith("not 'whylate.report/1'"))));
}

TEST(ReportFromJsonTest, JsonThatIsNoReport) {
  for (const char* text : {"null", "[]", "{}", "3", "\"whylate.report/1\"", "{\"schema\":1}",
                           "{\"schema\":null}", "{\"schema\":\"whylate.report/1\"}"}) {
    EXPECT_THAT(ReportFromJson(text), StatusIs(kInvalid, _)) << text;
  }
}

TEST(ReportFromJsonTest, DeepNestingIsAnErrorAndNoCrash) {
  EXPECT_THAT(ReportFromJson(std::string(200000, '[')), StatusIs(kInvalid, _));
}

TEST(ReportFromJsonTest, ColumnsOfDifferentLength) {
  Json report = MadeJson();
  report["cells"][0]["samples"]["start_ns"].erase(2);
  EXPECT_THAT(ReportFromJson(report.dump()), StatusIs(kInvalid, HasSubstr("not a whole report")));
}

TEST(ReportFromJsonTest, OriginThatIsNoNumber) {
  Json report = MadeJson();
  report["cells"][0]["origin_ns"] = "soon";
  EXPECT_THAT(ReportFromJson(report.dump()), StatusIs(kInvalid, HasSubstr("origin_ns")));
}

TEST(ReportFromJsonTest, UnknownPacing) {
  Json report = MadeJson();
  report["cells"][0]["pacing"] = "hop";
  EXPECT_THAT(ReportFromJson(report.dump()), StatusIs(kInvalid, HasSubstr("'hop'")));
}

TEST(ReportFromJsonTest, NewKeysAreIgnored) {
  Json report = MadeJson();
  report["later"] = {{"a", 1}};
  report["cells"][0]["later"] = "b";
  EXPECT_THAT(ReportFromJson(report.dump()), IsOk());
}

// Every leaf, replaced by what does not belong there: an error or a report, never a crash.
void ReplaceEveryLeaf(const Json& replacement) {
  const Json flat = MadeJson().flatten();
  for (const auto& [pointer, value] : flat.items()) {
    Json report = MadeJson();
    report[Json::json_pointer(pointer)] = replacement;
    const absl::StatusOr<Report> read = ReportFromJson(report.dump());
    EXPECT_THAT(read.status().code(), AnyOf(kInvalid, absl::StatusCode::kOk)) << pointer;
  }
}

TEST(HostileReportTest, ObjectsWhereTheyDoNotBelong) { ReplaceEveryLeaf(Json::object()); }
TEST(HostileReportTest, NullsEverywhere) { ReplaceEveryLeaf(nullptr); }
TEST(HostileReportTest, TextEverywhere) { ReplaceEveryLeaf("\xef\xbf\xbd"); }
TEST(HostileReportTest, LargestNumberEverywhere) {
  ReplaceEveryLeaf(std::numeric_limits<int64_t>::max());
}
TEST(HostileReportTest, SmallestNumberEverywhere) {
  ReplaceEveryLeaf(std::numeric_limits<int64_t>::min());
}
TEST(HostileReportTest, HugeFloatEverywhere) { ReplaceEveryLeaf(1e300); }

TEST(HostileReportTest, OriginAtTheEndOfTime) {
  for (const char* origin : {"9223372036854775807", "-9223372036854775808"}) {
    Json report = MadeJson();
    report["cells"][0]["origin_ns"] = origin;
    EXPECT_THAT(ReportFromJson(report.dump()), StatusIs(kInvalid, _)) << origin;
  }
}

}  // namespace
}  // namespace whylate
