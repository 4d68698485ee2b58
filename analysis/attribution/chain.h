// Who kept a sleep from ending: from the task that ended it to the one that this waited for, and on.
//
// A sleep that a task ends lasts because of what that task did until then: it ran, it waited for a
// CPU, or it slept itself. A sleep of its own that a task ended is followed in the same way, up to
// 32 times, and each time over its own part of the sleep alone; what began before belongs to nobody
// else. An interrupt, a device and a timer end the chain.
//
//   W  sleeps [2, 10), until H wakes it
//   H  waits behind hog [2, 4), runs [4, 6), reads a disk [6, 9), runs [9, 10)
//   parts: hog 2, H 2, io 3, H 1
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_CHAIN_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_CHAIN_H_

#include <cstdint>
#include <vector>

#include "analysis/attribution/cast.h"
#include "analysis/attribution/window.h"
#include "analysis/timeline/timeline.h"

namespace whylate {

inline constexpr int32_t kMostHops = 32;

// What tiles `sleep`, which has a chain_event: parts of other tasks, not analyzed further, with their
// depths. A sleep that is not followed has who is charged for it as subject; running its own task.
// O(hops * log n + parts).
std::vector<WindowPart> FollowChain(const Timeline& timeline, const Cast& cast,
                                    const WindowPart& sleep);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_CHAIN_H_
