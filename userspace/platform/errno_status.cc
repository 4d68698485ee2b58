#include "userspace/platform/errno_status.h"

#include <cerrno>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace whylate {
namespace {

absl::StatusCode CodeOf(int error_number) {
  switch (error_number) {
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case ENOENT:
    case ESRCH:
      return absl::StatusCode::kNotFound;
    case EEXIST:
      return absl::StatusCode::kAlreadyExists;
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case EAGAIN:
      return absl::StatusCode::kResourceExhausted;
    case EINVAL:
    case ENAMETOOLONG:
    case ENOTDIR:
      return absl::StatusCode::kFailedPrecondition;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::Status ErrnoStatus(int error_number, absl::string_view attempt) {
  return absl::Status(CodeOf(error_number),
                      absl::StrCat(attempt, ": ", std::generic_category().message(error_number)));
}

}  // namespace whylate
