// Loads that compute: burn, and the simulated workloads as loads.
#include <algorithm>

#include "analysis/model/status_macros.h"
#include "userspace/load/bodies.h"
#include "userspace/platform/scheduling.h"
#include "userspace/workload/frame_loop.h"
#include "userspace/workload/work.h"

namespace whylate {

absl::Status RunBurnLoad(const LoadContext& context) {
  // Progress in steps of about 0.1 ms: fine enough for a rate, too coarse to cost anything.
  const auto step =
      static_cast<uint64_t>(std::max<int64_t>(1000, context.settings().loops_per_ms / 10));
  const auto body = [&](size_t lane) -> absl::Status {
    while (true) {
      Work(step);
      context.Advance(lane, step);
    }
  };
  return context.RunThreads("burn", static_cast<size_t>(context.settings().threads), body);
}

absl::Status RunSimulatedLoad(const LoadContext& context) {
  const LoadSettings& settings = context.settings();
  ASSIGN_OR_RETURN(const Workload workload, MakeWorkload(settings.name, settings.values));
  SetTimerSlackNs(1);
  RETURN_IF_ERROR(context.Ready());
  RunFramesForever(workload, settings.loops_per_ms, context.counter(0));
}

}  // namespace whylate
