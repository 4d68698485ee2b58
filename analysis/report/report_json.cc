#include "analysis/report/report_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "analysis/model/frame.h"
#include "analysis/model/ids.h"
#include "analysis/model/recording.h"
#include "analysis/report/explanation_json.h"
#include "analysis/report/json_fields.h"
#include "analysis/report/session_totals.h"

namespace whylate {
namespace {

constexpr std::array<std::pair<Pacing, const char*>, 3> kPacings = {{
    {Pacing::kSkip, "skip"},
    {Pacing::kCarry, "carry"},
    {Pacing::kBackToBack, "back_to_back"},
}};

const char* PacingName(Pacing pacing) {
  for (const auto& [value, name] : kPacings) {
    if (value == pacing) return name;
  }
  return "";
}

Pacing PacingFromName(const std::string& name) {
  for (const auto& [value, known] : kPacings) {
    if (name == known) return value;
  }
  throw std::invalid_argument(absl::StrCat("'", name, "' is no pacing"));
}

Json OptionsJson(const SessionOptions& options) {
  return {{"preset", options.preset},
          {"workloads", options.workloads},
          {"loads", options.loads},
          {"duration_ns", options.duration_ns},
          {"repeat", options.repeat},
          {"cpu_percent", OptionalJson(options.cpu_percent)},
          {"interval_us", OptionalJson(options.interval_us)},
          {"load_threads", OptionalJson(options.load_threads)},
          {"load_command", options.load_command},
          {"bench_nice", OptionalJson(options.bench_nice)},
          {"load_nice", OptionalJson(options.load_nice)},
          {"cpus", options.cpus},
          {"source", options.source},
          {"buffer_bytes", options.buffer_bytes},
          {"record", options.record},
          {"workdir", options.workdir},
          {"comment", options.comment}};
}

SessionOptions OptionsFromJson(const Json& row) {
  SessionOptions options;
  options.preset = row.at("preset").get<std::string>();
  options.workloads = row.at("workloads").get<std::vector<std::string>>();
  options.loads = row.at("loads").get<std::vector<std::string>>();
  options.duration_ns = row.at("duration_ns").get<int64_t>();
  options.repeat = row.at("repeat").get<int32_t>();
  options.cpu_percent = OptionalField<double>(row, "cpu_percent");
  options.interval_us = OptionalField<int64_t>(row, "interval_us");
  options.load_threads = OptionalField<int32_t>(row, "load_threads");
  options.load_command = row.at("load_command").get<std::string>();
  options.bench_nice = OptionalField<int32_t>(row, "bench_nice");
  options.load_nice = OptionalField<int32_t>(row, "load_nice");
  options.cpus = row.at("cpus").get<std::string>();
  options.source = row.at("source").get<std::string>();
  options.buffer_bytes = row.at("buffer_bytes").get<int64_t>();
  options.record = row.at("record").get<std::string>();
  options.workdir = row.at("workdir").get<std::string>();
  options.comment = row.at("comment").get<std::string>();
  return options;
}

Json FrameCountsJson(const FrameCounts& counts) {
  return {{"due", counts.due},
          {"met", counts.met},
          {"late", counts.late},
          {"dropped", counts.dropped},
          {"censored", counts.censored}};
}

FrameCounts FrameCountsFromJson(const Json& row) {
  return {AmountFrom(row.at("due")), AmountFrom(row.at("met")), AmountFrom(row.at("late")),
          AmountFrom(row.at("dropped")), AmountFrom(row.at("censored"))};
}

Json LatencyJson(const std::optional<Distribution>& latency) {
  Json row;
  const auto put = [&](const char* key, double Distribution::*member) {
    row[key] = latency ? Json((*latency).*member) : Json(nullptr);
  };
  put("mean", &Distribution::mean);
  row["sd"] = latency ? OptionalJson(latency->sd) : Json(nullptr);
  put("p50", &Distribution::p50);
  put("p95", &Distribution::p95);
  put("p99", &Distribution::p99);
  put("p999", &Distribution::p999);
  put("max", &Distribution::max);
  return row;
}

Json ProgressJson(const std::optional<LoadProgress>& progress) {
  if (!progress || progress->parts.empty()) return nullptr;
  Json parts = Json::array();
  for (const ProgressPart& part : progress->parts) {
    parts.push_back({{"load", part.load},
                     {"unit", part.unit},
                     {"total", part.total},
                     {"per_second", part.per_second},
                     {"disk_bytes", OptionalJson(part.disk_bytes)},
                     {"thread_count", OptionalJson(part.thread_count)}});
  }
  const ProgressPart& first = progress->parts.front();
  return {{"unit", first.unit},
          {"total", first.total},
          {"per_second", first.per_second},
          {"parts", std::move(parts)}};
}

std::optional<LoadProgress> ProgressFromJson(const Json& row) {
  if (row.is_null()) return std::nullopt;
  LoadProgress progress;
  for (const Json& part : row.at("parts")) {
    progress.parts.push_back(
        {part.at("load").get<std::string>(), part.at("unit").get<std::string>(),
         part.at("total").get<uint64_t>(), part.at("per_second").get<std::vector<uint64_t>>(),
         OptionalField<int64_t>(part, "disk_bytes"), OptionalField<int64_t>(part, "thread_count")});
  }
  return progress;
}

Json SamplesJson(const CellFrames& cell) {
  Json columns = {{"frame", Json::array()},    {"release_ns", Json::array()},
                  {"start_ns", Json::array()}, {"completion_ns", Json::array()},
                  {"cpu_ns", Json::array()},   {"demand_ns", Json::array()}};
  for (const Frame& frame : cell.frames) {
    columns["frame"].push_back(frame.index);
    columns["release_ns"].push_back(frame.release_ns - cell.origin_ns);
    columns["start_ns"].push_back(frame.start_ns - cell.origin_ns);
    columns["completion_ns"].push_back(frame.completion_ns - cell.origin_ns);
    columns["cpu_ns"].push_back(frame.cpu_ns);
    columns["demand_ns"].push_back(frame.demand_ns);
  }
  return columns;
}

std::vector<Frame> FramesFromJson(const Json& columns, int64_t origin_ns) {
  std::vector<Frame> frames(columns.at("frame").size());
  for (size_t i = 0; i < frames.size(); ++i) {
    const auto value = [&](const char* key) { return columns.at(key).at(i).get<int64_t>(); };
    const auto time = [&](const char* key) { return TimeFrom(columns.at(key).at(i), origin_ns); };
    frames[i] = {value("frame"),        time("release_ns"), time("start_ns"),
                 time("completion_ns"), value("cpu_ns"),    value("demand_ns")};
  }
  return frames;
}

// Columns of a chain's frames, by stage.
Json StagesJson(const CellFrames& cell) {
  Json stages = Json::array();
  for (size_t s = 0; s < cell.stages.size(); ++s) {
    const Stage& stage = cell.stages[s];
    Json row = {{"name", stage.name}, {"tid", stage.tid.value}, {"demand_ns", stage.demand_ns}};
    const bool passes = s + 1 < cell.stages.size();
    if (passes) row["passed_ns"] = Json::array();
    row["cpu_ns"] = Json::array();
    for (size_t i = 0; i < cell.frames.size(); ++i) {
      if (passes) row["passed_ns"].push_back(cell.PassedNs(i)[s] - cell.origin_ns);
      row["cpu_ns"].push_back(cell.StageCpuNs(i)[s]);
    }
    stages.push_back(std::move(row));
  }
  return stages;
}

// Of frames that were read. Reports of workloads without stages have no such key.
void ReadStages(const Json& cell, CellFrames& frames) {
  const auto stages = cell.find("stages");
  if (stages == cell.end()) return;
  if (stages->empty() || stages->size() > kMostStages) {
    throw std::invalid_argument(absl::StrCat(stages->size(), " stages"));
  }
  for (const Json& row : *stages) {
    frames.stages.push_back({row.at("name").get<std::string>(), Tid{row.at("tid").get<int32_t>()},
                             AmountFrom(row.at("demand_ns")), std::nullopt, std::nullopt});
  }
  for (size_t i = 0; i < frames.frames.size(); ++i) {
    for (size_t s = 0; s < frames.stages.size(); ++s) {
      const Json& row = stages->at(s);
      if (s + 1 < frames.stages.size()) {
        frames.passed_ns.push_back(TimeFrom(row.at("passed_ns").at(i), frames.origin_ns));
      }
      frames.stage_cpu_ns.push_back(row.at("cpu_ns").at(i).get<int64_t>());
    }
  }
}

Json ObserverJson(const std::optional<ObserverCost>& cost) {
  if (!cost) return nullptr;
  return {{"wall_ns", cost->wall_ns},
          {"bpf_run_ns", OptionalJson(cost->bpf_run_ns)},
          {"reader_cpu_ns", cost->reader_cpu_ns},
          {"process_cpu_ns", cost->process_cpu_ns},
          {"captured_bytes", cost->captured_bytes}};
}

std::optional<ObserverCost> ObserverFromJson(const Json& row) {
  if (row.is_null()) return std::nullopt;
  return ObserverCost{row.at("wall_ns").get<int64_t>(), OptionalField<int64_t>(row, "bpf_run_ns"),
                      row.at("reader_cpu_ns").get<int64_t>(),
                      row.at("process_cpu_ns").get<int64_t>(),
                      row.at("captured_bytes").get<int64_t>()};
}

Json CellJson(const Cell& cell) {
  Json row = {{"workload", cell.workload},
              {"load", cell.load},
              {"run", cell.run},
              {"title", cell.title},
              {"origin_ns", absl::StrCat(cell.frames.origin_ns)},
              {"duration_ns", cell.frames.end_ns - cell.frames.origin_ns},
              {"pacing", PacingName(cell.frames.pacing)},
              {"period",
               {{"numerator_ns", cell.frames.period.numerator_ns},
                {"denominator", cell.frames.period.denominator}}},
              {"valid", cell.valid()},
              {"invalid", cell.invalid},
              {"notes", cell.notes},
              {"frames", FrameCountsJson(cell.counts)},
              {"latency_us", LatencyJson(cell.classic.latency_us)},
              {"desired_cpu_pct", OptionalJson(cell.classic.desired_cpu_pct)},
              {"deadlines_met_pct", OptionalJson(cell.classic.deadlines_met_pct)},
              {"cpu_per_demand", OptionalJson(cell.classic.cpu_per_demand)},
              {"load_progress", ProgressJson(cell.load_progress)},
              {"samples", SamplesJson(cell.frames)},
              {"observer", ObserverJson(cell.observer)},
              {"recording", cell.recording.empty() ? Json(nullptr) : Json(cell.recording)}};
  if (!cell.frames.stages.empty()) row["stages"] = StagesJson(cell.frames);
  AddExplanation(cell.explanation, cell.frames, row);
  return row;
}

// A late frame is in the samples too, which have all of it. Both are in order of the index.
void CompleteMisses(const CellFrames& frames, Explanation& explanation) {
  for (Miss& miss : explanation.misses) {
    const auto frame = std::lower_bound(
        frames.frames.begin(), frames.frames.end(), miss.frame.index,
        [](const Frame& candidate, int64_t index) { return candidate.index < index; });
    if (frame != frames.frames.end() && frame->index == miss.frame.index) miss.frame = *frame;
  }
}

Json TotalsJson(const Report& report) {
  const SessionTotals totals = TotalsOf(report);
  if (totals.duration_ns == 0) return nullptr;
  Json row = {{"misses", totals.misses}, {"delay", DelayJson(totals.delay, totals.duration_ns)}};
  AddRows(totals.causes, totals.subjects, row);
  return row;
}

Cell CellFromJson(const Json& row) {
  Cell cell;
  cell.workload = row.at("workload").get<std::string>();
  cell.load = row.at("load").get<std::string>();
  cell.run = row.at("run").get<int32_t>();
  cell.title = row.at("title").get<std::string>();
  cell.invalid = row.at("invalid").get<std::vector<std::string>>();
  cell.notes = row.at("notes").get<std::vector<std::string>>();
  CellFrames& frames = cell.frames;
  if (!absl::SimpleAtoi(row.at("origin_ns").get<std::string>(), &frames.origin_ns)) {
    throw std::invalid_argument("origin_ns is no number");
  }
  frames.end_ns = TimeFrom(row.at("duration_ns"), frames.origin_ns);
  frames.pacing = PacingFromName(row.at("pacing").get<std::string>());
  frames.period = {row.at("period").at("numerator_ns").get<int64_t>(),
                   row.at("period").at("denominator").get<int64_t>()};
  frames.frames = FramesFromJson(row.at("samples"), frames.origin_ns);
  ReadStages(row, frames);
  cell.counts = FrameCountsFromJson(row.at("frames"));
  // Frames that could not be counted have no statistics either.
  if (cell.counts != FrameCounts{}) cell.classic = ComputeClassic(frames, cell.counts);
  cell.load_progress = ProgressFromJson(row.at("load_progress"));
  cell.observer = ObserverFromJson(row.at("observer"));
  cell.recording = OptionalField<std::string>(row, "recording").value_or("");
  cell.explanation = ExplanationFromJson(row, frames.origin_ns);
  CompleteMisses(frames, cell.explanation);
  return cell;
}

Report ReportFrom(const Json& root) {
  Report report;
  report.label = root.at("label").get<std::string>();
  report.version = root.at("version").get<std::string>();
  report.run_id = root.at("run_id").get<std::string>();
  report.started = root.at("started").get<std::string>();
  report.finished = OptionalField<std::string>(root, "finished").value_or("");
  report.warnings = root.at("warnings").get<std::vector<std::string>>();
  report.loops_per_ms = root.at("loops_per_ms").get<int64_t>();
  for (const auto& [key, value] : root.at("host").items()) {
    report.host.push_back(
        {key, value.is_null() ? std::nullopt : std::optional(value.get<std::string>())});
  }
  report.options = OptionsFromJson(root.at("options"));
  for (const Json& row : root.at("cells")) report.cells.push_back(CellFromJson(row));
  return report;
}

// Called for each part as it is parsed. A number that no integer can hold must not get as far as a
// conversion to one, and nothing in a report is nested deeply.
bool CheckPart(int depth, Json::parse_event_t, Json& part) {
  constexpr int kMaxDepth = 32;
  constexpr double kMaxNumber = 9e18;  // just below 2^63
  if (depth > kMaxDepth) throw std::invalid_argument("it is nested too deeply");
  if (part.is_number_float() && !(std::fabs(part.get<double>()) < kMaxNumber)) {
    throw std::invalid_argument("a number is out of range");
  }
  return true;
}

}  // namespace

std::string ReportToJson(const Report& report) {
  Json host = Json::object();
  for (const HostFact& fact : report.host) host[fact.key] = OptionalJson(fact.value);
  Json cells = Json::array();
  for (const Cell& cell : report.cells) cells.push_back(CellJson(cell));
  const Json root = {{"schema", kReportSchema},
                     {"label", report.label},
                     {"version", report.version},
                     {"run_id", report.run_id},
                     {"started", report.started},
                     {"finished", report.finished.empty() ? Json(nullptr) : Json(report.finished)},
                     {"warnings", report.warnings},
                     {"host", std::move(host)},
                     {"loops_per_ms", report.loops_per_ms},
                     {"options", OptionsJson(report.options)},
                     {"totals", TotalsJson(report)},
                     {"cells", std::move(cells)}};
  return root.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string MissToJson(const Cell& cell, const Miss& miss) {
  Json row = {{"cell", absl::StrCat(cell.workload, "/", cell.load)}, {"run", cell.run}};
  row.update(MissJson(miss, cell.frames.origin_ns));
  return row.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::StatusOr<Report> ReportFromJson(absl::string_view text) {
  try {
    const Json root = Json::parse(text.begin(), text.end(), CheckPart);
    const std::string schema = root.is_object() ? root.value("schema", "") : "";
    if (schema != kReportSchema) {
      return absl::InvalidArgumentError(absl::StrCat(
          "not a report of this version: its schema is '", schema, "', not '", kReportSchema, "'"));
    }
    return ReportFrom(root);
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("not a whole report: ", error.what()));
  }
}

}  // namespace whylate
