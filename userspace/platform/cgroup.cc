#include "userspace/platform/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>
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
constexpr int64_t kNsPerUs = 1000;

absl::string_view NameOf(CgroupController controller) {
  switch (controller) {
    case CgroupController::kMemory:
      return "memory";
    case CgroupController::kCpu:
      return "cpu";
    case CgroupController::kFreezer:
      return "freezer";
  }
  return "";
}

struct CgroupMount {
  std::string root;   // which directory of the hierarchy is mounted
  std::string point;  // where
  bool version2 = false;
};

// Fields of proc(5)'s mountinfo: root is the 4th, mount point the 5th; after " - " come file system
// type, source and super options.
std::vector<CgroupMount> MountsOf(CgroupController controller, const std::string& mountinfo) {
  std::vector<CgroupMount> mounts;
  for (absl::string_view line : absl::StrSplit(mountinfo, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> halves = absl::StrSplit(line, absl::MaxSplits(" - ", 1));
    if (halves.size() != 2) continue;
    const std::vector<absl::string_view> left = absl::StrSplit(halves[0], ' ');
    const std::vector<absl::string_view> right = absl::StrSplit(halves[1], ' ');
    if (left.size() < 5 || right.size() < 3) continue;
    const std::vector<absl::string_view> options = absl::StrSplit(right[2], ',');
    const bool version1 =
        right[0] == "cgroup" && std::count(options.begin(), options.end(), NameOf(controller)) > 0;
    if (!version1 && right[0] != "cgroup2") continue;
    mounts.push_back({std::string(left[3]), std::string(left[4]), right[0] == "cgroup2"});
  }
  return mounts;
}

// Path of the process in the hierarchy, from lines "id:controllers:path"; v2's has no controllers.
std::optional<std::string> OwnPath(CgroupController controller, const std::string& own_cgroups,
                                   bool version2) {
  for (absl::string_view line : absl::StrSplit(own_cgroups, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    const std::vector<absl::string_view> controllers = absl::StrSplit(fields[1], ',');
    const bool matches =
        version2 ? fields[0] == "0" && fields[1].empty()
                 : std::count(controllers.begin(), controllers.end(), NameOf(controller)) > 0;
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

bool HandsDown(CgroupController controller, const std::string& directory,
               const std::function<absl::StatusOr<std::string>(const std::string&)>& read_file) {
  absl::StatusOr<std::string> controllers =
      read_file(absl::StrCat(directory, "/cgroup.subtree_control"));
  if (!controllers.ok()) return false;
  const std::vector<absl::string_view> names =
      absl::StrSplit(*controllers, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  return std::count(names.begin(), names.end(), NameOf(controller)) > 0;
}

absl::Status WriteControl(const std::string& path, absl::string_view text) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, absl::StrCat("open ", path));
  if (write(fd.get(), text.data(), text.size()) < 0) {
    return ErrnoStatus(errno, absl::StrCat("write '", text, "' to ", path));
  }
  return absl::OkStatus();
}

std::optional<int64_t> FirstNumber(absl::string_view text) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(text.substr(0, text.find('\n')), &number)) return std::nullopt;
  return number;
}

// Of lines "key number".
std::optional<int64_t> ValueOfKey(absl::string_view text, absl::string_view key) {
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (absl::ConsumePrefix(&line, key) && absl::ConsumePrefix(&line, " "))
      return FirstNumber(line);
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<CgroupSite> FindCgroupSite(
    CgroupController controller, const std::string& mountinfo, const std::string& own_cgroups,
    const std::function<absl::StatusOr<std::string>(const std::string&)>& read_file) {
  for (const CgroupMount& mount : MountsOf(controller, mountinfo)) {
    const std::optional<std::string> own = OwnPath(controller, own_cgroups, mount.version2);
    if (!own) continue;
    std::optional<std::string> below = DirectoryOf(mount, *own);
    if (!below) continue;
    std::string directory = *std::move(below);
    if (!mount.version2) return CgroupSite{directory, false};
    if (controller == CgroupController::kFreezer) return CgroupSite{directory, true};
    while (directory.size() >= mount.point.size()) {
      if (HandsDown(controller, directory, read_file)) return CgroupSite{directory, true};
      const size_t slash = directory.rfind('/');
      if (slash == std::string::npos || slash == 0) break;
      directory.resize(slash);
    }
  }
  const absl::string_view name = NameOf(controller);
  return absl::NotFoundError(absl::StrCat(
      "no cgroup hierarchy with a ", name, " controller for this process; mount cgroup v1's ", name,
      " controller, or enable '", name, "' in an ancestor's cgroup.subtree_control"));
}

absl::StatusOr<CgroupSite> FindCgroupSite(CgroupController controller) {
  ASSIGN_OR_RETURN(const std::string mountinfo, ReadFile("/proc/self/mountinfo"));
  ASSIGN_OR_RETURN(const std::string own_cgroups, ReadFile("/proc/self/cgroup"));
  return FindCgroupSite(controller, mountinfo, own_cgroups, ReadFile);
}

std::string Cgroup::PathOf(const CgroupSite& site, const std::string& run_id) {
  return absl::StrCat(site.parent, "/", kCgroupPrefix, run_id);
}

absl::StatusOr<Cgroup> Cgroup::Make(const CgroupSite& site, const std::string& run_id) {
  const std::string path = PathOf(site, run_id);
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, absl::StrCat("create cgroup ", path));
  }
  return Cgroup(path, site.version2);
}

