#include "userspace/session/cell_trace.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/model/status_macros.h"
#include "userspace/trace/bpf_source.h"
#include "userspace/trace/tracefs_instance.h"

namespace whylate {
namespace {

// Kept on both sides of a late frame's window, so that what led to it and what repairs need is there.
constexpr int64_t kMarginNs = 200000000;

// Of the memory of the machine this much may hold undecoded events; decoded and analyzed they take
// up to some fifteen times as much, where nearly every frame is late.
int64_t CaptureMemoryBytes() {
  constexpr int64_t kMost = int64_t{512} << 20;
  constexpr int64_t kShare = 24;
  const int64_t ram_bytes = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  return std::min(kMost, std::max<int64_t>(ram_bytes / kShare, 1 << 20));
}

std::vector<TimeWindow> LateWindows(const CellFrames& cell) {
  std::vector<TimeWindow> windows;
  for (const Frame& frame : cell.frames) {
    if (cell.IsLate(frame)) windows.push_back({frame.release_ns, frame.completion_ns});
  }
  return windows;
}

}  // namespace

absl::StatusOr<CellTrace> CellTrace::Start(const SessionOptions& options, Tgid workload) {
  ASSIGN_OR_RETURN(std::unique_ptr<TraceSource> source, CreateTraceSource(options.source));
  TraceOptions trace_options;
  trace_options.buffer_bytes = options.buffer_bytes;
  trace_options.watched = {workload};
  trace_options.measure_bpf_time = true;
  trace_options.keep_all = options.record == "all";
  trace_options.memory_bytes = CaptureMemoryBytes();
  RETURN_IF_ERROR(source->Start(trace_options));
  return CellTrace(std::move(source));
}

absl::StatusOr<ObserverCost> CellTrace::Finish(Recording& recording) {
  ASSIGN_OR_RETURN(Capture capture,
                   source_->Stop(KeepAround(LateWindows(recording.frames), kMarginNs)));
  recording.trace = capture.facts;
  recording.begin_ns = capture.begin_ns;
  recording.end_ns = capture.end_ns;
  recording.events = std::move(capture.events);
  recording.losses = std::move(capture.losses);
  recording.omitted = std::move(capture.omitted);
  recording.cpus = std::move(capture.cpus);
  recording.stacks = std::move(capture.stacks);
  ObserverCost cost;
  cost.wall_ns = capture.end_ns - capture.begin_ns;
  cost.bpf_run_ns = capture.cost.bpf_run_ns;
  cost.reader_cpu_ns = capture.cost.reader_cpu_ns;
  cost.process_cpu_ns = capture.cost.process_cpu_ns;
  cost.captured_bytes = capture.captured_bytes;
  return cost;
}

std::string DefaultTraceSource(std::string& why_not) {
  const absl::Status usable = BpfUsable();
  if (usable.ok()) return "bpf";
  if (TracefsUsable().ok()) {
    why_not =
        absl::StrCat("the scheduler trace comes from ftrace, which tells less: ", usable.message());
    return "tracefs";
  }
  why_not = absl::StrCat("no scheduler trace, so misses are counted and not explained: ",
                         usable.message());
  return "none";
}

}  // namespace whylate
