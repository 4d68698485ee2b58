// Reads the facts of this machine that a session's numbers depend on.
//
//   std::vector<HostFact> host = ReadHostFacts(HostPaths(), "/home/me/load-files");
//   FindFact(host, "preempt");  // "full", or nullopt where nothing tells
//
// Nothing is changed or mounted to find out. Keys, in order; a value is nullopt where it is
// unknown:
//   kernel               uname -r
//   kernel_version       uname -v
//   machine              uname -m
//   config_hash          64-bit FNV-1a of the kernel's configuration text
//   hz                   CONFIG_HZ
//   preempt              none, voluntary, full, lazy, rt (see PreemptMode)
//   command_line         of the kernel
//   cpu_model
//   cpus_online          list notation: "0-7"
//   cpus                 how many are online
//   ram_bytes, swap_bytes
//   workdir_file_system  type: "ext4"
//   workdir_device       "/dev/nvme0n1p2"
//   governor             all distinct cpufreq governors, comma separated; nullopt without cpufreq
//   clocksource          current one
//   sched_features       /sys/kernel/debug/sched/features
//   base_slice_ns        /sys/kernel/debug/sched/base_slice_ns (6.6 and later)
//   autogroup            on, off
//   mitigations          "meltdown: Mitigation: PTI | ..." of what affects this CPU; "none needed"
//   sched_ext_ops        name of the loaded BPF scheduler; "none"; nullopt without sched_ext
//   virtualization       hypervisor and product; "none"
//   scheduler_switches   undocumented sched* words of the command line, space separated; "none"
//   distribution         PRETTY_NAME of os-release
//   cgroup_version       "v1", "v2" or "hybrid", and where the cpu controller lives
//   rt_runtime_us        of sched_rt_period_us (1 s); -1: real-time tasks are not limited
#ifndef WHYLATE_USERSPACE_PLATFORM_HOST_H_
#define WHYLATE_USERSPACE_PLATFORM_HOST_H_

#include <optional>
#include <string>
#include <vector>

#include "analysis/model/host.h"

namespace whylate {

// Where to look; a unit test points these into a tree of its own.
struct HostPaths {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string boot = "/boot";
  std::string etc = "/etc";
  std::string kernel_log = "/dev/kmsg";
  // Unset: ask the CPU (HypervisorSignature()).
  std::optional<std::string> hypervisor_signature;
};

// `workdir` is where load files will go; it need not exist (its nearest existing parent counts).
std::vector<HostFact> ReadHostFacts(const HostPaths& paths, const std::string& workdir);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_HOST_H_
