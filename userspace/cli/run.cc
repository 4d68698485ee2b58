#include "userspace/cli/run.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "analysis/model/status_macros.h"
#include "analysis/report/escape.h"
#include "analysis/report/report_json.h"
#include "analysis/report/report_text.h"
#include "userspace/cli/command.h"
#include "userspace/session/session_directory.h"
#include "userspace/session/session_plan.h"
#include "userspace/trace/trace_source.h"

namespace whylate {
namespace {

std::string Seconds(int64_t ns) {
  const int64_t seconds = (ns + 500000000) / 1000000000;
  if (seconds < 100) return absl::StrFormat("%d s", seconds);
  return absl::StrFormat("%d min %02d s", seconds / 60, seconds % 60);
}

// A line per cell, with the time left: on a terminal each overwrites the one before.
class Progress : public SessionObserver {
 public:
  explicit Progress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

  void OnStart(const std::string& directory) override {
    if (!quiet_) std::cerr << "whylate: session " << EscapeForTerminal(directory) << "\n";
  }
  void OnCell(const CellPlan& plan, size_t index, size_t count, int64_t left_ns) override {
    if (quiet_) return;
    const std::string line = absl::StrFormat("[%d/%d] %s, %s left", index + 1, count,
                                             EscapeForTerminal(plan.title()), Seconds(left_ns));
    std::cerr << (terminal_ ? "\r\033[K" : "") << line << (terminal_ ? "" : "\n") << std::flush;
    line_is_open_ = terminal_;
  }
  void Finish() const {
    if (line_is_open_) std::cerr << "\r\033[K" << std::flush;
  }

