// What this process may do: its effective Linux capabilities (capabilities(7)).
//
//   if (!HasCapability(CAP_SYS_NICE)) ...
//   ASSIGN_OR_RETURN(Capabilities mine, ReadCapabilities("/proc"));
//   mine.MayLoadBpf();
#ifndef WHYLATE_USERSPACE_PLATFORM_CAPABILITIES_H_
#define WHYLATE_USERSPACE_PLATFORM_CAPABILITIES_H_

#include <linux/capability.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace whylate {

struct Capabilities {
  uint64_t effective = 0;  // bit i is capability number i

  // `capability` is a CAP_ number of <linux/capability.h>.
  bool Has(int capability) const {
    return capability >= 0 && capability < 64 && (effective >> capability & 1) != 0;
  }
  // CAP_BPF and CAP_PERFMON (kernel 5.8), each of which CAP_SYS_ADMIN includes.
  bool MayLoadBpf() const { return Has(CAP_SYS_ADMIN) || (Has(CAP_BPF) && Has(CAP_PERFMON)); }
  friend bool operator==(const Capabilities&, const Capabilities&) = default;
};

// The capabilities that whylate can make use of, by number.
const std::vector<int>& UsefulCapabilities();
// "CAP_BPF"; "capability 40" for one that is not in UsefulCapabilities().
std::string CapabilityName(int capability);

// From the text of /proc/PID/status, its CapEff line. InvalidArgument without a readable one.
absl::StatusOr<Capabilities> ParseCapabilities(absl::string_view status_text);
// Of the calling process; `proc` is where procfs is mounted.
absl::StatusOr<Capabilities> ReadCapabilities(const std::string& proc);
// Of the calling process; false where /proc can't be read.
bool HasCapability(int capability);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_CAPABILITIES_H_
