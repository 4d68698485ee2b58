// Which CPUs are close to each other, from sysfs.
#ifndef WHYLATE_USERSPACE_PLATFORM_CPU_TOPOLOGY_H_
#define WHYLATE_USERSPACE_PLATFORM_CPU_TOPOLOGY_H_

#include <optional>
#include <string>

#include "analysis/model/cpu_set.h"
#include "analysis/model/ids.h"

namespace whylate {

// Those behind the same last-level cache as `cpu`, itself included. Unset where `sys` does not tell.
std::optional<CpuSet> LastLevelCacheOf(CpuId cpu, const std::string& sys = "/sys");

// The first of `cpus` that is behind another one than `cpu`; unset for none, or where that is not known.
std::optional<CpuId> FarCpu(CpuId cpu, const CpuSet& cpus, const std::string& sys = "/sys");

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_CPU_TOPOLOGY_H_
