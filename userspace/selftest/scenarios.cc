#include "userspace/selftest/scenarios.h"

#include <algorithm>

#include "userspace/selftest/scenario_plans.h"

namespace whylate {
namespace {

constexpr ScenarioRow kRows[] = {
    {1, "hog_pinned", "a SCHED_FIFO task takes the workload's CPU for 14 ms", false, true,
     ProveHogPinned, PlanHogPinned},
    {2, "hog_free", "the same; the workload may go to an idle CPU", true, true, ProveHogFree,
     PlanHogFree},
    {3, "burn_pinned", "two computing tasks of its own class share its CPU", false, false,
     ProveBurnPinned, PlanBurnPinned},
    {4, "widened_mask", "a computing task; after the release an idle CPU is allowed too", true,
     true, ProveWidenedMask, PlanWidenedMask},
    {4, "placement",
     "a task on its CPU when it wakes; an idle one is allowed, behind another cache", true, true,
     ProvePlacement, PlanPlacement},
    {5, "rt_bandwidth", "SCHED_FIFO tasks want more than they may have of the CPU", false, true,
     ProveRtBandwidth, PlanRtBandwidth},
    {6, "quota_idle", "a CPU quota, and nothing else on the CPU", false, false, ProveQuotaIdle,
     PlanQuotaIdle},
    {7, "quota_burn", "a CPU quota, and a computing task on the CPU", false, false, ProveQuotaBurn,
     PlanQuotaBurn},
    {8, "lock_holder_delayed", "a lock whose holder is kept off its CPU", true, true,
     ProveLockHolderDelayed, PlanLockHolderDelayed},
    {9, "lock_until", "3 ms of preemption, then a lock held until a fixed time", true, true,
     ProveLockUntil, PlanLockUntil},
    {10, "cold_pages", "pages of a file that are not in memory", false, true, ProveColdPages,
     PlanColdPages},
    {11, "stopped", "SIGSTOP for 40 ms", false, true, ProveStopped, PlanStopped},
    {11, "frozen", "its cgroup is frozen for 20 ms", false, true, ProveFrozen, PlanFrozen},
    {12, "overload", "more demand than the period has time", false, false, ProveOverload,
     PlanOverload},
    {13, "interrupts", "thousands of timers expire on its CPU", false, true, ProveInterrupts,
     PlanTimerFlood},
    {13, "softirqs", "a flood of packets is received on its CPU", true, true, ProveInterrupts,
     PlanPacketFlood},
    {14, "chain", "the middle stage of three shares its CPU with a SCHED_FIFO task", true, true,
     ProveChain, PlanChain},
    {15, "nothing", "nothing: tasks that only sleep", false, false, ProveNothing, PlanNothing},
    {15, "storm", "a messaging storm, and a far too small trace buffer", false, false, ProveStorm,
     PlanStorm},
    {16, "predict_remove", "two computing tasks, then the same without them", false, false,
     ProveBurnPinned, PlanBurnPinned, PlanWithoutBurn},
};

}  // namespace

absl::Span<const ScenarioRow> ScenarioRows() { return kRows; }

const ScenarioRow* FindScenario(absl::string_view name) {
  const auto found = std::find_if(std::begin(kRows), std::end(kRows),
                                  [&](const ScenarioRow& row) { return row.name == name; });
  return found == std::end(kRows) ? nullptr : found;
}

}  // namespace whylate
