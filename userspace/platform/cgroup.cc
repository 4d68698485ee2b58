#include "userspace/platform/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/files.h"
#include "userspace/platform/process.h"

namespace whylate {
namespace {

constexpr int64_t kRemoveTimeoutNs = 3 * kNsPerSecond;

struct CgroupMount {
  std::string root;   // which directory of the hierarchy is mounted
  std::string point;  // where
  bool version2 = false;
};

// Fields of proc(5)'s mountinfo: root is the 4th, mount point the 5th; after " - " come file system
// type, source and super options.
std::vector<CgroupMount> MemoryMounts(const std::string& mountinfo) {
  std::vector<CgroupMount> mounts;
  for (absl::string_view line : absl::StrSplit(mountinfo, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> halves = absl::StrSplit(line, absl::MaxSplits(" - ", 1));
    if (halves.size() != 2) continue;
    const std::vector<absl::string_view> left = absl::StrSplit(halves[0], ' ');
    const std::vector<absl::string_view> right = absl::StrSplit(halves[1], ' ');
    if (left.size() < 5 || right.size() < 3) continue;
    const std::vector<absl::string_view> options = absl::StrSplit(right[2], ',');
    const bool v1_memory =
        right[0] == "cgroup" && std::count(options.begin(), options.end(), "memory") > 0;
    if (!v1_memory && right[0] != "cgroup2") continue;
    mounts.push_back({std::string(left[3]), std::string(left[4]), right[0] == "cgroup2"});
  }
  return mounts;
}

// Path of the process in the hierarchy, from lines "id:controllers:path"; v2's has no controllers.
std::optional<std::string> OwnPath(const std::string& own_cgroups, bool version2) {
  for (absl::string_view line : absl::StrSplit(own_cgroups, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    const std::vector<absl::string_view> controllers = absl::StrSplit(fields[1], ',');
    const bool matches = version2
                             ? fields[0] == "0" && fields[1].empty()
                             : std::count(controllers.begin(), controllers.end(), "memory") > 0;
    if (matches) return std::string(fields[2]);
  }
  return std::nullopt;
}

// nullopt where the mount does not show our group.
std::optional<std::string> DirectoryOf(const CgroupMount& mount, absl::string_view own_path) {
  // In a container the mount may show only a part of the hierarchy. A path that is not below it is
  // one that a cgroup namespace made relative to it already.
  if (mount.root != "/" && absl::ConsumePrefix(&own_path, mount.root) && !own_path.empty() &&
      own_path[0] != '/') {
    return std::nullopt;
  }
  return absl::StrCat(mount.point, own_path == "/" ? "" : own_path);
}

bool HandsMemoryDown(
    const std::string& directory,
    const std::function<absl::StatusOr<std::string>(const std::string&)>& read_file) {
  absl::StatusOr<std::string> controllers =
      read_file(absl::StrCat(directory, "/cgroup.subtree_control"));
  if (!controllers.ok()) return false;
  const std::vector<absl::string_view> names =
      absl::StrSplit(*controllers, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  return std::count(names.begin(), names.end(), "memory") > 0;
}

absl::Status WriteControl(const std::string& path, absl::string_view text) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, absl::StrCat("open ", path));
  if (write(fd.get(), text.data(), text.size()) < 0) {
    return ErrnoStatus(errno, absl::StrCat("write '", text, "' to ", path));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MemoryCgroupSite> FindMemoryCgroupSite(
    const std::string& mountinfo, const std::string& own_cgroups,
    const std::function<absl::StatusOr<std::string>(const std::string&)>& read_file) {
  for (const CgroupMount& mount : MemoryMounts(mountinfo)) {
    const std::optional<std::string> own = OwnPath(own_cgroups, mount.version2);
    if (!own) continue;
    std::optional<std::string> below = DirectoryOf(mount, *own);
    if (!below) continue;
    std::string directory = *std::move(below);
    if (!mount.version2) return MemoryCgroupSite{directory, false};
    while (directory.size() >= mount.point.size()) {
      if (HandsMemoryDown(directory, read_file)) return MemoryCgroupSite{directory, true};
      const size_t slash = directory.rfind('/');
      if (slash == std::string::npos || slash == 0) break;
      directory.resize(slash);
    }
  }
  return absl::NotFoundError(
      "no cgroup hierarchy with a memory controller for this process; mount cgroup v1's memory "
      "controller, or enable 'memory' in an ancestor's cgroup.subtree_control");
}

absl::StatusOr<MemoryCgroupSite> FindMemoryCgroupSite() {
  ASSIGN_OR_RETURN(const std::string mountinfo, ReadFile("/proc/self/mountinfo"));
  ASSIGN_OR_RETURN(const std::string own_cgroups, ReadFile("/proc/self/cgroup"));
  return FindMemoryCgroupSite(mountinfo, own_cgroups, ReadFile);
}

std::string MemoryCgroup::PathOf(const MemoryCgroupSite& site, const std::string& run_id) {
  return absl::StrCat(site.parent, "/", kCgroupPrefix, run_id);
}

absl::StatusOr<MemoryCgroup> MemoryCgroup::Create(const MemoryCgroupSite& site,
                                                  const std::string& run_id, int64_t limit_bytes) {
  const std::string path = PathOf(site, run_id);
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, absl::StrCat("create cgroup ", path));
  }
  MemoryCgroup cgroup(path, site.version2);
  RETURN_IF_ERROR(
      WriteControl(absl::StrCat(path, site.version2 ? "/memory.max" : "/memory.limit_in_bytes"),
                   absl::StrCat(limit_bytes)));
  return cgroup;
}

MemoryCgroup::MemoryCgroup(MemoryCgroup&& other) noexcept
    : path_(std::exchange(other.path_, "")), version2_(other.version2_) {}

MemoryCgroup::~MemoryCgroup() {
  if (!path_.empty()) RemoveCgroup(path_, kRemoveTimeoutNs);
}

absl::Status MemoryCgroup::AddProcess(Tgid tgid) const {
  return WriteControl(absl::StrCat(path_, "/cgroup.procs"), absl::StrCat(tgid.value));
}

absl::StatusOr<int64_t> MemoryCgroup::ReclaimCount() const {
  const std::string file = absl::StrCat(path_, version2_ ? "/memory.events" : "/memory.failcnt");
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    int64_t count = 0;
    if (version2_ && !absl::ConsumePrefix(&line, "max ")) continue;
    if (absl::SimpleAtoi(line, &count)) return count;
  }
  return absl::NotFoundError(absl::StrCat(file, " has no count of reclaims"));
}

void RemoveCgroup(const std::string& directory, int64_t timeout_ns) {
  const int64_t until_ns = MonotonicNs() + timeout_ns;
  while (rmdir(directory.c_str()) != 0 && errno != ENOENT && MonotonicNs() < until_ns) {
    absl::StatusOr<std::string> members = ReadFile(absl::StrCat(directory, "/cgroup.procs"));
    if (!members.ok()) return;
    for (absl::string_view line : absl::StrSplit(*members, '\n', absl::SkipEmpty())) {
      int32_t pid = 0;
      if (!absl::SimpleAtoi(line, &pid)) continue;
      const std::optional<ProcessFacts> facts = ReadProcess(Tgid{pid});
      if (facts) KillProcess(facts->identity);
    }
    SleepUntilNs(MonotonicNs() + 10 * kNsPerMs);
  }
}

void VisitOurCgroups(const std::function<void(const std::string& directory)>& visit) {
  absl::StatusOr<std::string> mountinfo = ReadFile("/proc/self/mountinfo");
  if (!mountinfo.ok()) return;
  namespace fs = std::filesystem;
  for (const CgroupMount& mount : MemoryMounts(*mountinfo)) {
    std::vector<std::string> found;
    std::error_code error;
    auto walk = fs::recursive_directory_iterator(
        mount.point, fs::directory_options::skip_permission_denied, error);
    for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
      std::error_code gone;
      if (!walk->is_directory(gone)) continue;
      if (absl::StartsWith(walk->path().filename().string(), kCgroupPrefix)) {
        found.push_back(walk->path().string());
      }
    }
    for (const std::string& directory : found) visit(directory);
  }
}

}  // namespace whylate
