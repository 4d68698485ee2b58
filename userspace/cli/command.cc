#include "userspace/cli/command.h"

#include <iostream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
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

absl::StatusOr<int64_t> ParseDurationNs(const char* flag, const std::string& text,
                                        absl::Duration least, absl::Duration most) {
  absl::Duration duration;
  double seconds = 0;
  if (absl::SimpleAtod(text, &seconds)) {
    duration = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(text, &duration)) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " '", text, "' is no time; write 10s, 500ms or 2m"));
  }
  if (duration < least || duration > most) {
    return absl::InvalidArgumentError(absl::StrCat(flag, " ", text, " is outside ",
                                                   absl::FormatDuration(least), " to ",
                                                   absl::FormatDuration(most)));
  }
  return absl::ToInt64Nanoseconds(duration);
}

}  // namespace whylate
