#include "userspace/cli/analyze.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "analysis/attribution/activations.h"
#include "analysis/model/status_macros.h"
#include "analysis/report/analysis_json.h"
#include "analysis/report/analysis_text.h"
#include "analysis/timeline/event_order.h"
#include "userspace/cli/command.h"
#include "userspace/cli/trace_file.h"

namespace whylate {
namespace {

constexpr int32_t kMostWorst = 100'000;

absl::StatusOr<ActivationOptions> ParseOptions(const AnalyzeFlags& flags) {
  ActivationOptions options;
  if (flags.file.empty()) return absl::InvalidArgumentError("FILE is empty");
  if (flags.task && flags.task->empty()) {
    return absl::InvalidArgumentError("--task is empty; write a name or a tid");
  }
  options.task = flags.task.value_or("");
  if (flags.deadline && flags.period) {
    return absl::InvalidArgumentError("--deadline and --period exclude each other");
  }
  const std::optional<std::string>& deadline = flags.deadline ? flags.deadline : flags.period;
  if (deadline) {
    const char* flag = flags.deadline ? "--deadline" : "--period";
    ASSIGN_OR_RETURN(options.deadline_ns,
                     ParseDurationNs(flag, *deadline, absl::Microseconds(1), absl::Hours(24)));
  }
  const int32_t worst = flags.worst.value_or(static_cast<int32_t>(options.worst));
  if (worst < 1 || worst > kMostWorst) {
    return absl::InvalidArgumentError(
        absl::StrCat("--worst ", worst, " is outside 1 to ", kMostWorst));
  }
  options.worst = static_cast<size_t>(worst);
  return options;
}

absl::Status Analyze(const AnalyzeFlags& flags) {
  TraceAnalysis trace;
  ASSIGN_OR_RETURN(trace.options, ParseOptions(flags));
  absl::StatusOr<ImportedTrace> opened = OpenTrace(flags.file);
  if (!opened.ok()) {
    // A file that is no trace is not the user's flag that is wrong.
    return absl::Status(absl::StatusCode::kFailedPrecondition, opened.status().message());
  }
  const Recording& recording = opened->recording;
  const Interval bounds = RecordingBounds(recording);
  trace.format = std::move(opened->format);
  trace.notes = std::move(opened->notes);
  trace.events = recording.trace ? recording.trace->events : recording.events.size();
  trace.begin_ns = bounds.start_ns;
  // A foreign trace ends one nanosecond after its last event, so that what that began is seen.
  trace.end_ns = bounds.end_ns - (opened->has_frames ? 0 : 1);
  trace.analysis = AnalyzeActivations(recording, trace.options);
  if (flags.task && trace.analysis.total == 0) {
    return absl::NotFoundError(absl::StrCat("no task '", *flags.task, "' ran or was woken in '",
                                            flags.file, "'; without --task all are looked at"));
  }
  std::cout << (flags.json ? AnalysisToJson(trace) : AnalysisToText(trace));
  return absl::OkStatus();
}

}  // namespace

int RunAnalyze(const AnalyzeFlags& flags) {
  const absl::Status status = Analyze(flags);
  return status.ok() ? FinishOutput(kExitOk) : ReportError(status);
}

}  // namespace whylate
