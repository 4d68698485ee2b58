// One session's result, as data: what every writer renders and what report.json holds.
//
// Pure: no clock, no file. Times are CLOCK_MONOTONIC ns; the JSON writer makes them relative to the
// cell's origin.
#ifndef WHYLATE_ANALYSIS_REPORT_REPORT_H_
#define WHYLATE_ANALYSIS_REPORT_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/explanation.h"
#include "analysis/model/frame.h"
#include "analysis/model/host.h"
#include "analysis/stats/classic.h"
#include "analysis/stats/frame_accounting.h"

namespace whylate {

// What the session was asked to do; enough to go on with it (`--resume`).
struct SessionOptions {
  std::string preset;  // "quick", "standard", "classic", or "" for a matrix of the user's own
  std::vector<std::string> workloads;
  std::vector<std::string> loads;
  int64_t duration_ns = 0;  // of one cell
  int32_t repeat = 1;
  std::optional<double> cpu_percent;   // of custom
  std::optional<int64_t> interval_us;  // of custom
  std::optional<int32_t> load_threads;
  std::string load_command;
  std::optional<int32_t> bench_nice;
  std::optional<int32_t> load_nice;
  std::string cpus;    // list notation; "" for all
  std::string source;  // "bpf", "tracefs", "none"; "" chooses by what this process may do
  int64_t buffer_bytes = int64_t{8} << 20;  // between the kernel and the reader of the trace
  std::string record = "misses";  // what of the trace is kept in a file: "all", "misses", "none"
  std::string workdir = ".";
  std::string comment;
};

// What a load got done while the workload was measured.
struct ProgressPart {
  std::string load;
  std::string unit;  // "loops", "bytes", "messages", "passes", "frames", "cpu_ms", "pages"
  uint64_t total = 0;
  std::vector<uint64_t> per_second;   // of each whole second of the cell
  std::optional<int64_t> disk_bytes;  // moved between memory and the disk, where it is a disk load
  std::optional<int64_t> thread_count;  // of the load
};

struct LoadProgress {
  std::vector<ProgressPart> parts;  // more than one for a composite load; never empty
};

// What the capture of a cell cost, while it ran.
struct ObserverCost {
  int64_t wall_ns = 0;
  std::optional<int64_t> bpf_run_ns;  // of the programs in the kernel, where it was measured
  int64_t reader_cpu_ns = 0;          // of the thread that drains the buffer
  int64_t process_cpu_ns = 0;         // of the whole supervisor, the reader included
  int64_t captured_bytes = 0;
};

struct Cell {
  std::string workload;
  std::string load;
  int32_t run = 0;                   // repeat index
  std::string title;                 // of the workload: "Video (60 Hz, 40 %)"
  std::vector<std::string> invalid;  // reasons; empty = valid
  std::vector<std::string> notes;    // worth knowing, and no reason to distrust the cell
  CellFrames frames;
  FrameCounts counts;
  ClassicStatistics classic;
  std::optional<LoadProgress> load_progress;  // unset under load none
  Explanation explanation;
  std::optional<ObserverCost> observer;  // unset without a trace
  std::string recording;                 // its file in the session directory; "" for none

  bool valid() const { return invalid.empty(); }
};

struct Report {
  std::string label;
  std::string version;   // of whylate
  std::string run_id;    // of the process that made it (the last one, if resumed)
  std::string started;   // UTC, "2026-11-30T15:27:44Z"
  std::string finished;  // "" while cells are missing
  std::vector<HostFact> host;
  SessionOptions options;
  std::vector<std::string> warnings;  // of the session: what was missing, and how to get it
  int64_t loops_per_ms = 0;           // the calibration that turned demand into work
  std::vector<Cell> cells;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_REPORT_H_
