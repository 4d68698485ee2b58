// The one clock of whylate, CLOCK_MONOTONIC in nanoseconds, and the thread's CPU time beside it.
#ifndef WHYLATE_USERSPACE_PLATFORM_CLOCK_H_
#define WHYLATE_USERSPACE_PLATFORM_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace whylate {

inline constexpr int64_t kNsPerSecond = 1000000000;
inline constexpr int64_t kNsPerMs = 1000000;

inline int64_t ReadClockNs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * kNsPerSecond + now.tv_nsec;
}

inline int64_t MonotonicNs() { return ReadClockNs(CLOCK_MONOTONIC); }
inline int64_t ThreadCpuNs() { return ReadClockNs(CLOCK_THREAD_CPUTIME_ID); }

// Sleeps until the absolute CLOCK_MONOTONIC time; signals do not cut it short.
inline void SleepUntilNs(int64_t time_ns) {
  timespec until;
  until.tv_sec = static_cast<time_t>(time_ns / kNsPerSecond);
  until.tv_nsec = static_cast<long>(time_ns % kNsPerSecond);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
  }
}

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_CLOCK_H_
