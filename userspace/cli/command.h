// What the subcommands share: exit codes, and how an error becomes one line and a code.
#ifndef WHYLATE_USERSPACE_CLI_COMMAND_H_
#define WHYLATE_USERSPACE_CLI_COMMAND_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace whylate {

inline constexpr int kExitOk = 0;  // ran; misses are a result
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInvalidCell = 3;  // ran, but some cell is not valid
inline constexpr int kExitInterrupted = 130;

// Prints "whylate: <message>" to stderr, hostile bytes escaped, and returns the exit code:
// InvalidArgument is usage, Cancelled an interruption, all else a failure.
int ReportError(const absl::Status& status);

// `exit_code` where all that was written to standard output has arrived, else kExitFailed and a line
// that says so: what a full disk or a closed pipe swallowed was not reported.
int FinishOutput(int exit_code);

// The value of a flag that is a time: "10s", "16.667ms", "2m", or seconds without a unit.
// InvalidArgument, naming the flag, for anything else and for what is outside [least, most].
absl::StatusOr<int64_t> ParseDurationNs(const char* flag, const std::string& text,
                                        absl::Duration least, absl::Duration most);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_CLI_COMMAND_H_
