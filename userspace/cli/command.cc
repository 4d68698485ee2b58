#include "userspace/cli/command.h"

#include <iostream>

#include "absl/strings/string_view.h"
#include "analysis/report/escape.h"

namespace whylate {

int ReportError(const absl::Status& status) {
  std::cerr << "whylate: " << EscapeForTerminal(status.message()) << "\n";
  if (absl::IsInvalidArgument(status)) return kExitUsage;
  if (absl::IsCancelled(status)) return kExitInterrupted;
  return kExitFailed;
}

}  // namespace whylate
