// The plans behind the table in scenarios.h, and what each must show. One pair a scenario.
#ifndef WHYLATE_USERSPACE_SELFTEST_SCENARIO_PLANS_H_
#define WHYLATE_USERSPACE_SELFTEST_SCENARIO_PLANS_H_

#include "absl/status/statusor.h"
#include "userspace/selftest/scenario.h"
#include "userspace/selftest/score.h"

namespace whylate {

// A 60 Hz workload: on `cpus`, with video's own demand unless another is given.
ScenarioPlan PlanVideo(const ScenarioStage& stage, const CpuSet& cpus, int64_t demand_ns = 0);
// The stage's CPUs.
CpuSet BothCpus(const ScenarioStage& stage);

// cpu_plans.cc: those that take the workload's CPU.
absl::StatusOr<ScenarioPlan> PlanHogPinned(const ScenarioStage& stage);
absl::StatusOr<ScenarioPlan> PlanHogFree(const ScenarioStage& stage);
absl::StatusOr<ScenarioPlan> PlanBurnPinned(const ScenarioStage& stage);
absl::StatusOr<ScenarioPlan> PlanWithoutBurn(const ScenarioStage& stage);
absl::StatusOr<ScenarioPlan> PlanWidenedMask(const ScenarioStage& stage);
absl::StatusOr<ScenarioPlan> PlanPlacement(const ScenarioStage& stage);
absl::StatusOr<ScenarioPlan> PlanRtBandwidth(const ScenarioStage& stage);
absl::StatusOr<ScenarioPlan> PlanOverload(const ScenarioStage& stage);
absl::StatusOr<ScenarioPlan> PlanTimerFlood(const ScenarioStage& stage);
absl::StatusOr<ScenarioPlan> PlanPacketFlood(const ScenarioStage& stage);
absl::StatusOr<ScenarioPlan> PlanChain(const ScenarioStage& stage);
absl::StatusOr<ScenarioPlan> PlanNothing(const ScenarioStage& stage);
absl::StatusOr<ScenarioPlan> PlanStorm(const ScenarioStage& stage);
Proof ProveHogPinned();
Proof ProveHogFree();
Proof ProveBurnPinned();
Proof ProveWidenedMask();
Proof ProvePlacement();
Proof ProveRtBandwidth();
Proof ProveOverload();
Proof ProveInterrupts();
Proof ProveChain();
Proof ProveNothing();
Proof ProveStorm();

// blocking_plans.cc: those that keep it asleep, or throttled.
absl::StatusOr<ScenarioPlan> PlanQuotaIdle(const ScenarioStage& stage);
absl::StatusOr<ScenarioPlan> PlanQuotaBurn(const ScenarioStage& stage);
absl::StatusOr<ScenarioPlan> PlanLockHolderDelayed(const ScenarioStage& stage);
absl::StatusOr<ScenarioPlan> PlanLockUntil(const ScenarioStage& stage);
absl::StatusOr<ScenarioPlan> PlanColdPages(const ScenarioStage& stage);
absl::StatusOr<ScenarioPlan> PlanStopped(const ScenarioStage& stage);
absl::StatusOr<ScenarioPlan> PlanFrozen(const ScenarioStage& stage);
Proof ProveQuotaIdle();
Proof ProveQuotaBurn();
Proof ProveLockHolderDelayed();
Proof ProveLockUntil();
Proof ProveColdPages();
Proof ProveStopped();
Proof ProveFrozen();

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SELFTEST_SCENARIO_PLANS_H_
