#include "userspace/session/session_plan.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/capabilities.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/scheduling.h"
#include "userspace/trace/trace_source.h"

namespace whylate {
namespace {

constexpr int64_t kDefaultDurationNs = 10 * kNsPerSecond;
// Starting, preparing and reaping the processes of a cell, besides its duration and settling.
constexpr int64_t kCellOverheadNs = 400 * kNsPerMs;

struct Preset {
  const char* name;
  std::vector<std::string> workloads;
  std::vector<std::string> loads;
  int64_t duration_ns;
};

const std::vector<Preset>& Presets() {
  static const auto* const kPresets = new std::vector<Preset>{
      {"quick",
       {"audio", "video", "x", "gaming"},
       {"none", "burn", "compile", "memload"},
       3 * kNsPerSecond},
      {"standard",
       {"audio", "video", "x", "gaming"},
       {"none", "video", "x", "burn", "write", "read", "ring", "compile", "memload", "hack"},
       10 * kNsPerSecond},
      // interbench 0.31's matrix.
      {"classic",
       {"audio", "video", "x", "gaming"},
       {"none", "video", "x", "burn", "write", "read", "ring", "compile", "memload"},
       30 * kNsPerSecond},
  };
  return *kPresets;
}

absl::Status CheckRange(absl::string_view option, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s %d is outside %d to %d", option, value, least, most));
}

// A lower nice than now takes a right.
absl::Status CheckNice(absl::string_view option, const std::optional<int32_t>& nice) {
  if (!nice) return absl::OkStatus();
  RETURN_IF_ERROR(CheckRange(option, *nice, -20, 19));
  rlimit limit = {0, 0};
  getrlimit(RLIMIT_NICE, &limit);  // 20 - nice, see setrlimit(2)
  const int lowest = std::min(getpriority(PRIO_PROCESS, 0),
                              20 - static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 40)));
  if (*nice < lowest && !HasCapability(CAP_SYS_NICE)) {
    return absl::PermissionDeniedError(absl::StrFormat(
        "%s %d needs CAP_SYS_NICE or RLIMIT_NICE: run as root, or allow it in limits.conf", option,
        *nice));
  }
  return absl::OkStatus();
}

absl::Status CheckCpus(const std::string& cpus) {
  if (cpus.empty()) return absl::OkStatus();
  absl::StatusOr<CpuSet> wanted = CpuSet::Parse(cpus);
  if (!wanted.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--cpus: ", wanted.status().message()));
  }
  ASSIGN_OR_RETURN(const CpuSet allowed, GetAffinity(Tid{0}));
  if (wanted->IsSubsetOf(allowed)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--cpus ", cpus, " names a CPU that is not there for us; there are ", allowed.ToString()));
}

absl::Status CheckOptions(const SessionOptions& options) {
  if (options.duration_ns < kMinDurationNs || options.duration_ns > kMaxDurationNs) {
    return absl::InvalidArgumentError("--duration is outside 100ms to 24h");
  }
  RETURN_IF_ERROR(CheckRange("--repeat", options.repeat, 1, kMaxRepeat));
  if (options.load_threads) {
    RETURN_IF_ERROR(CheckRange("--load-threads", *options.load_threads, 1, kMaxLoadThreads));
  }
  RETURN_IF_ERROR(CheckNice("--bench-nice", options.bench_nice));
  RETURN_IF_ERROR(CheckNice("--load-nice", options.load_nice));
  RETURN_IF_ERROR(CheckCpus(options.cpus));
  if (options.cpu_percent || options.interval_us) {
    // Also where no custom runs: a value that makes no sense was meant to make some.
    const WorkloadValues values = {options.cpu_percent.value_or(1),
                                   options.interval_us.value_or(1000)};
    RETURN_IF_ERROR(MakeWorkload("custom", values).status());
  }
  if (options.load_command.size() > kMaxCommandBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--load-command is longer than ", kMaxCommandBytes, " bytes; put it into a script"));
  }
  RETURN_IF_ERROR(
      CheckRange("--buffer-size", options.buffer_bytes, kMinBufferBytes, kMaxBufferBytes));
  if (options.record != "all" && options.record != "misses" && options.record != "none") {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown --record '", options.record, "'; known: all, misses, none"));
  }
  if (options.source.empty()) return absl::OkStatus();
  const absl::Status source = CreateTraceSource(options.source).status();
  if (source.ok()) return source;
  return absl::Status(source.code(), absl::StrCat("--source: ", source.message()));
}

bool RunsCommand(const std::vector<CellPlan>& cells) {
  return std::any_of(cells.begin(), cells.end(), [](const CellPlan& cell) {
    return std::any_of(cell.parts.begin(), cell.parts.end(), [](const LoadRow* part) {
      return part->name == absl::string_view("command");
    });
  });
}

absl::Status CheckLoad(const std::string& load, const std::vector<const LoadRow*>& parts,
                       const SessionOptions& options) {
  for (const LoadRow* part : parts) {
    if (part->name == absl::string_view("command") && options.load_command.empty()) {
      return absl::InvalidArgumentError("load command needs --load-command 'CMD'");
    }
    if (part->name == absl::string_view("custom")) {
      RETURN_IF_ERROR(MakeWorkload("custom", {options.cpu_percent, options.interval_us}).status());
    }
  }
  if (std::count(options.loads.begin(), options.loads.end(), load) > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("load '", load, "' is named twice; --repeat N runs each cell N times"));
  }
  return absl::OkStatus();
}

