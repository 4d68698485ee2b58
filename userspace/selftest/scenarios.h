// Every row of the ground truth, as a scenario: an explicit table.
//
//   for (const ScenarioRow& row : ScenarioRows()) {
//     ASSIGN_OR_RETURN(const ScenarioPlan plan, row.build(stage));
//     ASSIGN_OR_RETURN(const ScenarioRun run, RunScenario(plan, stage));
//     score.Add(run, row.proof());
//   }
//
// The accounts that are no injector's stamps: throttled time is the kernel's (cpu.stat); time waited for
// a disk is what reads took beyond their CPU time; time of interrupts is what the workload's clock saw it
// lose without a context switch; and where the workload may get away from an injector, its clock says
// when it did not.
#ifndef WHYLATE_USERSPACE_SELFTEST_SCENARIOS_H_
#define WHYLATE_USERSPACE_SELFTEST_SCENARIOS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "userspace/selftest/scenario.h"
#include "userspace/selftest/score.h"

namespace whylate {

struct ScenarioRow {
  int row = 0;  // of the table of ground truth, from 1; some have more than one scenario
  absl::string_view name;
  absl::string_view what;  // is done
  bool needs_other_cpu = false;
  bool needs_real_time = false;
  Proof (*proof)() = nullptr;
  // FailedPrecondition or NotFound where this machine lacks something: the message says what.
  absl::StatusOr<ScenarioPlan> (*build)(const ScenarioStage& stage) = nullptr;
  // The same without the first expected one, whose removal is then held against what was predicted of
  // it; null where nothing is.
  absl::StatusOr<ScenarioPlan> (*build_without)(const ScenarioStage& stage) = nullptr;
};

inline constexpr int kGroundTruthRows = 16;

absl::Span<const ScenarioRow> ScenarioRows();
// Null for none of that name.
const ScenarioRow* FindScenario(absl::string_view name);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SELFTEST_SCENARIOS_H_
