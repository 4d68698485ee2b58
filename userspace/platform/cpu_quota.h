// Which tasks a CFS quota limits: those in a cgroup that has one, or in any below it.
#ifndef WHYLATE_USERSPACE_PLATFORM_CPU_QUOTA_H_
#define WHYLATE_USERSPACE_PLATFORM_CPU_QUOTA_H_

#include "absl/container/flat_hash_set.h"
#include "analysis/model/ids.h"
#include "userspace/platform/mounts.h"

namespace whylate {

// Threads, by the files of the cgroup hierarchy `cpu`: cpu.max (v2) or cpu.cfs_quota_us (v1). Groups
// that cannot be read have none. O(groups + limited threads).
absl::flat_hash_set<Tid> TasksUnderCpuQuota(const CgroupController& cpu);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_CPU_QUOTA_H_
