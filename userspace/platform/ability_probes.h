// The experiments behind `whylate check`: each really tries what whylate will do, and undoes it.
//
// None prints. What would change this process is tried in a forked child that only makes system
// calls and exits, so the caller may have threads.
//
//   absl::Status status = TryRealTime();  // PermissionDenied: "set SCHED_FIFO: Operation not ..."
#ifndef WHYLATE_USERSPACE_PLATFORM_ABILITY_PROBES_H_
#define WHYLATE_USERSPACE_PLATFORM_ABILITY_PROBES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace whylate {

// uname's sysname: "Linux".
std::string SystemName();

// Reads CLOCK_MONOTONIC twice; an error when it can't be read or runs backwards.
absl::Status TryMonotonicClock();
// clock_getres of CLOCK_MONOTONIC in ns; nullopt when it fails.
std::optional<int64_t> MonotonicResolutionNs();

// Loads (and drops) two programs that do nothing: a raw tracepoint, which takes the right to use
// BPF, and one on the BTF tracepoint sched_switch, which takes the kernel's BTF too. The error
// names the program that was refused.
absl::Status TryLoadBpf();

// Gives a child SCHED_FIFO priority 1.
absl::Status TryRealTime();

// Mounts tracefs in a mount namespace of a child's own, so that nobody else sees it.
absl::Status TryMountTracefs();

// The experiments as replaceable parts, for unit tests. The defaults are the real ones.
struct AbilityProbes {
  std::function<std::string()> system_name = SystemName;
  std::function<absl::Status()> monotonic_clock = TryMonotonicClock;
  std::function<std::optional<int64_t>()> resolution_ns = MonotonicResolutionNs;
  std::function<absl::Status()> load_bpf = TryLoadBpf;
  std::function<absl::Status()> real_time = TryRealTime;
  std::function<absl::Status()> mount_tracefs = TryMountTracefs;
  // True when the hypervisor offers a steal clock, false when not, nullopt when it can't be asked.
  std::function<std::optional<bool>()> steal_clock;
  // Passes the time between two readings of a counter; by default 200 ms.
  std::function<void()> wait;

  AbilityProbes();
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_ABILITY_PROBES_H_
