// Files: small reads, crash-safe writes, files without a name, and who owns what we create.
#ifndef WHYLATE_USERSPACE_PLATFORM_FILES_H_
#define WHYLATE_USERSPACE_PLATFORM_FILES_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "userspace/platform/unique_fd.h"

namespace whylate {

// The user on whose behalf we run: under sudo (root with SUDO_UID and SUDO_GID set), that user;
// else unset, and files belong to whom the kernel says.
struct InvokingUser {
  uid_t uid;
  gid_t gid;
};
std::optional<InvokingUser> GetInvokingUser();

// Whole contents. For /proc and /sys as well, whose files say size 0.
absl::StatusOr<std::string> ReadFile(const std::string& path);
// The same without the trailing newline; nullopt where it can't be read.
std::optional<std::string> ReadFileLine(const std::string& path);

// Replaces directory/name by `contents`, so that a reader sees the old or the new file, whole, even
// if we die between: write to directory/.name.tmp, fsync, rename, fsync the directory. Never
// follows a symbolic link at the last step. The file belongs to the invoking user.
absl::Status WriteFileAtomically(int directory_fd, const std::string& name,
                                 absl::string_view contents);
// Name of the temporary file that WriteFileAtomically uses for `name`.
std::string TemporaryName(const std::string& name);

// Creates directory `path`, which must not exist (AlreadyExists), for the invoking user, and opens
// it.
absl::StatusOr<UniqueFd> CreateDirectory(const std::string& path);
absl::StatusOr<UniqueFd> OpenDirectory(const std::string& path);

// A file without a name in `directory`, open for reading and writing: O_TMPFILE, or where the file
// system lacks it, created as .whylate-<run_id>-N and unlinked at once.
absl::StatusOr<UniqueFd> CreateUnnamedFile(const std::string& directory, const std::string& run_id);

// Free bytes for us on the file system that holds `path`.
absl::StatusOr<int64_t> FreeBytes(const std::string& path);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_FILES_H_
