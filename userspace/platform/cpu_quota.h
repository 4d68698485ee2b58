// Which tasks a CFS quota limits: those in a cgroup that has one, or in any below it.
#ifndef WHYLATE_USERSPACE_PLATFORM_CPU_QUOTA_H_
#define WHYLATE_USERSPACE_PLATFORM_CPU_QUOTA_H_

#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "analysis/model/ids.h"
#include "userspace/platform/mounts.h"

namespace whylate {

// Threads, by the files of the cgroup hierarchy `cpu`: cpu.max (v2) or cpu.cfs_quota_us (v1). Groups
// that cannot be read have none. O(groups + limited threads).
absl::flat_hash_set<Tid> TasksUnderCpuQuota(const CgroupController& cpu);

// The number by which the kernel calls the hierarchy that has the cpu controller (0: v2), from the
// text of /proc/cgroups; nullopt where none is told.
std::optional<int32_t> CpuHierarchy(absl::string_view cgroups);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_CPU_QUOTA_H_