 private:
  bool quiet_;
  bool terminal_;
  bool line_is_open_ = false;
};

absl::StatusOr<int64_t> ParseSizeBytes(const std::string& text) {
  absl::string_view digits = text;
  int64_t unit = 1;
  for (const auto& [suffix, factor] :
       {std::pair("K", int64_t{1} << 10), std::pair("M", int64_t{1} << 20)}) {
    if (absl::ConsumeSuffix(&digits, suffix)) unit = factor;
  }
  int64_t count = 0;
  if (!absl::SimpleAtoi(digits, &count) || count <= 0 || count > kMaxBufferBytes / unit) {
    return absl::InvalidArgumentError(
        absl::StrCat("--buffer-size '", text, "' is no size from 4K to 512M; write 64K or 8M"));
  }
  return count * unit;
}

int List(bool json) {
  if (json) {
    nlohmann::ordered_json names = {{"workloads", nlohmann::ordered_json::array()},
                                    {"loads", {"none", "compile"}}};
    for (const WorkloadRow& row : WorkloadRows()) names["workloads"].push_back(row.name);
    for (const LoadRow& row : LoadRows()) names["loads"].push_back(row.name);
    for (const TraceSourceRow& row : TraceSources()) names["sources"].push_back(row.name);
    std::cout << names.dump() << "\n";
    return kExitOk;
  }
  std::cout << "Workloads (what is measured):\n";
  for (const WorkloadRow& row : WorkloadRows()) {
    std::cout << absl::StrFormat("  %-9s %s\n", row.name, row.summary);
  }
  std::cout << "Loads (what disturbs it; combine with +, as in burn+write):\n";
  std::cout << absl::StrFormat("  %-9s %s\n", "none", "nothing");
  for (const LoadRow& row : LoadRows()) {
    std::cout << absl::StrFormat("  %-9s %s\n", row.name, row.summary);
  }
  std::cout << absl::StrFormat("  %-9s %s\n", "compile", "burn, write and read together");
  std::cout << "Sources (where the reasons of misses come from):\n";
  for (const TraceSourceRow& row : TraceSources()) {
    std::cout << absl::StrFormat("  %-9s %s\n", row.name, row.summary);
  }
  return kExitOk;
}

// Most bytes that the files of one cell take, on top of the file that is read.
absl::StatusOr<int64_t> DiskBytesNeeded(const SessionOptions& options,
                                        const std::vector<CellPlan>& plans) {
  ASSIGN_OR_RETURN(const LoadFileSizes sizes, LoadFiles(options.workdir, "").Sizes());
  int64_t read_bytes = 0;
  int64_t most_bytes = 0;
  for (const CellPlan& plan : plans) {
    int64_t cell_bytes = 0;
    for (const LoadRow* part : plan.parts) {
      if (part->file == LoadFile::kRead) read_bytes = sizes.read_bytes;
      if (part->file == LoadFile::kWrite) cell_bytes += sizes.write_bytes;
      if (part->file == LoadFile::kMapped) cell_bytes += sizes.mapped_bytes;
    }
    most_bytes = std::max(most_bytes, cell_bytes);
  }
  return read_bytes + most_bytes;
}

absl::Status DryRun(const SessionOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<CellPlan> plans, PlanCells(options));
  for (const CellPlan& plan : plans) std::cout << EscapeForTerminal(plan.title()) << "\n";
  absl::StatusOr<int64_t> disk_bytes = DiskBytesNeeded(options, plans);
  std::cout << absl::StrFormat("%d cells of %g s, about %s; ", plans.size(),
                               static_cast<double>(options.duration_ns) / 1e9,
                               Seconds(EstimateNs(options, plans.size())));
  if (disk_bytes.ok()) {
    std::cout << absl::StrFormat("%d MiB of disk in %s\n", *disk_bytes >> 20,
                                 EscapeForTerminal(options.workdir));
  } else {
    std::cout << EscapeForTerminal(disk_bytes.status().message()) << "\n";
  }
  return absl::OkStatus();
}

absl::Status Complete(RunFlags& flags, bool changed_by_flags) {
  if (!flags.resume.empty()) {
    if (changed_by_flags) {
      return absl::InvalidArgumentError(
          "--resume goes on with the options of its session; give no others");
    }
    flags.request.resume = true;
    flags.request.out = flags.resume;
    if (!flags.dry_run) return absl::OkStatus();
    ASSIGN_OR_RETURN(const Report report, ReadSessionReport(flags.resume));
    flags.request.options = report.options;
    return absl::OkStatus();
  }
  if (!flags.duration.empty()) {
    ASSIGN_OR_RETURN(
        flags.request.options.duration_ns,
        ParseDurationNs("--duration", flags.duration, absl::Nanoseconds(kMinDurationNs),
                        absl::Nanoseconds(kMaxDurationNs)));
  }
  if (!flags.buffer_size.empty()) {
    ASSIGN_OR_RETURN(flags.request.options.buffer_bytes, ParseSizeBytes(flags.buffer_size));
  }
  return FillFromPreset(flags.request.options);
}

int PrintResult(const SessionResult& result, const RunFlags& flags) {
  if (result.was_finished && !flags.quiet) {
    std::cerr << "whylate: the session in " << EscapeForTerminal(result.directory)
              << " is finished already\n";
  }
  if (flags.json) {
    std::cout << ReportToJson(result.report);
  } else {
    std::cout << ReportToText(result.report) << "\nsession: " << EscapeForTerminal(result.directory)
              << "\n";
  }
  const bool valid = std::all_of(result.report.cells.begin(), result.report.cells.end(),
                                 [](const Cell& cell) { return cell.valid(); });
  const int exit_code = valid ? kExitOk : kExitInvalidCell;
  return FinishOutput(result.interrupted ? kExitInterrupted : exit_code);
}

}  // namespace

int RunRun(RunFlags flags, bool changed_by_flags) {
  if (flags.list) return FinishOutput(List(flags.json));
  absl::Status status = Complete(flags, changed_by_flags);
  if (status.ok() && flags.dry_run) {
    status = DryRun(flags.request.options);
    return status.ok() ? FinishOutput(kExitOk) : ReportError(status);
  }
  if (!status.ok()) return ReportError(status);
  Progress progress(flags.quiet);
  absl::StatusOr<SessionResult> result = RunSession(flags.request, progress);
  progress.Finish();
  return result.ok() ? PrintResult(*result, flags) : ReportError(result.status());
}

}  // namespace whylate