Cgroup::Cgroup(Cgroup&& other) noexcept
    : path_(std::exchange(other.path_, "")), version2_(other.version2_) {}

Cgroup::~Cgroup() {
  if (!path_.empty()) RemoveCgroup(path_, kRemoveTimeoutNs);
}

absl::Status Cgroup::AddProcess(Tgid tgid) const {
  return Write("cgroup.procs", absl::StrCat(tgid.value));
}

absl::Status Cgroup::Write(absl::string_view file, absl::string_view text) const {
  return WriteControl(absl::StrCat(path_, "/", file), text);
}

absl::StatusOr<MemoryCgroup> MemoryCgroup::Create(const CgroupSite& site, const std::string& run_id,
                                                  int64_t limit_bytes) {
  ASSIGN_OR_RETURN(Cgroup made, Make(site, run_id));
  MemoryCgroup cgroup(std::move(made));
  RETURN_IF_ERROR(cgroup.Write(site.version2 ? "memory.max" : "memory.limit_in_bytes",
                               absl::StrCat(limit_bytes)));
  return cgroup;
}

absl::StatusOr<int64_t> MemoryCgroup::ReclaimCount() const {
  const std::string file = absl::StrCat(path(), version2() ? "/memory.events" : "/memory.failcnt");
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  const std::optional<int64_t> count = version2() ? ValueOfKey(text, "max") : FirstNumber(text);
  if (!count) return absl::NotFoundError(absl::StrCat(file, " has no count of reclaims"));
  return *count;
}

absl::StatusOr<QuotaCgroup> QuotaCgroup::Create(const CgroupSite& site, const std::string& run_id,
                                                int64_t quota_ns, int64_t period_ns) {
  ASSIGN_OR_RETURN(Cgroup made, Make(site, run_id));
  QuotaCgroup cgroup(std::move(made));
  const int64_t quota_us = quota_ns / kNsPerUs;
  const int64_t period_us = period_ns / kNsPerUs;
  if (site.version2) {
    RETURN_IF_ERROR(cgroup.Write("cpu.max", absl::StrCat(quota_us, " ", period_us)));
  } else {
    RETURN_IF_ERROR(cgroup.Write("cpu.cfs_period_us", absl::StrCat(period_us)));
    RETURN_IF_ERROR(cgroup.Write("cpu.cfs_quota_us", absl::StrCat(quota_us)));
  }
  return cgroup;
}

absl::StatusOr<int64_t> QuotaCgroup::ThrottledNs() const {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(absl::StrCat(path(), "/cpu.stat")));
  const std::optional<int64_t> value =
      ValueOfKey(text, version2() ? "throttled_usec" : "throttled_time");
  if (!value) return absl::NotFoundError(absl::StrCat(path(), "/cpu.stat has no throttled time"));
  return version2() ? *value * kNsPerUs : *value;
}

absl::StatusOr<FreezerCgroup> FreezerCgroup::Create(const CgroupSite& site,
                                                    const std::string& run_id) {
  ASSIGN_OR_RETURN(Cgroup made, Make(site, run_id));
  return FreezerCgroup(std::move(made));
}

absl::Status FreezerCgroup::SetFrozen(bool frozen) const {
  return version2() ? Write("cgroup.freeze", frozen ? "1" : "0")
                    : Write("freezer.state", frozen ? "FROZEN" : "THAWED");
}

bool FreezerCgroup::IsFrozen() const {
  const std::string file = absl::StrCat(path(), version2() ? "/cgroup.events" : "/freezer.state");
  const std::string text = ReadFile(file).value_or("");
  return version2() ? ValueOfKey(text, "frozen") == 1 : absl::StartsWith(text, "FROZEN");
}

void ThawCgroup(const std::string& directory) {
  (void)WriteControl(absl::StrCat(directory, "/freezer.state"), "THAWED");
  (void)WriteControl(absl::StrCat(directory, "/cgroup.freeze"), "0");
}

void RemoveCgroup(const std::string& directory, int64_t timeout_ns) {
  const int64_t until_ns = MonotonicNs() + timeout_ns;
  // Before the rest: under v1 no signal reaches what is frozen.
  ThawCgroup(directory);
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
  std::set<std::string> points;
  for (const CgroupController controller :
       {CgroupController::kMemory, CgroupController::kCpu, CgroupController::kFreezer}) {
    for (const CgroupMount& mount : MountsOf(controller, *mountinfo)) points.insert(mount.point);
  }
  for (const std::string& point : points) {
    std::vector<std::string> found;
    std::error_code error;
    auto walk = fs::recursive_directory_iterator(
        point, fs::directory_options::skip_permission_denied, error);
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
