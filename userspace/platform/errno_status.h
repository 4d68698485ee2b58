// errno as a Status, made at the line of the call that failed.
#ifndef WHYLATE_USERSPACE_PLATFORM_ERRNO_STATUS_H_
#define WHYLATE_USERSPACE_PLATFORM_ERRNO_STATUS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace whylate {

// "<attempt>: <text of error_number>", with the status code that fits the errno (EACCES ->
// PermissionDenied, ENOENT -> NotFound, ENOSPC -> ResourceExhausted, EEXIST -> AlreadyExists ...).
//
//   if (open(...) < 0) return ErrnoStatus(errno, absl::StrCat("open ", path));
absl::Status ErrnoStatus(int error_number, absl::string_view attempt);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_ERRNO_STATUS_H_
