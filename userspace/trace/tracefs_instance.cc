#include "userspace/trace/tracefs_instance.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/process.h"

namespace whylate {
namespace {

constexpr char kTracefs[] = "/sys/kernel/tracing";
constexpr int64_t kTracefsMagic = 0x74726163;  // include/uapi/linux/magic.h
constexpr char kInstances[] = "instances";
constexpr char kPrefix[] = "whylate-";

absl::Status CannotTrace(int error, absl::string_view attempt) {
  const absl::Status status = ErrnoStatus(error, attempt);
  if (error == EACCES || error == EPERM) {
    return absl::PermissionDeniedError(
        absl::StrCat(status.message(),
                     "; ftrace takes root (CAP_SYS_ADMIN), and a kernel that is not locked down"));
  }
  if (error == ENOENT || error == ENODEV) {
    return absl::FailedPreconditionError(
        absl::StrCat(status.message(), "; the kernel has no ftrace (CONFIG_FTRACE)"));
  }
  return status;
}

// tracefs as a mount of its own that has no place in the tree, and is gone with the descriptor.
absl::StatusOr<UniqueFd> OpenUnmounted() {
  const UniqueFd context(fsopen("tracefs", FSOPEN_CLOEXEC));
  if (!context.valid()) return CannotTrace(errno, "open tracefs");
  if (fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    return CannotTrace(errno, "open tracefs");
  }
  UniqueFd root(fsmount(context.get(), FSMOUNT_CLOEXEC, 0));
  if (!root.valid()) return CannotTrace(errno, "open tracefs");
  return root;
}

absl::StatusOr<UniqueFd> OpenTracefs() {
  struct statfs what = {};
  if (statfs(kTracefs, &what) != 0 || int64_t{what.f_type} != kTracefsMagic) return OpenUnmounted();
  UniqueFd root(open(kTracefs, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) return CannotTrace(errno, absl::StrCat("open ", kTracefs));
  return root;
}

absl::StatusOr<UniqueFd> OpenAt(const UniqueFd& root, const std::string& path, int flags) {
  UniqueFd fd(openat(root.get(), path.c_str(), flags | O_CLOEXEC));
  if (!fd.valid()) return CannotTrace(errno, absl::StrCat("open tracefs ", path));
  return fd;
}

absl::StatusOr<std::string> ReadAt(const UniqueFd& root, const std::string& path) {
  ASSIGN_OR_RETURN(const UniqueFd fd, OpenAt(root, path, O_RDONLY));
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t got = read(fd.get(), buffer, sizeof(buffer));
    if (got == 0) return text;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, absl::StrCat("read tracefs ", path));
    text.append(buffer, static_cast<size_t>(got));
  }
}

// "<pid>-<ticks>" of "whylate-<pid>-<ticks>-<number>".
std::optional<std::string> RunIdOf(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, kPrefix)) return std::nullopt;
  const size_t number = name.rfind('-');
  if (number == name.npos) return std::nullopt;
  return std::string(name.substr(0, number));
}

std::vector<std::string> OurInstances(const UniqueFd& root) {
  std::vector<std::string> names;
  const int fd = openat(root.get(), kInstances, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return names;
  DIR* directory = fdopendir(fd);  // the descriptor is its own from here on
  if (directory == nullptr) {
    close(fd);
    return names;
  }
  while (const dirent* entry = readdir(directory)) {
    if (absl::StartsWith(entry->d_name, kPrefix)) names.emplace_back(entry->d_name);
  }
  closedir(directory);
  return names;
}

// False while it is in use.
bool Remove(const UniqueFd& root, const std::string& name) {
  const std::string path = absl::StrCat(kInstances, "/", name);
  return unlinkat(root.get(), path.c_str(), AT_REMOVEDIR) == 0 || errno != EBUSY;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TracefsInstance>> TracefsInstance::Create() {
  const std::optional<ProcessFacts> self = ReadProcess(Tgid{getpid()});
  if (!self.has_value()) return absl::FailedPreconditionError("read /proc: it is not mounted");
  ASSIGN_OR_RETURN(UniqueFd root, OpenTracefs());
  for (int number = 0;; ++number) {
    std::string name = absl::StrCat(kPrefix, MakeRunId(self->identity), "-", number);
    const std::string path = absl::StrCat(kInstances, "/", name);
    if (mkdirat(root.get(), path.c_str(), 0700) == 0) {
      return std::unique_ptr<TracefsInstance>(
          new TracefsInstance(std::move(root), std::move(name)));
    }
    if (errno != EEXIST)
      return CannotTrace(errno, absl::StrCat("create the instance ", name, " of ftrace"));
  }
}

TracefsInstance::~TracefsInstance() { Remove(tracefs_, name_); }

std::string TracefsInstance::PathOf(const std::string& file) const {
  return absl::StrCat(kInstances, "/", name_, "/", file);
}

absl::StatusOr<UniqueFd> TracefsInstance::Open(const std::string& file, int flags) const {
  return OpenAt(tracefs_, PathOf(file), flags);
}

absl::Status TracefsInstance::Write(const std::string& file, absl::string_view value) const {
  ASSIGN_OR_RETURN(const UniqueFd fd, Open(file, O_WRONLY));
  if (write(fd.get(), value.data(), value.size()) < 0) {
    return ErrnoStatus(errno, absl::StrCat("write '", value, "' to tracefs ", PathOf(file)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> TracefsInstance::Read(const std::string& file) const {
  return ReadAt(tracefs_, PathOf(file));
}

absl::StatusOr<std::string> TracefsInstance::ReadGlobal(const std::string& file) const {
  return ReadAt(tracefs_, file);
}

bool TracefsInstance::Has(const std::string& file) const {
  return faccessat(tracefs_.get(), PathOf(file).c_str(), F_OK, 0) == 0;
}

absl::Status TracefsUsable() {
  RETURN_IF_ERROR(InInitialPidNamespace("/proc"));
  return TracefsInstance::Create().status();
}

std::vector<std::string> TracefsInstances() {
  const absl::StatusOr<UniqueFd> root = OpenTracefs();
  return root.ok() ? OurInstances(*root) : std::vector<std::string>();
}

void RemoveTracefsInstances(const std::function<bool(absl::string_view run_id)>& chosen,
                            int64_t timeout_ns) {
  const absl::StatusOr<UniqueFd> root = OpenTracefs();
  if (!root.ok()) return;
  const int64_t until_ns = MonotonicNs() + timeout_ns;
  for (const std::string& name : OurInstances(*root)) {
    const std::optional<std::string> run_id = RunIdOf(name);
    if (!run_id.has_value() || !chosen(*run_id)) continue;
    while (!Remove(*root, name) && MonotonicNs() < until_ns) {
      SleepUntilNs(MonotonicNs() + 5 * kNsPerMs);
    }
  }
}

}  // namespace whylate
