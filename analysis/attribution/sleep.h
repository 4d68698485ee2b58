// What a sleeping thread waited for: its own timer, a device, another task, or somebody who stopped
// it.
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_SLEEP_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_SLEEP_H_

#include <cstdint>
#include <string>

#include "analysis/attribution/cast.h"
#include "analysis/timeline/task_spans.h"
#include "analysis/timeline/task_table.h"
#include "analysis/timeline/timeline.h"

namespace whylate {

// A timer armed for the release may be this far from it: slack, and the source's rounding.
inline constexpr int64_t kReleaseTimerToleranceNs = 1'000'000;

struct Sleep {
  std::string subject;  // who is charged for it
  std::string waker;    // who ended it, by name; "" unknown
  // Whether its end would have stayed where it was, had it begun earlier. A relative sleep of the
  // thread's own, a device and a page fault move with it; a task, a stop, a fixed time do not, nor
  // does what is not known.
  bool absorbs = true;
};

// True when `task` slept through `release_ns` on the timer that releases it. Where
// its timers are not recorded a plain sleep that no task ended counts as that.
bool IsReleaseSleep(const Timeline& timeline, TaskIndex task, const TaskSpan& blocked,
                    int64_t release_ns);

// Whether the records say what the sleep was: how it began, who ended it, and what timer was armed.
bool IsSure(const Timeline& timeline, TaskIndex task, const TaskSpan& blocked);

// `blocked` is a kBlocked span of `task`.
Sleep ClassifySleep(const Timeline& timeline, const Cast& cast, TaskIndex task,
                    const TaskSpan& blocked);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_SLEEP_H_
