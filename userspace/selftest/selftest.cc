#include "userspace/selftest/selftest.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/ability_probes.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/cpu_ticks.h"
#include "userspace/platform/cpu_topology.h"
#include "userspace/platform/files.h"
#include "userspace/platform/scheduling.h"
#include "userspace/session/stop_signal.h"
#include "userspace/session/supervision.h"
#include "userspace/session/sweep.h"
#include "userspace/trace/bpf_source.h"
#include "userspace/workload/calibration.h"

namespace whylate {
namespace {

// Of a run beside its duration: processes, the trace, the analysis.
constexpr int64_t kRunOverheadNs = 900 * kNsPerMs;
constexpr int64_t kCalibrationNs = 500 * kNsPerMs;
constexpr int64_t kLookAtLoadNs = 300 * kNsPerMs;
// More than that of the CPUs busy with other things, and idle ones cannot be counted on.
constexpr double kQuietShare = 0.15;
// Pairs of a prediction and a removal: the fewest that give an interval worth having, each a third of a
// run long.
constexpr int64_t kFewestPairs = 5;
constexpr int64_t kPairShare = 3;

// Of all CPUs; 0 where the kernel does not count it.
double BusyShare(int64_t duration_ns) {
  const CpuTicks before = ReadCpuTicks().value_or(CpuTicks());
  SleepUntilNs(MonotonicNs() + duration_ns);
  const CpuTicks passed = ReadCpuTicks().value_or(CpuTicks()) - before;
  return static_cast<double>(passed.busy) / static_cast<double>(std::max<int64_t>(1, passed.all));
}

bool IsLacking(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsNotFound(status);
}

int64_t PairsOf(const SelftestOptions& options) { return std::max(kFewestPairs, options.runs); }

// Time until the end from run `run` of a scenario on.
int64_t LeftNs(const SelftestOptions& options, const ScenarioRow& row, int64_t run) {
  if (row.build_without == nullptr) {
    return (options.runs - run) * (options.duration_ns + kRunOverheadNs);
  }
  return 2 * (PairsOf(options) - run) * (options.duration_ns / kPairShare + kRunOverheadNs);
}

int64_t FramesSavedBy(const ScenarioRun& run, const std::string& subject) {
  for (const SubjectRow& row : run.explanation.subjects) {
    if (row.subject == subject) return row.frames_saved;
  }
  return 0;
}

int64_t FramesLost(const ScenarioRun& run) {
  int64_t lost = 0;
  for (const Miss& miss : run.explanation.misses) lost += 1 + miss.dropped;
  return lost;
}

class Selftest {
 public:
  Selftest(const SelftestOptions& options, SelftestObserver& observer)
      : options_(options), observer_(observer) {}

  absl::StatusOr<SelftestResult> Run() {
    ASSIGN_OR_RETURN(rows_, SelectScenarios(options_));
    RETURN_IF_ERROR(Prepare());
    for (index_ = 0; index_ < rows_.size(); ++index_) {
      absl::StatusOr<ScenarioResult> scenario = RunRow(*rows_[index_]);
      if (absl::IsCancelled(scenario.status())) {
        result_.interrupted = true;
        break;
      }
      if (!scenario.ok()) {
        return absl::Status(
            scenario.status().code(),
            absl::StrCat("scenario ", rows_[index_]->name, ": ", scenario.status().message()));
      }
      result_.scenarios.push_back(*std::move(scenario));
    }
    supervision_->End();
    return std::move(result_);
  }

 private:
  absl::Status Prepare() {
    RETURN_IF_ERROR(OpenDirectory(options_.workdir).status());
    RETURN_IF_ERROR(BpfUsable());
    ASSIGN_OR_RETURN(supervision_, Supervision::Begin());
    SweepLeftovers(options_.workdir);
    ASSIGN_OR_RETURN(const CpuSet allowed, GetAffinity(Tid{0}));
    const std::vector<CpuId> cpus = allowed.ToVector();
    stage_.home = cpus.front();
    if (cpus.size() > 1) stage_.other = cpus[1];
    stage_.far = FarCpu(stage_.home, allowed);
    stage_.duration_ns = options_.duration_ns;
    stage_.source = options_.source;
    stage_.workdir = options_.workdir;
    stage_.run_id = supervision_->run_id();
    stage_.registry = &supervision_->registry();
    stage_.observers = supervision_->Processes();
    result_.busy_share = BusyShare(kLookAtLoadNs);
    stage_.loops_per_ms = Calibrate(kCalibrationNs).loops_per_ms;
    has_real_time_ = TryRealTime();
    return StopRequested() ? absl::CancelledError("stopped") : absl::OkStatus();
  }

  absl::StatusOr<ScenarioResult> RunRow(const ScenarioRow& row) {
    ScenarioResult result;
    result.row = &row;
    absl::Status status;
    if (row.needs_other_cpu && !stage_.other) {
      status = absl::FailedPreconditionError("needs two CPUs");
    } else if (row.needs_real_time && !has_real_time_.ok()) {
      status = absl::FailedPreconditionError(has_real_time_.message());
    } else {
      status = row.build_without == nullptr ? RunAll(row, result) : RunPairs(row, result);
    }
    if (IsLacking(status)) {
      result.skipped = std::string(status.message());
      return result;
    }
    RETURN_IF_ERROR(status);
    result.unproven = result.score.Unproven(row.proof(), result_.busy_share < kQuietShare);
    if (result.prediction && !result.prediction->Holds()) {
      result.unproven.push_back("the prediction is off");
    }
    return result;
  }

