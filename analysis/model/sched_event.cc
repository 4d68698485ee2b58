#include "analysis/model/sched_event.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"
#include "analysis/model/kernel_priority.h"

namespace whylate {

TaskStanding StandingOfPriority(Tid tid, const std::optional<int32_t>& priority) {
  TaskStanding standing;
  if (tid == Tid{0}) {
    standing.sched_class = SchedClass::kIdle;
  } else if (!priority.has_value()) {
    standing.sched_class = SchedClass::kUnknown;
  } else if (*priority < 0) {
    standing.sched_class = SchedClass::kDeadline;
  } else if (*priority < kHighestRealTime) {
    standing.sched_class = SchedClass::kRealTime;
    standing.rt_priority = kHighestRealTime - *priority;
  } else if (*priority >= kFirstFair && *priority <= kLastFair) {
    standing.sched_class = SchedClass::kFair;
    standing.nice = *priority - kNiceZero;
  }
  return standing;
}

TaskStanding StandingOfTask(Tid tid, absl::string_view name,
                            const std::optional<int32_t>& priority) {
  const bool stopper =
      absl::ConsumePrefix(&name, "migration/") && !name.empty() &&
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return absl::ascii_isdigit(c); });
  TaskStanding standing = StandingOfPriority(tid, priority);
  if (stopper && priority == 0 && standing.sched_class == SchedClass::kRealTime) {
    standing = {SchedClass::kStop, std::nullopt, std::nullopt};
  }
  return standing;
}

}  // namespace whylate
