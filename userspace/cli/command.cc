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

int FinishOutput(int exit_code) {
  std::cout.flush();
  if (std::cout) return exit_code;
  return ReportError(absl::InternalError("write to standard output: it is full or closed"));
}

}  // namespace whylate