  absl::Status RunAll(const ScenarioRow& row, ScenarioResult& result) {
    const Proof proof = row.proof();
    for (int64_t run = 0; run < options_.runs; ++run) {
      RETURN_IF_ERROR(Announce(row, run));
      ASSIGN_OR_RETURN(const ScenarioPlan plan, row.build(stage_));
      ASSIGN_OR_RETURN(const ScenarioRun played, Play(plan));
      result.score.Add(played, proof);
    }
    return absl::OkStatus();
  }

  absl::Status RunPairs(const ScenarioRow& row, ScenarioResult& result) {
    const Proof proof = row.proof();
    ScenarioStage stage = stage_;
    stage.duration_ns = options_.duration_ns / kPairShare;
    result.prediction.emplace();
    for (int64_t run = 0; run < PairsOf(options_); ++run) {
      RETURN_IF_ERROR(Announce(row, run));
      ASSIGN_OR_RETURN(const ScenarioPlan with, row.build(stage));
      ASSIGN_OR_RETURN(const ScenarioRun before, Play(with));
      ASSIGN_OR_RETURN(const ScenarioPlan without, row.build_without(stage));
      ASSIGN_OR_RETURN(const ScenarioRun after, Play(without));
      result.score.Add(before, proof);
      const std::string& subject = proof.expected.front().injection;
      result.prediction->predicted.push_back(static_cast<double>(FramesSavedBy(before, subject)));
      result.prediction->removed.push_back(
          static_cast<double>(FramesLost(before) - FramesLost(after)));
    }
    return absl::OkStatus();
  }

  // What goes wrong in a run is no lack of the machine's, that was seen when it was planned.
  absl::StatusOr<ScenarioRun> Play(const ScenarioPlan& plan) const {
    absl::StatusOr<ScenarioRun> run = RunScenario(plan, stage_);
    // As a subreaper we inherit whatever a child left behind.
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (!IsLacking(run.status())) return run;
    return absl::InternalError(run.status().message());
  }

  absl::Status Announce(const ScenarioRow& row, int64_t run) {
    if (StopRequested()) return absl::CancelledError("stopped");
    int64_t left_ns = LeftNs(options_, row, run);
    for (size_t i = index_ + 1; i < rows_.size(); ++i) left_ns += LeftNs(options_, *rows_[i], 0);
    observer_.OnRun(row, index_, rows_.size(), run, left_ns);
    return absl::OkStatus();
  }

  const SelftestOptions& options_;
  SelftestObserver& observer_;
  std::vector<const ScenarioRow*> rows_;
  size_t index_ = 0;
  std::unique_ptr<Supervision> supervision_;
  ScenarioStage stage_;
  absl::Status has_real_time_;
  SelftestResult result_;
};

}  // namespace

bool SelftestResult::Ok() const {
  return std::all_of(scenarios.begin(), scenarios.end(),
                     [](const ScenarioResult& scenario) { return scenario.Ok(); });
}

absl::StatusOr<std::vector<const ScenarioRow*>> SelectScenarios(const SelftestOptions& options) {
  for (const std::string& name : options.scenarios) {
    if (FindScenario(name) != nullptr) continue;
    std::vector<absl::string_view> names;
    for (const ScenarioRow& row : ScenarioRows()) names.push_back(row.name);
    return absl::InvalidArgumentError(
        absl::StrCat("unknown scenario '", name, "'; there are: ", absl::StrJoin(names, ", ")));
  }
  std::vector<const ScenarioRow*> rows;
  for (const ScenarioRow& row : ScenarioRows()) {
    const auto& chosen = options.scenarios;
    if (chosen.empty() || std::find(chosen.begin(), chosen.end(), row.name) != chosen.end()) {
      rows.push_back(&row);
    }
  }
  return rows;
}

int64_t EstimateSelftestNs(const SelftestOptions& options) {
  const absl::StatusOr<std::vector<const ScenarioRow*>> rows = SelectScenarios(options);
  int64_t total_ns = kCalibrationNs + kLookAtLoadNs;
  if (!rows.ok()) return total_ns;
  for (const ScenarioRow* row : *rows) total_ns += LeftNs(options, *row, 0);
  return total_ns;
}

absl::StatusOr<SelftestResult> RunSelftest(const SelftestOptions& options,
                                           SelftestObserver& observer) {
  RETURN_IF_ERROR(SelectScenarios(options).status());
  if (geteuid() != 0) {
    return absl::PermissionDeniedError(
        "selftest needs root: it gives tasks real-time priority, makes cgroups and loads eBPF "
        "programs; run it with sudo");
  }
  InstallStopSignal();
  return Selftest(options, observer).Run();
}

}  // namespace whylate
