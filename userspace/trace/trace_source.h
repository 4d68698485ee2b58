// Where scheduler events come from: a source is started, watches the machine, and is stopped.
//
//   ASSIGN_OR_RETURN(auto source, CreateTraceSource("bpf"));
//   TraceOptions options;
//   options.watched = {workload_tgid};
//   RETURN_IF_ERROR(source->Start(options));
//   ... the cell runs ...
//   ASSIGN_OR_RETURN(Capture capture, source->Stop(KeepAround(late_windows, 200'000'000)));
//
// Threading: one owner calls Start, Watch and Stop, from any one thread at a time. A source that is
// destroyed without Stop leaves nothing behind, and neither does a process that is killed.
#ifndef WHYLATE_USERSPACE_TRACE_TRACE_SOURCE_H_
#define WHYLATE_USERSPACE_TRACE_TRACE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "analysis/model/ids.h"
#include "analysis/model/recording.h"
#include "analysis/model/sched_event.h"

namespace whylate {

struct TraceOptions {
  // Of the buffer between the kernel and the reader. The kernel takes powers of two of at least a
  // page only: rounded up, and Capture::buffer_bytes says to what.
  int64_t buffer_bytes = int64_t{8} << 20;
  // Of the memory that holds the events until Stop. What does not fit is lost, and counted as such.
  // Stop needs up to ten times as much where it keeps everything: a decoded event is larger.
  int64_t memory_bytes = int64_t{512} << 20;
  // Processes whose tasks' timers and affinity are recorded too; see also TraceSource::Watch.
  std::vector<Tgid> watched;
  // Record the instant of each sched_setaffinity() on a watched task. It takes 0.1 us from every
  // system call of every process; without it, a new mask comes with the task's next event.
  bool watch_affinity_calls = true;
  // Stop keeps everything, whatever windows it is given.
  bool keep_all = false;
  // Count the run time of the BPF programs (the kernel then reads the clock twice more per event);
  // where this process may.
  bool measure_bpf_time = false;
};

// A half-open stretch of CLOCK_MONOTONIC.
struct TimeWindow {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  friend bool operator==(const TimeWindow&, const TimeWindow&) = default;
};

// What Stop keeps of what was captured.
//
// Everything, or what lies in one of the windows, each widened by `margin_ns` on both sides. Names,
// forks, exits, affinity changes and seeds are always kept, and so is each CPU's last switch
// before a window, so that its occupant stays known.
struct KeepEvents {
  bool all = true;
  std::vector<TimeWindow> windows;  // in any order; they may overlap
  int64_t margin_ns = 0;
};

inline KeepEvents KeepAround(std::vector<TimeWindow> windows, int64_t margin_ns) {
  return {.all = false, .windows = std::move(windows), .margin_ns = margin_ns};
}

// What watching cost, from Start to Stop.
struct TraceCost {
  std::optional<int64_t> bpf_run_ns;  // where it was measured
  uint64_t bpf_runs = 0;              // of which bpf_run_ns is the time
  int64_t reader_cpu_ns = 0;          // of the thread that drains the buffer
  int64_t process_cpu_ns = 0;         // of the whole process, the reader included
};

struct Capture {
  TraceFacts facts;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  std::vector<SchedEvent> events;  // in total order
  std::vector<LossInterval> losses;
  std::vector<OmittedInterval> omitted;  // what Stop was told not to keep
  TraceCost cost;
  std::vector<CpuDescription> cpus;
  std::vector<std::vector<std::string>> stacks;  // Recording::stacks
  int64_t buffer_bytes = 0;                      // the real size
  int64_t captured_bytes = 0;                    // of all events, in memory, before any was dropped
};

class TraceSource {
 public:
  TraceSource() = default;
  TraceSource(const TraceSource&) = delete;
  TraceSource& operator=(const TraceSource&) = delete;
  virtual ~TraceSource() = default;

  // From here on events are recorded. Once per source. The errors say what is missing and what to
  // do: PermissionDenied (rights), FailedPrecondition (kernel), InvalidArgument (options).
  virtual absl::Status Start(const TraceOptions& options) = 0;

  // Adds a process to the watched ones; its threads and affinity are read again. At most 32 in all.
  virtual absl::Status Watch(Tgid tgid) = 0;

  // Ends the recording and hands it over. Once, after Start.
  virtual absl::StatusOr<Capture> Stop(const KeepEvents& keep) = 0;
  absl::StatusOr<Capture> Stop() { return Stop(KeepEvents{}); }
};

// One row for each source that `--source` may name.
struct TraceSourceRow {
  absl::string_view name;
  absl::string_view summary;
  std::unique_ptr<TraceSource> (*create)();
};

absl::Span<const TraceSourceRow> TraceSources();

// InvalidArgument, naming those that exist, for any other name.
absl::StatusOr<std::unique_ptr<TraceSource>> CreateTraceSource(absl::string_view name);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_TRACE_SOURCE_H_
