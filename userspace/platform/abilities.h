// What this machine lets whylate do, and what to do about the rest: the matter of `whylate check`.
//
//   const HostPaths paths;
//   const std::vector<HostFact> host = ReadHostFacts(paths, workdir);
//   for (const Ability& ability : CheckAbilities(paths, host, workdir, AbilityProbes())) ...
#ifndef WHYLATE_USERSPACE_PLATFORM_ABILITIES_H_
#define WHYLATE_USERSPACE_PLATFORM_ABILITIES_H_

#include <string>
#include <vector>

#include "analysis/model/host.h"
#include "userspace/platform/ability_probes.h"
#include "userspace/platform/host.h"

namespace whylate {

// What an ability is for, hence what its absence costs.
enum class AbilityPurpose {
  kRun,      // without it nothing runs
  kReasons,  // without it misses are counted, not explained
  kQuality,  // without it the numbers say less about the scheduler
  kOption,   // without it one option, load or output is missing
};

struct Ability {
  std::string name;  // snake_case, unique, stable: scripts use it
  bool ok = false;
  std::string detail;  // what was seen; may hold hostile bytes
  std::string remedy;  // what to do about it; empty when ok
  bool required = false;
  AbilityPurpose purpose = AbilityPurpose::kOption;
};

// All abilities, in the order in which to show them. `host` is what ReadHostFacts(paths, workdir)
// gave. Takes about 0.3 s, for the two readings of the steal counter; changes nothing.
std::vector<Ability> CheckAbilities(const HostPaths& paths, const std::vector<HostFact>& host,
                                    const std::string& workdir, const AbilityProbes& probes);

// The groups that CheckAbilities puts together.
// linux, monotonic_clock, proc: the only ones that are required.
std::vector<Ability> CheckEssentials(const HostPaths& paths, const std::vector<HostFact>& host,
                                     const AbilityProbes& probes);
// capabilities, btf, bpf_load, tracefs, cgroup, memory_cgroup, real_time, locked_memory.
std::vector<Ability> CheckRights(const HostPaths& paths, const AbilityProbes& probes);
// clock, governor, steal, load_disk, html, sched_ext.
std::vector<Ability> CheckConditions(const HostPaths& paths, const std::vector<HostFact>& host,
                                     const std::string& workdir, const AbilityProbes& probes);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_ABILITIES_H_
