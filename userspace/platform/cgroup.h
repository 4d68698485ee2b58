// A memory cgroup of our own, under cgroup v1 or v2, and the removal of cgroups that runs left.
//
// cgroups of ours are named "whylate-<run id>" and hold nothing but a load that must not exhaust
// the machine's memory.
#ifndef WHYLATE_USERSPACE_PLATFORM_CGROUP_H_
#define WHYLATE_USERSPACE_PLATFORM_CGROUP_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analysis/model/ids.h"

namespace whylate {

inline constexpr char kCgroupPrefix[] = "whylate-";

// Where a memory cgroup can be made for this process.
struct MemoryCgroupSite {
  std::string parent;     // directory that would hold it
  bool version2 = false;  // cgroup v2 files (memory.max), else v1 (memory.limit_in_bytes)
};

// From the texts of /proc/self/mountinfo and /proc/self/cgroup. v1: below the process's own memory
// cgroup. v2: below the nearest ancestor that hands the memory controller down (a group with
// processes can't); `read_file` reads its cgroup.subtree_control. NotFound says what is missing.
absl::StatusOr<MemoryCgroupSite> FindMemoryCgroupSite(
    const std::string& mountinfo, const std::string& own_cgroups,
    const std::function<absl::StatusOr<std::string>(const std::string&)>& read_file);
// The same for this process, now.
absl::StatusOr<MemoryCgroupSite> FindMemoryCgroupSite();

class MemoryCgroup {
 public:
  // Makes "whylate-<run_id>" with a limit, unless it is there.
  static absl::StatusOr<MemoryCgroup> Create(const MemoryCgroupSite& site,
                                             const std::string& run_id, int64_t limit_bytes);
  static std::string PathOf(const MemoryCgroupSite& site, const std::string& run_id);

  MemoryCgroup(MemoryCgroup&& other) noexcept;
  MemoryCgroup& operator=(MemoryCgroup&&) = delete;
  // Kills what is in it and removes it.
  ~MemoryCgroup();

  absl::Status AddProcess(Tgid tgid) const;
  // How often a charge ran into the limit and memory had to be reclaimed.
  absl::StatusOr<int64_t> ReclaimCount() const;
  const std::string& path() const { return path_; }

 private:
  MemoryCgroup(std::string path, bool version2) : path_(std::move(path)), version2_(version2) {}

  std::string path_;
  bool version2_;
};

// Kills every process of the cgroup and removes it, trying again until `timeout_ns` has passed.
void RemoveCgroup(const std::string& directory, int64_t timeout_ns);

// Calls `visit` with the path of each cgroup below the memory and v2 hierarchies that is named
// kCgroupPrefix + anything.
void VisitOurCgroups(const std::function<void(const std::string& directory)>& visit);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_CGROUP_H_
