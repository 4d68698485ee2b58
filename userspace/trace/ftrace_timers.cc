#include "userspace/trace/ftrace_timers.h"

#include <time.h>

#include <limits>

namespace whylate {
namespace {

constexpr int64_t kRelative = 1;  // HRTIMER_MODE_REL of include/linux/hrtimer.h

// A timer may be armed for never.
int64_t Minus(int64_t time_ns, int64_t offset_ns) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(time_ns, offset_ns, &difference)) return difference;
  return std::numeric_limits<int64_t>::max();
}

}  // namespace

std::optional<int64_t> FtraceTimers::OffsetOf(Tid current, int64_t timer, bool is_relative) const {
  const auto setup = setups_.find(current);
  if (setup == setups_.end() || setup->second.timer != timer) return std::nullopt;
  int64_t clock = setup->second.clock;
  // A relative sleep is not to follow a change of the wall clock: kernel/time/hrtimer.c.
  if (clock == CLOCK_REALTIME && is_relative) clock = CLOCK_MONOTONIC;
  if (clock == CLOCK_MONOTONIC) return 0;
  const auto offset = offsets_ns_.find(clock);
  if (offset == offsets_ns_.end()) return std::nullopt;
  return offset->second;
}

std::optional<TimerStartEvent> FtraceTimers::Start(Tid current, bool is_watched, int64_t timer,
                                                   int64_t expires_ns, int64_t mode) {
  armed_.erase(timer);
  if (!is_watched) return std::nullopt;
  const bool is_relative = (mode & kRelative) != 0;
  const std::optional<int64_t> offset_ns = OffsetOf(current, timer, is_relative);
  if (!offset_ns.has_value()) return std::nullopt;
  const int64_t monotonic_ns = Minus(expires_ns, *offset_ns);
  armed_[timer] = {current, monotonic_ns, *offset_ns};
  return TimerStartEvent{current, monotonic_ns, !is_relative};
}

std::optional<TimerExpireEvent> FtraceTimers::Expire(int64_t timer, int64_t now_ns) {
  const auto found = armed_.find(timer);
  if (found == armed_.end()) return std::nullopt;
  const Armed armed = found->second;
  armed_.erase(found);
  return TimerExpireEvent{armed.task, armed.expires_ns, Minus(now_ns, armed.offset_ns)};
}

void FtraceTimers::Reset() {
  setups_.clear();
  armed_.clear();
}

}  // namespace whylate
