// Affinity, nice and thread names of the calling thread or process.
#ifndef WHYLATE_USERSPACE_PLATFORM_SCHEDULING_H_
#define WHYLATE_USERSPACE_PLATFORM_SCHEDULING_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analysis/model/cpu_set.h"
#include "analysis/model/ids.h"

namespace whylate {

// CPUs that task `tid` may use (0: the caller).
absl::StatusOr<CpuSet> GetAffinity(Tid tid);
// Pins the calling thread, and what it later creates, to `cpus`.
absl::Status SetAffinity(const CpuSet& cpus);
// The same for task `tid`.
absl::Status SetAffinityOf(Tid tid, const CpuSet& cpus);
// Nice value of the calling thread, -20..19, inherited by what it creates.
absl::Status SetNice(int32_t nice);
// Timer slack of the calling thread (PR_SET_TIMERSLACK), in ns.
void SetTimerSlackNs(uint64_t slack_ns);
// Names the calling thread; cut to the kernel's 15 characters.
void SetThreadName(const std::string& name);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_SCHEDULING_H_
