#include "userspace/trace/capture_host.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "absl/status/statusor.h"
#include "analysis/model/cpu_set.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/files.h"

namespace whylate {

std::vector<CpuDescription> DescribeCpus(int32_t possible_cpus) {
  auto read = [](const char* path) {
    const absl::StatusOr<CpuSet> set = CpuSet::Parse(ReadFileLine(path).value_or(""));
    return set.ok() ? *set : CpuSet();
  };
  const CpuSet online = read("/sys/devices/system/cpu/online");
  const CpuSet isolated = read("/sys/devices/system/cpu/isolated");
  std::vector<CpuDescription> cpus;
  for (int32_t i = 0; i < possible_cpus; ++i) {
    const CpuId cpu{i};
    cpus.push_back({cpu, online.Contains(cpu), isolated.Contains(cpu)});
  }
  return cpus;
}

bool ExtTakesFair() {
  return ReadFileLine("/sys/kernel/sched_ext/state").value_or("") == "enabled" &&
         ReadFileLine("/sys/kernel/sched_ext/switch_all").value_or("") == "1";
}

void WaitForTracers() {
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0) return;
  // Not offered with nohz_full CPUs. What traces takes microseconds.
  SleepUntilNs(MonotonicNs() + 10 * kNsPerMs);
}

}  // namespace whylate
