// A provoked disturbance, captured and explained: a real workload, injectors that disturb it, the
// ordinary trace of a cell, and Explain().
//
//   ScenarioPlan plan;
//   plan.workload = *MakeWorkload("video", {});
//   plan.workload_settings.cpus = OneCpu(CpuId{0});
//   plan.injectors.push_back(MakeHog(CpuId{0}, 14 * kNsPerMs, 187 * kNsPerMs));
//   ASSIGN_OR_RETURN(const ScenarioRun run, RunScenario(plan));
//   run.explanation.misses.front().verdict->subject;  // "hog"
#ifndef WHYLATE_TESTS_SUPPORT_SCENARIO_H_
#define WHYLATE_TESTS_SUPPORT_SCENARIO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "analysis/attribution/explanation.h"
#include "analysis/model/recording.h"
#include "tests/support/injectors.h"
#include "tests/support/tracefs_witness.h"
#include "userspace/trace/trace_source.h"
#include "userspace/workload/workload.h"

namespace whylate {

struct ScenarioPlan {
  Workload workload;
  ForkedProcess::Settings workload_settings;  // its name is the workload's
  int64_t duration_ns = 0;
  std::vector<Injector> injectors;
  int64_t buffer_bytes = int64_t{8} << 20;
  bool with_witness = false;  // ftrace too
  bool with_tracefs = false;  // captured and explained by the source tracefs as well
};

// What one injector did by its own account.
struct Injection {
  std::string name;
  std::vector<TimeWindow> busy;  // in order
  std::vector<Tid> threads;
  bool shares_cpu = true;
  bool has_stamps = true;
};

struct ScenarioRun {
  Recording recording;
  Explanation explanation;
  // The same frames, as the source tracefs saw them.
  std::optional<Recording> tracefs_recording;
  std::optional<Explanation> tracefs_explanation;
  std::vector<Injection> injections;
  std::optional<WitnessRecording> witness;
};

// Nothing of it is left when it returns, nor if the test is killed meanwhile.
absl::StatusOr<ScenarioRun> RunScenario(const ScenarioPlan& plan);

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_SCENARIO_H_
