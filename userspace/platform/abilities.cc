#include "userspace/platform/abilities.h"

#include <unistd.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "userspace/platform/capabilities.h"
#include "userspace/platform/files.h"
#include "userspace/platform/mounts.h"
#include "userspace/platform/process.h"

namespace whylate {
namespace {

// More than the frame log of the longest cell takes; it is all that is locked.
constexpr uint64_t kFrameLogBytes = uint64_t{4} << 20;

constexpr absl::string_view kBecomeRoot = "run as root (sudo)";

Ability Yes(absl::string_view name, AbilityPurpose purpose, std::string detail) {
  Ability ability;
  ability.name = std::string(name);
  ability.ok = true;
  ability.detail = std::move(detail);
  ability.purpose = purpose;
  ability.required = purpose == AbilityPurpose::kRun;
  return ability;
}

Ability No(absl::string_view name, AbilityPurpose purpose, std::string detail, std::string remedy) {
  Ability ability = Yes(name, purpose, std::move(detail));
  ability.ok = false;
  ability.remedy = std::move(remedy);
  return ability;
}

// The soft limit on line `name` of /proc/PID/limits; "unlimited" is the largest number.
std::optional<uint64_t> SoftLimit(absl::string_view limits, absl::string_view name) {
  for (absl::string_view line : absl::StrSplit(limits, '\n')) {
    if (!absl::ConsumePrefix(&line, name)) continue;
    const std::vector<absl::string_view> fields =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (fields.empty()) return std::nullopt;
    if (fields[0] == "unlimited") return UINT64_MAX;
    uint64_t value = 0;
    if (absl::SimpleAtoi(fields[0], &value)) return value;
  }
  return std::nullopt;
}

std::string LimitText(const std::optional<uint64_t>& limit, absl::string_view unit) {
  if (!limit) return "unknown";
  return *limit == UINT64_MAX ? "unlimited" : absl::StrCat(*limit, unit);
}

Ability CheckCapabilities(const absl::StatusOr<Capabilities>& mine) {
  constexpr AbilityPurpose kPurpose = AbilityPurpose::kReasons;
  if (!mine.ok()) {
    return No("capabilities", kPurpose, std::string(mine.status().message()),
              absl::StrCat("mount /proc, or ", kBecomeRoot));
  }
  std::vector<std::string> held;
  std::vector<std::string> lacking;
  for (const int capability : UsefulCapabilities()) {
    (mine->Has(capability) ? held : lacking).push_back(CapabilityName(capability));
  }
  std::string detail = held.empty() ? "none" : absl::StrJoin(held, " ");
  if (!lacking.empty()) absl::StrAppend(&detail, "; without ", absl::StrJoin(lacking, " "));
  // CAP_SYS_RESOURCE and CAP_KILL only help in corners.
  if (mine->MayLoadBpf() && mine->Has(CAP_SYS_NICE) && mine->Has(CAP_IPC_LOCK)) {
    return Yes("capabilities", kPurpose, detail);
  }
  return No("capabilities", kPurpose, detail,
            absl::StrCat(kBecomeRoot,
                         ", or setcap cap_bpf,cap_perfmon,cap_sys_nice,cap_ipc_lock=ep "
                         "on the whylate binary"));
}

Ability CheckBtf(const HostPaths& paths) {
  const std::string file = absl::StrCat(paths.sys, "/kernel/btf/vmlinux");
  if (access(file.c_str(), R_OK) == 0) return Yes("btf", AbilityPurpose::kReasons, file);
  return No(
      "btf", AbilityPurpose::kReasons, absl::StrCat("cannot read ", file),
      "use a kernel 6.1 or later built with CONFIG_DEBUG_INFO_BTF (distribution kernels are)");
}

Ability CheckBpfLoad(const absl::StatusOr<Capabilities>& mine, const AbilityProbes& probes) {
  const absl::Status status = probes.load_bpf();
  if (status.ok()) {
    return Yes("bpf_load", AbilityPurpose::kReasons,
               "a raw tracepoint and a BTF tracepoint program load");
  }
  std::string remedy;
  if (!absl::IsPermissionDenied(status)) {
    remedy = "use a kernel 6.1 or later with CONFIG_BPF_SYSCALL and CONFIG_DEBUG_INFO_BTF";
  } else if (mine.ok() && mine->MayLoadBpf()) {
    remedy =
        "the rights are there, so a policy refuses: leave the container, or look for "
        "lockdown=confidentiality on the kernel's command line";
  } else {
    remedy = absl::StrCat(kBecomeRoot, ", or give CAP_BPF and CAP_PERFMON");
  }
  return No("bpf_load", AbilityPurpose::kReasons, std::string(status.message()), remedy);
}

Ability CheckPidNamespace(const HostPaths& paths) {
  const absl::Status status = InInitialPidNamespace(paths.proc);
  if (status.ok()) return Yes("pid_namespace", AbilityPurpose::kReasons, "the initial one");
  return No("pid_namespace", AbilityPurpose::kReasons, std::string(status.message()),
            "run it on the host, or with the host's PID namespace (--pid=host)");
}

Ability CheckTracefs(const std::vector<Mount>& mounts, const AbilityProbes& probes) {
  constexpr AbilityPurpose kPurpose = AbilityPurpose::kOption;
  for (const Mount& mount : mounts) {
    if (mount.fs_type != "tracefs") continue;
    const std::string instances = absl::StrCat(mount.mount_point, "/instances");
    if (access(instances.c_str(), W_OK) == 0) {
      return Yes("tracefs", kPurpose,
                 absl::StrCat("for --source tracefs; mounted at ", mount.mount_point));
    }
    return No("tracefs", kPurpose,
              absl::StrCat("mounted at ", mount.mount_point, ", but not writable"),
              std::string(kBecomeRoot));
  }
  const absl::Status status = probes.mount_tracefs();
  if (status.ok())
    return Yes("tracefs", kPurpose, "for --source tracefs; not mounted, and need not be");
  return No("tracefs", kPurpose, absl::StrCat("not mounted; ", status.message()),
            "as root: mount -t tracefs tracefs /sys/kernel/tracing");
}

Ability CheckCgroup(const CgroupLayout& layout) {
  if (layout.cpu) return Yes("cgroup", AbilityPurpose::kOption, layout.ToString());
  return No("cgroup", AbilityPurpose::kOption, layout.ToString(),
            "mount cgroup v2 (mount -t cgroup2 cgroup2 /sys/fs/cgroup) with the cpu controller");
}

// memload needs a group with a memory limit of its own, below the root of the hierarchy.
Ability CheckMemoryCgroup(const CgroupLayout& layout) {
  constexpr absl::string_view kName = "memory_cgroup";
  constexpr AbilityPurpose kPurpose = AbilityPurpose::kOption;
  if (!layout.memory) {
    return No(
        kName, kPurpose, "no mounted cgroup hierarchy has the memory controller",
        "boot without cgroup_disable=memory and mount cgroup v2; else leave out load memload");
  }
  const std::string& directory = layout.memory->directory;
  const std::string where = absl::StrCat(layout.memory->is_v2 ? "v2" : "v1", " at ", directory);
  if (access(directory.c_str(), W_OK) != 0) {
    return No(kName, kPurpose, absl::StrCat(where, ", not writable"),
              absl::StrCat(kBecomeRoot, "; in a container, mount cgroups read-write"));
  }
  if (layout.memory->is_v2) {
    const std::string control = absl::StrCat(directory, "/cgroup.subtree_control");
    const std::string enabled = ReadFile(control).value_or("");
    const bool on =
        absl::StrContains(absl::StrCat(" ", absl::StripSuffix(enabled, "\n"), " "), " memory ");
    if (!on && access(control.c_str(), W_OK) != 0) {
      return No(kName, kPurpose, absl::StrCat(where, ", not enabled for child groups"),
                absl::StrCat("as root: echo +memory > ", control));
    }
  }
  return Yes(kName, kPurpose, where);
}

Ability CheckRealTime(const HostPaths& paths, const absl::StatusOr<Capabilities>& mine,
                      const AbilityProbes& probes) {
  constexpr absl::string_view kName = "real_time";
  constexpr AbilityPurpose kPurpose = AbilityPurpose::kOption;
  const std::string limits = ReadFile(absl::StrCat(paths.proc, "/self/limits")).value_or("");
  const std::string kernel = absl::StrCat(paths.proc, "/sys/kernel/");
  const std::string runtime_us =
      ReadFileLine(absl::StrCat(kernel, "sched_rt_runtime_us")).value_or("unknown");
  const std::string period_us =
      ReadFileLine(absl::StrCat(kernel, "sched_rt_period_us")).value_or("unknown");
  const std::string facts = absl::StrCat(
      "RLIMIT_RTPRIO ", LimitText(SoftLimit(limits, "Max realtime priority"), ""),
      ", RT bandwidth ",
      runtime_us == "-1" ? "unlimited" : absl::StrCat(runtime_us, " of ", period_us, " us"));
  const absl::Status status = probes.real_time();
  if (status.ok() && runtime_us == "0") {
    return No(kName, kPurpose, absl::StrCat("SCHED_FIFO allowed but never runs; ", facts),
              "as root: sysctl kernel.sched_rt_runtime_us=950000");
  }
  if (status.ok()) return Yes(kName, kPurpose, absl::StrCat("SCHED_FIFO allowed; ", facts));
  // With CONFIG_RT_GROUP_SCHED a group without RT runtime refuses even root
  // (kernel/sched/syscalls.c, __sched_setscheduler()).
  const bool has_right = mine.ok() && mine->Has(CAP_SYS_NICE);
  return No(kName, kPurpose, absl::StrCat(status.message(), "; ", facts),
            has_right ? "give this cpu cgroup some cpu.rt_runtime_us, or start from the root cgroup"
                      : absl::StrCat(kBecomeRoot,
                                     ", or allow it: '@audio - rtprio 95' in "
                                     "/etc/security/limits.d/, then log in again"));
}

Ability CheckLockedMemory(const HostPaths& paths, const absl::StatusOr<Capabilities>& mine) {
  constexpr absl::string_view kName = "locked_memory";
  const std::string limits = ReadFile(absl::StrCat(paths.proc, "/self/limits")).value_or("");
  const std::optional<uint64_t> limit = SoftLimit(limits, "Max locked memory");
  const std::string detail = absl::StrCat("RLIMIT_MEMLOCK ", LimitText(limit, " bytes"));
  if (mine.ok() && mine->Has(CAP_IPC_LOCK)) {
    return Yes(kName, AbilityPurpose::kQuality, absl::StrCat("CAP_IPC_LOCK; ", detail));
  }
  if (limit && *limit >= kFrameLogBytes) return Yes(kName, AbilityPurpose::kQuality, detail);
  return No(kName, AbilityPurpose::kQuality, detail,
            absl::StrCat(kBecomeRoot, ", or allow ", kFrameLogBytes, " bytes: '* - memlock ",
                         kFrameLogBytes / 1024, "' in /etc/security/limits.d/"));
}

}  // namespace

std::vector<Ability> CheckEssentials(const HostPaths& paths, const std::vector<HostFact>& host,
                                     const AbilityProbes& probes) {
  constexpr AbilityPurpose kPurpose = AbilityPurpose::kRun;
  std::vector<Ability> abilities;
  const std::string system = probes.system_name();
  abilities.push_back(system == "Linux"
                          ? Yes("linux", kPurpose, FindFact(host, "kernel").value_or("unknown"))
                          : No("linux", kPurpose, system, "run whylate on Linux, 6.1 or later"));
  const absl::Status clock = probes.monotonic_clock();
  abilities.push_back(clock.ok() ? Yes("monotonic_clock", kPurpose, "CLOCK_MONOTONIC")
                                 : No("monotonic_clock", kPurpose, std::string(clock.message()),
                                      "allow clock_gettime (a seccomp filter?)"));
  const absl::StatusOr<std::string> stat = ReadFile(absl::StrCat(paths.proc, "/self/stat"));
  abilities.push_back(stat.ok() ? Yes("proc", kPurpose, absl::StrCat(paths.proc, " is readable"))
                                : No("proc", kPurpose, std::string(stat.status().message()),
                                     "as root: mount -t proc proc /proc"));
  return abilities;
}

std::vector<Ability> CheckRights(const HostPaths& paths, const AbilityProbes& probes) {
  const absl::StatusOr<Capabilities> mine = ReadCapabilities(paths.proc);
  const std::vector<Mount> mounts = ReadMounts(paths.proc);
  const CgroupLayout layout = ReadCgroupLayout(mounts);
  return {CheckCapabilities(mine),       CheckBtf(paths),
          CheckBpfLoad(mine, probes),    CheckPidNamespace(paths),
          CheckTracefs(mounts, probes),  CheckCgroup(layout),
          CheckMemoryCgroup(layout),     CheckRealTime(paths, mine, probes),
          CheckLockedMemory(paths, mine)};
}

std::vector<Ability> CheckAbilities(const HostPaths& paths, const std::vector<HostFact>& host,
                                    const std::string& workdir, const AbilityProbes& probes) {
  std::vector<Ability> abilities = CheckEssentials(paths, host, probes);
  for (std::vector<Ability> group :
       {CheckRights(paths, probes), CheckConditions(paths, host, workdir, probes)}) {
    for (Ability& ability : group) abilities.push_back(std::move(ability));
  }
  return abilities;
}

}  // namespace whylate
