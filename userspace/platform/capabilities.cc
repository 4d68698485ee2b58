#include "userspace/platform/capabilities.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/files.h"

namespace whylate {

const std::vector<int>& UsefulCapabilities() {
  static const auto& useful = *new std::vector<int>{
      CAP_BPF, CAP_PERFMON, CAP_SYS_NICE, CAP_IPC_LOCK, CAP_SYS_ADMIN, CAP_SYS_RESOURCE, CAP_KILL};
  return useful;
}

std::string CapabilityName(int capability) {
  switch (capability) {
    case CAP_BPF:
      return "CAP_BPF";
    case CAP_PERFMON:
      return "CAP_PERFMON";
    case CAP_SYS_NICE:
      return "CAP_SYS_NICE";
    case CAP_IPC_LOCK:
      return "CAP_IPC_LOCK";
    case CAP_SYS_ADMIN:
      return "CAP_SYS_ADMIN";
    case CAP_SYS_RESOURCE:
      return "CAP_SYS_RESOURCE";
    case CAP_KILL:
      return "CAP_KILL";
    default:
      return absl::StrCat("capability ", capability);
  }
}

absl::StatusOr<Capabilities> ParseCapabilities(absl::string_view status_text) {
  for (absl::string_view line : absl::StrSplit(status_text, '\n')) {
    if (!absl::ConsumePrefix(&line, "CapEff:")) continue;
    Capabilities capabilities;
    if (!absl::SimpleHexAtoi(line, &capabilities.effective)) {
      return absl::InvalidArgumentError(absl::StrCat("CapEff is not a mask: '", line, "'"));
    }
    return capabilities;
  }
  return absl::InvalidArgumentError("no CapEff line in the process status");
}

absl::StatusOr<Capabilities> ReadCapabilities(const std::string& proc) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(absl::StrCat(proc, "/self/status")));
  return ParseCapabilities(text);
}

bool HasCapability(int capability) {
  const absl::StatusOr<Capabilities> mine = ReadCapabilities("/proc");
  return mine.ok() && mine->Has(capability);
}

}  // namespace whylate