// A preset's matrix leaves out a workload under itself, as the classic one does.
bool Excluded(const SessionOptions& options, const std::string& workload, const std::string& load) {
  return !options.preset.empty() && workload == load;
}

}  // namespace

absl::Status FillFromPreset(SessionOptions& options) {
  const bool bare = options.workloads.empty() && options.loads.empty() &&
                    options.load_command.empty() && options.duration_ns == 0;
  const std::string name = !options.preset.empty() ? options.preset : "quick";
  const auto preset = std::find_if(Presets().begin(), Presets().end(),
                                   [&](const Preset& candidate) { return name == candidate.name; });
  if (preset == Presets().end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown preset '", name, "'; known: quick, standard, classic"));
  }
  if (bare) options.preset = name;
  if (options.workloads.empty()) options.workloads = preset->workloads;
  if (options.loads.empty()) {
    options.loads = preset->loads;
    // A command line that is given is meant to be run.
    if (!options.load_command.empty() && options.preset.empty()) options.loads = {"command"};
  }
  if (options.duration_ns == 0) {
    options.duration_ns = options.preset.empty() ? kDefaultDurationNs : preset->duration_ns;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<CellPlan>> PlanCells(const SessionOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  std::vector<CellPlan> cells;
  for (const std::string& name : options.workloads) {
    ASSIGN_OR_RETURN(const Workload workload,
                     MakeWorkload(name, {options.cpu_percent, options.interval_us}));
    if (std::count(options.workloads.begin(), options.workloads.end(), name) > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("workload '", name, "' is named twice; --repeat N runs each cell N times"));
    }
    for (const std::string& load : options.loads) {
      ASSIGN_OR_RETURN(std::vector<const LoadRow*> parts, ParseLoad(load));
      RETURN_IF_ERROR(CheckLoad(load, parts, options));
      if (!Excluded(options, name, load)) cells.push_back({workload, load, std::move(parts), 0});
    }
  }
  if (cells.empty()) {
    return absl::InvalidArgumentError(
        "there is no cell to run: a preset leaves out a workload under itself; give --workload and "
        "--load without --preset");
  }
  if (!options.load_command.empty() && !RunsCommand(cells)) {
    return absl::InvalidArgumentError(
        "--load-command is given and no load runs it: add command to --load");
  }
  const size_t once = cells.size();
  for (int32_t run = 1; run < options.repeat; ++run) {
    for (size_t i = 0; i < once; ++i) {
      cells.push_back(cells[i]);
      cells.back().run = run;
    }
  }
  return cells;
}

absl::StatusOr<int32_t> ResolveLoadThreads(const SessionOptions& options) {
  if (options.load_threads) return *options.load_threads;
  if (!options.cpus.empty()) {
    ASSIGN_OR_RETURN(const CpuSet cpus, CpuSet::Parse(options.cpus));
    return cpus.Count();
  }
  ASSIGN_OR_RETURN(const CpuSet allowed, GetAffinity(Tid{0}));
  return allowed.Count();
}

int64_t EstimateNs(const SessionOptions& options, size_t cells) {
  return static_cast<int64_t>(cells) * (options.duration_ns + kSettleNs + kCellOverheadNs);
}

}  // namespace whylate
