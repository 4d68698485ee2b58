// The kernel's scale of priorities (task_struct.prio, include/linux/sched/prio.h), which trace events
// report: deadline below 0, real-time 0..98 downwards, fair 100..139 by nice.
#ifndef WHYLATE_ANALYSIS_MODEL_KERNEL_PRIORITY_H_
#define WHYLATE_ANALYSIS_MODEL_KERNEL_PRIORITY_H_

#include <cstdint>

namespace whylate {

inline constexpr int32_t kHighestRealTime = 99;  // rt_priority 99 is priority 0
inline constexpr int32_t kFirstFair = 100;
inline constexpr int32_t kNiceZero = 120;
inline constexpr int32_t kLastFair = 139;

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_MODEL_KERNEL_PRIORITY_H_
