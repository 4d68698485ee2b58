// The scheduler trace of one cell: started when its processes are ready, stopped when they have ended,
// and handed over as the cell's Recording.
#ifndef WHYLATE_USERSPACE_SESSION_CELL_TRACE_H_
#define WHYLATE_USERSPACE_SESSION_CELL_TRACE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "analysis/model/recording.h"
#include "analysis/report/report.h"
#include "userspace/trace/trace_source.h"

namespace whylate {

class CellTrace {
 public:
  // `workload` is the process whose frames are to be explained. Errors say what is missing.
  static absl::StatusOr<CellTrace> Start(const SessionOptions& options, Tgid workload);

  // Ends the capture and adds what was seen around the late frames of `recording.frames`. Returns
  // what watching cost.
  absl::StatusOr<ObserverCost> Finish(Recording& recording);

 private:
  explicit CellTrace(std::unique_ptr<TraceSource> source) : source_(std::move(source)) {}

  std::unique_ptr<TraceSource> source_;
};

// "bpf" where this process may load and attach the programs, else "tracefs" where it may use ftrace, else
// "none"; unless it is the first, `why_not` says what is missing and how to get it.
std::string DefaultTraceSource(std::string& why_not);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SESSION_CELL_TRACE_H_
