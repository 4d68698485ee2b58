#include "analysis/report/analysis_json.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analysis/report/explanation_json.h"
#include "analysis/report/json_fields.h"

namespace whylate {
namespace {

Json TimeJson(const std::optional<int64_t>& time_ns, int64_t origin_ns) {
  return time_ns ? Json(*time_ns - origin_ns) : Json(nullptr);
}

Json ActivationJson(const Activation& activation, int64_t origin_ns) {
  Json segments = Json::array();
  for (const Segment& segment : activation.segments) {
    segments.push_back(SegmentJson(segment, origin_ns));
  }
  return {{"task", activation.task},
          {"tid", activation.tid.value},
          {"start_ns", activation.start_ns - origin_ns},
          {"waking_ns", TimeJson(activation.waking_ns, origin_ns)},
          {"running_ns", TimeJson(activation.running_ns, origin_ns)},
          {"end_ns", activation.end_ns - origin_ns},
          {"finished", activation.finished},
          {"deadline_ns", TimeJson(activation.deadline_ns, origin_ns)},
          {"late", OptionalJson(activation.late)},
          {"wait_ns", activation.wait_ns},
          {"wait_known", activation.wait_known},
          {"segments", std::move(segments)},
          {"verdict", activation.verdict ? VerdictJson(*activation.verdict) : Json(nullptr)}};
}

Json TaskJson(const ActivationRow& row) {
  return {{"task", row.task}, {"tid", row.tid.value},   {"activations", row.activations},
          {"late", row.late}, {"wait_ns", row.wait_ns}, {"longest_wait_ns", row.longest_wait_ns}};
}

}  // namespace

std::string AnalysisToJson(const TraceAnalysis& trace) {
  const Analysis& analysis = trace.analysis;
  Json root;
  root["schema"] = kAnalysisSchema;
  root["format"] = trace.format;
  root["notes"] = trace.notes;
  root["events"] = trace.events;
  root["lost"] = analysis.trace ? Json(analysis.trace->lost) : Json(nullptr);
  root["origin_ns"] = absl::StrCat(trace.begin_ns);
  root["span_ns"] = trace.end_ns - trace.begin_ns;
  root["of"] = analysis.of_frames ? "frames" : "activations";
  root["totals"] = {{"activations", analysis.total},
                    {"late", analysis.late},
                    {"shown", analysis.activations.size()}};
  Json& activations = root["activations"] = Json::array();
  for (const Activation& activation : analysis.activations) {
    activations.push_back(ActivationJson(activation, trace.begin_ns));
  }
  Json& tasks = root["tasks"] = Json::array();
  for (const ActivationRow& row : analysis.tasks) tasks.push_back(TaskJson(row));
  Json& subjects = root["subjects"] = Json::array();
  for (const SubjectWait& row : analysis.subjects) {
    subjects.push_back({{"subject", row.subject}, {"ns", row.ns}});
  }
  return root.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace whylate
