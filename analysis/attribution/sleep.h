// What a sleeping task waited for: its own timer, a device, another task, or somebody who stopped it.
//
// The kernel's stack of the sleep says it best, where that is recorded; then the mark of a wait for
// input or output; then the state in which it slept and who ended it.
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_SLEEP_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_SLEEP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/attribution/cast.h"
#include "analysis/attribution/explanation.h"
#include "analysis/timeline/task_spans.h"
#include "analysis/timeline/task_table.h"
#include "analysis/timeline/timeline.h"

namespace whylate {

// A timer armed for the release may be this far from it: slack, and the source's rounding.
inline constexpr int64_t kReleaseTimerToleranceNs = 1'000'000;

// What the records say of the timer of a sleep.
struct SleepTimer {
  std::optional<int64_t> expires_ns;
  std::optional<int64_t> fired_ns;  // when its interrupt came
  std::optional<bool> absolute;
};

struct Sleep {
  BlockKind kind = BlockKind::kUnknown;
  std::string subject;  // who is charged for it
  std::string waker;    // who ended it, by name; "" unknown
  // Another task ended it, and what that did meanwhile is why it lasted.
  bool is_chain = false;
  // Whether its end would have stayed where it was, had it begun earlier. A relative sleep of the
  // thread's own, a device and a page fault move with it; a task, a stop, a fixed time do not, nor
  // does what is not known.
  bool absorbs = true;
};

// `blocked` is a kBlocked span of `task`. Empty where its timers are not recorded.
SleepTimer FindTimer(const Timeline& timeline, TaskIndex task, const TaskSpan& blocked);

// True when `task` slept through `release_ns` on the timer that releases it. Where
// its timers are not recorded a plain sleep that no task ended counts as that.
bool IsReleaseSleep(const Timeline& timeline, TaskIndex task, const TaskSpan& blocked,
                    int64_t release_ns);

// Whether the records say what the sleep was: how it began, who ended it, and what timer was armed.
bool IsSure(const Timeline& timeline, TaskIndex task, const TaskSpan& blocked);

// The kernel functions of a sleep, innermost first; empty where they are not recorded.
std::vector<std::string> StackOf(const Timeline& timeline, const TaskSpan& blocked);

// `blocked` is a kBlocked span of `task`. Timers are known of watched threads alone: another task's
// own sleep is one that a timer's interrupt ended.
Sleep ClassifySleep(const Timeline& timeline, const Cast& cast, TaskIndex task,
                    const TaskSpan& blocked);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_SLEEP_H_
