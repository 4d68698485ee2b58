// The high-resolution sleeps of watched tasks, by ftrace's timer events: a timer is known by its
// address, and belongs to the task that armed it.
//
// Such a sleep is a struct hrtimer_sleeper on the sleeper's stack, whose function is hrtimer_wakeup():
// its start is recorded while the sleeper is current. Expiry times are of the clock that the timer was
// set up for, the event before the start; they become CLOCK_MONOTONIC by that clock's offset, and a
// timer of a clock without one is left out. Not thread-safe.
#ifndef WHYLATE_USERSPACE_TRACE_FTRACE_TIMERS_H_
#define WHYLATE_USERSPACE_TRACE_FTRACE_TIMERS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "analysis/model/ids.h"
#include "analysis/model/sched_event.h"

namespace whylate {

class FtraceTimers {
 public:
  // By clockid_t: what to take from its times. CLOCK_MONOTONIC needs none.
  using ClockOffsets = std::map<int64_t, int64_t>;

  explicit FtraceTimers(ClockOffsets offsets_ns) : offsets_ns_(std::move(offsets_ns)) {}

  void Setup(Tid current, int64_t timer, int64_t clock) { setups_[current] = {timer, clock}; }
  // `is_watched`: of `current`. nullopt where it is not, or the clock is not known.
  std::optional<TimerStartEvent> Start(Tid current, bool is_watched, int64_t timer,
                                       int64_t expires_ns, int64_t mode);
  std::optional<TimerExpireEvent> Expire(int64_t timer, int64_t now_ns);
  // Records were lost, and with them perhaps that an address became another's timer.
  void Reset();

 private:
  struct ClockOfTimer {
    int64_t timer = 0;
    int64_t clock = 0;
  };
  struct Armed {
    Tid task;
    int64_t expires_ns = 0;
    int64_t offset_ns = 0;
  };
  std::optional<int64_t> OffsetOf(Tid current, int64_t timer, bool is_relative) const;

  ClockOffsets offsets_ns_;
  absl::flat_hash_map<Tid, ClockOfTimer> setups_;
  absl::flat_hash_map<int64_t, Armed> armed_;  // by address
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_FTRACE_TIMERS_H_
