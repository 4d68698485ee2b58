// What the kernel counts of all CPUs' time since boot, from the first line of /proc/stat.
#ifndef WHYLATE_USERSPACE_PLATFORM_CPU_TICKS_H_
#define WHYLATE_USERSPACE_PLATFORM_CPU_TICKS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace whylate {

// In ticks of USER_HZ.
inline constexpr int64_t kUserTickNs = 10'000'000;

struct CpuTicks {
  int64_t all = 0;    // user to steal; guest time is in user already
  int64_t busy = 0;   // of it, what was not idle nor waiting for input or output
  int64_t steal = 0;  // what the hypervisor took

  CpuTicks operator-(const CpuTicks& before) const {
    return {all - before.all, busy - before.busy, steal - before.steal};
  }
};

// From `proc`/stat; unset where it has no steal column.
std::optional<CpuTicks> ReadCpuTicks(const std::string& proc = "/proc");

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_CPU_TICKS_H_
