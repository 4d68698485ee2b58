// Whether this machine is a virtual one, whose, and whether it counts the time the host takes.
//
//   Virtualization(ReadFile("/proc/cpuinfo").value(), "/proc", "/sys", HypervisorSignature());
//   // "KVM (QEMU Standard PC)", "none", or nullopt
#ifndef WHYLATE_USERSPACE_PLATFORM_VIRTUALIZATION_H_
#define WHYLATE_USERSPACE_PLATFORM_VIRTUALIZATION_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace whylate {

// The hypervisor's 12-byte signature from cpuid leaf 0x40000000 ("KVMKVMKVM"), which means
// something only where the CPU has the `hypervisor` flag; nullopt on other architectures than x86.
std::optional<std::string> HypervisorSignature();

// True when KVM offers this guest a steal clock (cpuid 0x40000001, EAX bit 5,
// KVM_FEATURE_STEAL_TIME of Documentation/virt/kvm/x86/cpuid.rst); nullopt when this isn't an x86
// KVM guest.
std::optional<bool> KvmOffersStealClock();

// Hypervisor by name, with the DMI vendor and product where there are any: "KVM (Amazon EC2 m7i)".
// "none" where the CPU says there is none; nullopt where nothing tells (arm64 without device tree).
std::optional<std::string> Virtualization(absl::string_view cpuinfo, const std::string& proc,
                                          const std::string& sys,
                                          const std::optional<std::string>& signature);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_VIRTUALIZATION_H_
