// What single events of ftrace do not tell, and later ones do.
//
// - A task that left its CPU in state R for the idle task: asleep, throttled, out of bandwidth or
//   unknown (analysis/import/left_for_idle.h).
// - Whether a woken task was still queued (WakingEvent::wakee_on_rq). Since 6.12 a fair task that goes
//   to sleep may stay on the runqueue (delayed dequeue), and wake without being placed. It was off
//   it for certain where it was moved by the wake-up, was queued by another CPU than the waker's,
//   or where its CPU went idle meanwhile, which takes all such tasks off (kernel/sched/fair.c,
//   pick_next_entity()). Else it stays unset.
// - When a task came to an idle CPU, where the switch is missing. Some kernels hide it. The CPU was
//   idle until the task was queued there (SwitchEvent::prev_arrival_ns), and took it then.
#ifndef WHYLATE_USERSPACE_TRACE_FTRACE_SETTLE_H_
#define WHYLATE_USERSPACE_TRACE_FTRACE_SETTLE_H_

#include "analysis/model/recording.h"

namespace whylate {

// `recording` has its bounds, its events in total order, losses and omitted stretches.
// `delays_dequeue`: the kernel is 6.12 or later. O(events).
void SettleFtraceEvents(bool delays_dequeue, Recording* recording);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_FTRACE_SETTLE_H_
