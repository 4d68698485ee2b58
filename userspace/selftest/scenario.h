// A provoked disturbance, captured and explained: a real workload, injectors that disturb it, the
// ordinary trace of a cell, and Explain().
//
//   ScenarioPlan plan;
//   plan.workload = *MakeWorkload("video", {});
//   plan.workload_settings.cpus = OneCpu(stage.home);
//   plan.injectors.push_back(MakeHog(stage.home, 14 * kNsPerMs, 187 * kNsPerMs));
//   ASSIGN_OR_RETURN(const ScenarioRun run, RunScenario(plan, stage));
//   run.explanation.misses.front().verdict->subject;  // "hog"
#ifndef WHYLATE_USERSPACE_SELFTEST_SCENARIO_H_
#define WHYLATE_USERSPACE_SELFTEST_SCENARIO_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analysis/attribution/explanation.h"
#include "analysis/model/recording.h"
#include "userspace/platform/cgroup.h"
#include "userspace/selftest/injectors.h"
#include "userspace/session/cleanup_registry.h"
#include "userspace/trace/trace_source.h"
#include "userspace/workload/frame_loop.h"
#include "userspace/workload/workload.h"

namespace whylate {

// Where scenarios are played. Outlives their plans.
struct ScenarioStage {
  CpuId home;                           // of the workload, where it is pinned
  std::optional<CpuId> other;           // another one, where there is
  std::optional<CpuId> far;             // one behind another last-level cache, where there is
  int64_t duration_ns = 0;              // of a run
  int64_t loops_per_ms = 0;             // see Calibrate()
  std::string source = "bpf";           // of the trace
  std::string run_id;                   // names cgroups and files
  std::string workdir = ".";            // for files
  CleanupRegistry* registry = nullptr;  // may be null: then nobody cleans up after a SIGKILL
  std::vector<Tgid> observers;          // our own processes
};

// A cgroup, registered as long as it is there.
template <typename Group>
struct RegisteredCgroup {
  Registration registration;
  Group group;
};

struct ScenarioRun;

struct ScenarioPlan {
  Workload workload;
  ForkedProcess::Settings workload_settings;  // its name is the workload's
  FrameBody body;  // of its frames, but for a chain's; empty for their demand alone
  int64_t duration_ns = 0;
  std::vector<Injector> injectors;
  int64_t buffer_bytes = int64_t{8} << 20;
  // The workload runs in it from before the trace begins, and is thawed before it is ended.
  std::shared_ptr<Cgroup> cgroup;
  // Completes the accounts: what injectors did without stamps of their own, or what of it can have
  // delayed the workload at all.
  std::function<void(ScenarioRun& run)> settle;
};

// Time that has no position, and in how many strokes.
struct Amount {
  int64_t ns = 0;  // less than 0: of what `busy` says, so much did not count
  int64_t count = 0;
  int64_t unsure_ns = 0;  // it may have been so much more
};

// What one injector, or one part of the kernel, did by an account that owes nothing to the trace.
struct Injection {
  std::string name;
  // What a verdict calls it: names, or their beginnings, as in "irq *".
  std::vector<std::string> subjects;
  Means means = Means::kTakesCpu;
  std::vector<TimeWindow> busy;       // in order
  std::vector<Stamp> stamps;          // its own, of which `busy` is made
  std::map<int64_t, Amount> amounts;  // by frame index; added to what `busy` has of a frame
  std::vector<Tid> threads;
  bool is_exclusive = true;  // nothing else can have delayed the workload meanwhile
  bool has_stamps = true;

  bool IsCalled(const std::string& subject) const;
};

struct ScenarioRun {
  Recording recording;
  Explanation explanation;
  std::vector<Injection> injections;
  // What the hypervisor took of all CPUs meanwhile, at most, by the kernel's count.
  int64_t host_ns = 0;

  Injection& injection(const std::string& name);  // that must be there
};

// Told what happens in a run, by its own thread. For independent witnesses.
class ScenarioWatcher {
 public:
  virtual ~ScenarioWatcher() = default;
  // The trace has begun; all processes are there, and wait.
  virtual absl::Status OnBegin(Tgid workload) = 0;
  // The workload is done, and all processes are still there.
  virtual absl::Status OnEnd() = 0;
  // They are gone. `recording` has frames and roles, and no events yet.
  virtual absl::Status OnFrames(const Recording& recording) = 0;
};

// Nothing of it is left when it returns, nor if this process is killed meanwhile. Cancelled where a
// stop was requested.
absl::StatusOr<ScenarioRun> RunScenario(const ScenarioPlan& plan, const ScenarioStage& stage,
                                        ScenarioWatcher* watcher = nullptr);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SELFTEST_SCENARIO_H_
