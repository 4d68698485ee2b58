#include "userspace/cli/session_file.h"

#include <sys/stat.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "analysis/attribution/explain.h"
#include "analysis/model/status_macros.h"
#include "analysis/stats/classic.h"
#include "analysis/stats/frame_accounting.h"
#include "userspace/cli/trace_file.h"
#include "userspace/session/session_directory.h"
#include "userspace/workload/workload.h"

namespace whylate {
namespace {

std::string TitleOf(const std::string& workload) {
  const absl::StatusOr<Workload> known = MakeWorkload(workload, {});
  return known.ok() ? known->title : workload;
}

absl::StatusOr<Report> FromRecording(const std::string& path) {
  ASSIGN_OR_RETURN(ImportedTrace trace, OpenTrace(path));
  if (!trace.has_frames) {
    return absl::FailedPreconditionError(
        absl::StrCat("'", path, "' is no session and no recording of one but ", trace.format,
                     " of something else; whylate analyze reads it"));
  }
  const Recording& recording = trace.recording;
  Cell cell;
  cell.workload = recording.workload;
  cell.load = recording.load;
  cell.run = recording.run;
  cell.title = TitleOf(recording.workload);
  cell.invalid = recording.invalid;
  cell.notes = recording.notes;
  cell.notes.insert(cell.notes.end(), trace.notes.begin(), trace.notes.end());
  cell.frames = recording.frames;
  absl::StatusOr<FrameCounts> counts = CountFrames(cell.frames);
  if (counts.ok()) {
    cell.counts = *counts;
    cell.classic = ComputeClassic(cell.frames, *counts);
  } else {
    cell.invalid.emplace_back(counts.status().message());
  }
  cell.explanation = Explain(recording);
  Report report;
  report.label = path;
  report.options.workloads = {cell.workload};
  report.options.loads = {cell.load};
  report.options.duration_ns = cell.frames.end_ns - cell.frames.origin_ns;
  report.options.source = recording.trace ? recording.trace->source : "none";
  report.cells.push_back(std::move(cell));
  return report;
}

}  // namespace

absl::StatusOr<Report> OpenSession(const std::string& path) {
  struct stat facts;
  const bool is_file = stat(path.c_str(), &facts) == 0 && !S_ISDIR(facts.st_mode);
  absl::StatusOr<Report> report = is_file ? FromRecording(path) : ReadSessionReport(path);
  if (report.ok()) return report;
  // A file that is no report is not the user's flag that is wrong.
  return absl::FailedPreconditionError(report.status().message());
}

}  // namespace whylate
