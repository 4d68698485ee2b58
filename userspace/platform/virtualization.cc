#include "userspace/platform/virtualization.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "userspace/platform/files.h"

namespace whylate {
namespace {

std::string NameOf(absl::string_view signature) {
  constexpr std::pair<absl::string_view, absl::string_view> kNames[] = {
      {"KVMKVMKVM", "KVM"},           {"Linux KVM Hv", "KVM"},    {"TCGTCGTCGTCG", "QEMU TCG"},
      {"Microsoft Hv", "Hyper-V"},    {"VMwareVMware", "VMware"}, {"XenVMMXenVMM", "Xen"},
      {"VBoxVBoxVBox", "VirtualBox"}, {"bhyve bhyve ", "bhyve"},  {" lrpepyh  vr", "Parallels"},
      {"ACRNACRNACRN", "ACRN"},
  };
  for (const auto& [known, name] : kNames) {
    if (signature == known) return std::string(name);
  }
  return signature.empty() ? "unnamed hypervisor" : std::string(signature);
}

std::string DmiProduct(const std::string& sys) {
  std::string product;
  for (const absl::string_view file : {"sys_vendor", "product_name"}) {
    const std::optional<std::string> line = ReadFileLine(absl::StrCat(sys, "/class/dmi/id/", file));
    if (line && !line->empty()) absl::StrAppend(&product, product.empty() ? "" : " ", *line);
  }
  return product;
}

enum class CpuidFlag { kNone, kHypervisor, kNotX86 };

CpuidFlag FlagOf(absl::string_view cpuinfo) {
  for (const absl::string_view line : absl::StrSplit(cpuinfo, '\n')) {
    if (!absl::StartsWith(line, "flags")) continue;
    const std::vector<absl::string_view> flags = absl::StrSplit(line, ' ');
    const bool guest = std::find(flags.begin(), flags.end(), "hypervisor") != flags.end();
    return guest ? CpuidFlag::kHypervisor : CpuidFlag::kNone;
  }
  return CpuidFlag::kNotX86;
}

}  // namespace

std::optional<std::string> HypervisorSignature() {
#ifdef __x86_64__
  uint32_t eax = 0;
  std::array<uint32_t, 3> words = {};
  __cpuid(0x40000000, eax, words[0], words[1], words[2]);
  std::array<char, 13> text = {};
  std::memcpy(text.data(), words.data(), sizeof(words));
  return std::string(text.data());
#else
  return std::nullopt;
#endif
}

std::optional<bool> KvmOffersStealClock() {
#ifdef __x86_64__
  uint32_t eax = 0;
  uint32_t ebx = 0;
  uint32_t ecx = 0;
  uint32_t edx = 0;
  constexpr uint32_t kHypervisorBit = 1U << 31;  // leaf 1, ECX
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & kHypervisorBit) == 0) {
    return std::nullopt;
  }
  if (HypervisorSignature() != "KVMKVMKVM") return std::nullopt;
  __cpuid(0x40000001, eax, ebx, ecx, edx);
  return (eax >> 5 & 1) != 0;
#else
  return std::nullopt;
#endif
}

std::optional<std::string> Virtualization(absl::string_view cpuinfo, const std::string& proc,
                                          const std::string& sys,
                                          const std::optional<std::string>& signature) {
  std::string name;
  switch (FlagOf(cpuinfo)) {
    case CpuidFlag::kNone:
      // A Xen guest in PV mode hides the flag; it has this file.
      if (const auto type = ReadFileLine(absl::StrCat(sys, "/hypervisor/type"))) return *type;
      if (cpuinfo.empty()) return std::nullopt;
      return "none";
    case CpuidFlag::kHypervisor:
      name = NameOf(signature.value_or(""));
      break;
    case CpuidFlag::kNotX86: {
      std::optional<std::string> compatible =
          ReadFileLine(absl::StrCat(proc, "/device-tree/hypervisor/compatible"));
      if (!compatible) return std::nullopt;
      compatible->resize(std::min(compatible->find('\0'), compatible->size()));
      name = *compatible;
      break;
    }
  }
  const std::string product = DmiProduct(sys);
  return product.empty() ? name : absl::StrCat(name, " (", product, ")");
}

}  // namespace whylate
