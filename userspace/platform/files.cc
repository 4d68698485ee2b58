#include "userspace/platform/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/errno_status.h"

namespace whylate {
namespace {

void GiveToInvokingUser(int fd) {
  const std::optional<InvokingUser> user = GetInvokingUser();
  // A file system without owners (vfat, some network mounts) refuses; the file is still good.
  if (user && fchown(fd, user->uid, user->gid) != 0) return;
}

absl::Status WriteAll(int fd, absl::string_view contents, const std::string& name) {
  while (!contents.empty()) {
    const ssize_t written = write(fd, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus(errno, absl::StrCat("write ", name));
    contents.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status WriteNewFile(int directory_fd, const std::string& name, absl::string_view contents) {
  UniqueFd fd(openat(directory_fd, name.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!fd.valid()) return ErrnoStatus(errno, absl::StrCat("create ", name));
  GiveToInvokingUser(fd.get());
  RETURN_IF_ERROR(WriteAll(fd.get(), contents, name));
  if (fsync(fd.get()) != 0) return ErrnoStatus(errno, absl::StrCat("write ", name, " to disk"));
  return absl::OkStatus();
}

}  // namespace

std::optional<InvokingUser> GetInvokingUser() {
  const char* uid_text = std::getenv("SUDO_UID");
  const char* gid_text = std::getenv("SUDO_GID");
  InvokingUser user;
  if (geteuid() != 0 || uid_text == nullptr || gid_text == nullptr ||
      !absl::SimpleAtoi(uid_text, &user.uid) || !absl::SimpleAtoi(gid_text, &user.gid)) {
    return std::nullopt;
  }
  return user;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, absl::StrCat("open ", path));
  std::string contents;
  char buffer[65536];
  while (true) {
    const ssize_t count = read(fd.get(), buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, absl::StrCat("read ", path));
    if (count == 0) return contents;
    contents.append(buffer, static_cast<size_t>(count));
  }
}

std::optional<std::string> ReadFileLine(const std::string& path) {
  absl::StatusOr<std::string> contents = ReadFile(path);
  if (!contents.ok()) return std::nullopt;
  return std::string(absl::StripSuffix(*contents, "\n"));
}

std::string TemporaryName(const std::string& name) { return absl::StrCat(".", name, ".tmp"); }

absl::Status WriteFileAtomically(int directory_fd, const std::string& name,
                                 absl::string_view contents) {
  const std::string temporary = TemporaryName(name);
  unlinkat(directory_fd, temporary.c_str(), 0);  // of a killed run
  absl::Status status = WriteNewFile(directory_fd, temporary, contents);
  if (status.ok() && renameat(directory_fd, temporary.c_str(), directory_fd, name.c_str()) != 0) {
    status = ErrnoStatus(errno, absl::StrCat("rename ", temporary, " to ", name));
  }
  if (!status.ok()) {
    unlinkat(directory_fd, temporary.c_str(), 0);
    return status;
  }
  if (fsync(directory_fd) != 0) return ErrnoStatus(errno, absl::StrCat("fsync around ", name));
  return absl::OkStatus();
}

absl::StatusOr<UniqueFd> OpenDirectory(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, absl::StrCat("open directory ", path));
  return fd;
}

absl::StatusOr<UniqueFd> CreateDirectory(const std::string& path) {
  if (mkdir(path.c_str(), 0755) != 0) {
    return ErrnoStatus(errno, absl::StrCat("create directory ", path));
  }
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, absl::StrCat("open directory ", path));
  GiveToInvokingUser(fd.get());
  return fd;
}

absl::StatusOr<UniqueFd> CreateUnnamedFile(const std::string& directory,
                                           const std::string& run_id) {
  UniqueFd fd(open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd.valid()) return fd;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) {
    return ErrnoStatus(errno, absl::StrCat("create a load file in ", directory));
  }
  std::string path = absl::StrCat(directory, "/.whylate-", run_id, "-XXXXXX");
  fd = UniqueFd(mkostemp(path.data(), O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, absl::StrCat("create a load file in ", directory));
  if (unlink(path.c_str()) != 0) return ErrnoStatus(errno, absl::StrCat("unlink ", path));
  return fd;
}

absl::StatusOr<int64_t> FreeBytes(const std::string& path) {
  struct statvfs facts;
  if (statvfs(path.c_str(), &facts) != 0) {
    return ErrnoStatus(errno, absl::StrCat("read the free space of ", path));
  }
  return static_cast<int64_t>(facts.f_bavail * facts.f_frsize);
}

}  // namespace whylate
