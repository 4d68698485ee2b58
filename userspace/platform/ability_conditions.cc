// The conditions of measuring: CheckConditions() of abilities.h.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "userspace/platform/abilities.h"
#include "userspace/platform/cpu_ticks.h"
#include "userspace/platform/files.h"

namespace whylate {
namespace {

// The host takes more than this: the latencies are the host's as much as this scheduler's.
constexpr double kMuchStealPercent = 5;
// Counters are in ticks of 10 ms (USER_HZ): fewer in a short window say nothing.
constexpr int64_t kFewTicks = 3;

Ability Make(absl::string_view name, AbilityPurpose purpose, bool ok, std::string detail,
             absl::string_view remedy) {
  Ability ability;
  ability.name = std::string(name);
  ability.ok = ok;
  ability.detail = std::move(detail);
  if (!ok) ability.remedy = std::string(remedy);
  ability.purpose = purpose;
  return ability;
}

template <size_t N>
bool IsOneOf(const absl::string_view (&list)[N], absl::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

Ability CheckClock(const std::vector<HostFact>& host, const AbilityProbes& probes) {
  // Counters that are read without leaving the guest or touching a device.
  constexpr absl::string_view kGood[] = {
      "tsc",      "kvm-clock",        "hyperv_clocksource_tsc_page", "xen", "arch_sys_counter",
      "timebase", "riscv_clocksource"};
  constexpr absl::string_view kBad[] = {
      "hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit", "hyperv_clocksource_msr"};
  const std::optional<std::string> source = FindFact(host, "clocksource");
  const std::optional<int64_t> resolution_ns = probes.resolution_ns();
  const bool fine = resolution_ns && *resolution_ns == 1;
  std::string detail =
      absl::StrCat("clocksource ", source.value_or("unknown"), ", resolution ",
                   resolution_ns ? absl::StrCat(*resolution_ns, " ns") : "unknown");
  if (source && IsOneOf(kBad, *source)) {
    return Make("clock", AbilityPurpose::kQuality, false, detail,
                "find out from the kernel log why tsc was given up; tsc=reliable on the kernel's "
                "command line keeps it, if the hardware's is sound");
  }
  if (!fine) {
    return Make("clock", AbilityPurpose::kQuality, false, detail,
                "use a kernel with CONFIG_HIGH_RES_TIMERS, without highres=off");
  }
  if (source && !IsOneOf(kGood, *source)) absl::StrAppend(&detail, "; its cost is not known here");
  return Make("clock", AbilityPurpose::kQuality, true, detail, "");
}

Ability CheckGovernor(const std::vector<HostFact>& host) {
  const std::optional<std::string> governor = FindFact(host, "governor");
  if (!governor) {
    return Make("governor", AbilityPurpose::kQuality, true,
                "no cpufreq: host or firmware set the frequency", "");
  }
  return Make("governor", AbilityPurpose::kQuality, *governor == "performance", *governor,
              "as root: cpupower frequency-set -g performance (a changing frequency makes equal "
              "work take unequal time)");
}

double Percent(const CpuTicks& ticks) {
  return ticks.all > 0 ? 100.0 * static_cast<double>(ticks.steal) / static_cast<double>(ticks.all)
                       : 0;
}

Ability CheckSteal(const HostPaths& paths, const std::vector<HostFact>& host,
                   const AbilityProbes& probes) {
  constexpr AbilityPurpose kPurpose = AbilityPurpose::kQuality;
  if (FindFact(host, "virtualization") == "none") {
    return Make("steal", kPurpose, true, "not a virtual machine: there is none", "");
  }
  const std::optional<CpuTicks> before = ReadCpuTicks(paths.proc);
  probes.wait();
  const std::optional<CpuTicks> after = ReadCpuTicks(paths.proc);
  if (!before || !after) {
    return Make("steal", kPurpose, false, "/proc/stat has no steal column",
                "mount /proc in full, on a kernel 2.6.11 or later");
  }
  const CpuTicks now = *after - *before;
  const std::string detail = absl::StrFormat("%.2f %% of CPU time just now, %.2f %% since boot",
                                             Percent(now), Percent(*after));
  if (now.steal >= kFewTicks && Percent(now) > kMuchStealPercent) {
    return Make("steal", kPurpose, false, detail,
                "quiet the host or give this machine CPUs of its own: the host's other guests show "
                "up as latency here");
  }
  const std::optional<bool> offered = probes.steal_clock();
  if (after->steal > 0 || offered == true) return Make("steal", kPurpose, true, detail, "");
  return Make("steal", kPurpose, false,
              absl::StrCat("always 0: ", offered == false ? "the hypervisor offers no steal clock"
                                                          : "the hypervisor may not report it"),
              "none inside this machine: time that the host takes will look like slow work");
}

Ability CheckLoadDisk(const std::vector<HostFact>& host, const std::string& workdir) {
  constexpr absl::string_view kMemory[] = {"tmpfs", "ramfs", "rootfs", "devtmpfs"};
  constexpr absl::string_view kLayered[] = {"overlay", "aufs"};
  constexpr absl::string_view kRemote[] = {"nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "ceph"};
  constexpr absl::string_view kName = "load_disk";
  constexpr absl::string_view kRemedy = "--workdir DIR, a directory on a local disk";
  constexpr AbilityPurpose kPurpose = AbilityPurpose::kOption;
  const std::optional<std::string> type = FindFact(host, "workdir_file_system");
  std::string detail = absl::StrCat(workdir, ": ", type.value_or("unknown file system"), " on ",
                                    FindFact(host, "workdir_device").value_or("unknown device"));
  if (access(workdir.c_str(), W_OK | X_OK) != 0) {
    return Make(kName, kPurpose, false, absl::StrCat(detail, ", not a writable directory"),
                kRemedy);
  }
  absl::string_view fault;
  if (!type) {
    fault = ", which may be no disk";
  } else if (IsOneOf(kMemory, *type)) {
    fault = ", which is memory: read and write loads would not reach a disk";
  } else if (IsOneOf(kLayered, *type)) {
    fault = ", a layer over an unknown disk";
  } else if (IsOneOf(kRemote, *type) || absl::StartsWith(*type, "fuse")) {
    fault = ", which is not a local disk";
  }
  if (!fault.empty()) return Make(kName, kPurpose, false, absl::StrCat(detail, fault), kRemedy);
  const absl::StatusOr<int64_t> free_bytes = FreeBytes(workdir);
  if (free_bytes.ok()) {
    absl::StrAppendFormat(&detail, ", %.1f GiB free",
                          static_cast<double>(*free_bytes) / (int64_t{1} << 30));
  }
  return Make(kName, kPurpose, true, detail, "");
}

Ability CheckHtml() {
#if defined(WHYLATE_HTML) && WHYLATE_HTML
  return Make("html", AbilityPurpose::kOption, true, "the HTML report is built in", "");
#else
  return Make("html", AbilityPurpose::kOption, false,
              "not built in: this version has no HTML report yet, and needs no npm",
              "none needed: use the text and JSON reports");
#endif
}

Ability CheckSchedExt(const std::vector<HostFact>& host) {
  const std::optional<std::string> ops = FindFact(host, "sched_ext_ops");
  const bool idle = ops == "none";
  return Make("sched_ext", AbilityPurpose::kOption, ops.has_value(),
              !ops   ? "this kernel has no sched_ext"
              : idle ? "supported, no BPF scheduler loaded"
                     : absl::StrCat("loaded: ", *ops),
              "only to compare BPF schedulers: a kernel 6.12 or later with CONFIG_SCHED_CLASS_EXT");
}

}  // namespace

std::vector<Ability> CheckConditions(const HostPaths& paths, const std::vector<HostFact>& host,
                                     const std::string& workdir, const AbilityProbes& probes) {
  return {CheckClock(host, probes),     CheckGovernor(host), CheckSteal(paths, host, probes),
          CheckLoadDisk(host, workdir), CheckHtml(),         CheckSchedExt(host)};
}

}  // namespace whylate
