// cgroups of our own, under cgroup v1 or v2, and the removal of cgroups that runs left.
//
// They are named "whylate-<run id>", one in a hierarchy, and hold nothing but a load that must not
// exhaust the machine's memory, or a workload that is kept from its CPU on purpose.
//
//   ASSIGN_OR_RETURN(CgroupSite site, FindCgroupSite(CgroupController::kCpu));
//   ASSIGN_OR_RETURN(QuotaCgroup group, QuotaCgroup::Create(site, run_id, 10'000'000, 50'000'000));
//   RETURN_IF_ERROR(group.AddProcess(workload));
#ifndef WHYLATE_USERSPACE_PLATFORM_CGROUP_H_
#define WHYLATE_USERSPACE_PLATFORM_CGROUP_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/model/ids.h"

namespace whylate {

inline constexpr char kCgroupPrefix[] = "whylate-";

enum class CgroupController : uint8_t { kMemory, kCpu, kFreezer };

// Where a cgroup with a controller can be made for this process.
struct CgroupSite {
  std::string parent;     // directory that would hold it
  bool version2 = false;  // which files control it: cgroup v2's, else v1's
};

// From the texts of /proc/self/mountinfo and /proc/self/cgroup. v1: below the process's own cgroup in
// the controller's hierarchy. v2: below the nearest ancestor that hands the controller down (a group
// with processes can't); `read_file` reads its cgroup.subtree_control. Every v2 group can be frozen:
// that is below the process's own. NotFound says what is missing.
absl::StatusOr<CgroupSite> FindCgroupSite(
    CgroupController controller, const std::string& mountinfo, const std::string& own_cgroups,
    const std::function<absl::StatusOr<std::string>(const std::string&)>& read_file);
// The same for this process, now.
absl::StatusOr<CgroupSite> FindCgroupSite(CgroupController controller);

// Owns one cgroup. What it is good for, those derived from it say; they hold nothing more.
class Cgroup {
 public:
  static std::string PathOf(const CgroupSite& site, const std::string& run_id);

  Cgroup(Cgroup&& other) noexcept;
  Cgroup& operator=(Cgroup&&) = delete;
  // Kills what is in it and removes it.
  ~Cgroup();

  absl::Status AddProcess(Tgid tgid) const;
  const std::string& path() const { return path_; }

 protected:
  // Makes "whylate-<run_id>" unless it is there.
  static absl::StatusOr<Cgroup> Make(const CgroupSite& site, const std::string& run_id);
  absl::Status Write(absl::string_view file, absl::string_view text) const;
  bool version2() const { return version2_; }

 private:
  Cgroup(std::string path, bool version2) : path_(std::move(path)), version2_(version2) {}

  std::string path_;
  bool version2_;
};

// Of a load that takes more memory than it may have.
class MemoryCgroup : public Cgroup {
 public:
  static absl::StatusOr<MemoryCgroup> Create(const CgroupSite& site, const std::string& run_id,
                                             int64_t limit_bytes);
  // How often a charge ran into the limit and memory had to be reclaimed.
  absl::StatusOr<int64_t> ReclaimCount() const;

 private:
  explicit MemoryCgroup(Cgroup cgroup) : Cgroup(std::move(cgroup)) {}
};

// Of tasks that may run `quota_ns` in each `period_ns`, and are throttled for the rest of it.
class QuotaCgroup : public Cgroup {
 public:
  static absl::StatusOr<QuotaCgroup> Create(const CgroupSite& site, const std::string& run_id,
                                            int64_t quota_ns, int64_t period_ns);
  // How long tasks of the group have been throttled, by the kernel's own account; each CPU for itself.
  absl::StatusOr<int64_t> ThrottledNs() const;

 private:
  explicit QuotaCgroup(Cgroup cgroup) : Cgroup(std::move(cgroup)) {}
};

// Of tasks that are frozen at times. Nothing that is frozen under v1 can be killed.
class FreezerCgroup : public Cgroup {
 public:
  static absl::StatusOr<FreezerCgroup> Create(const CgroupSite& site, const std::string& run_id);
  // Asks the kernel; under v2, and where a task has to be woken for it, that takes a moment.
  absl::Status SetFrozen(bool frozen) const;
  // Whether all its tasks are frozen by now.
  bool IsFrozen() const;

 private:
  explicit FreezerCgroup(Cgroup cgroup) : Cgroup(std::move(cgroup)) {}
};

// Lets go what is frozen in the cgroup; nothing happens where nothing is, or can be.
void ThawCgroup(const std::string& directory);
// Thaws and kills every process of the cgroup and removes it, trying again until `timeout_ns` has passed.
void RemoveCgroup(const std::string& directory, int64_t timeout_ns);

// Calls `visit` with the path of each cgroup below the hierarchies of our controllers that is named
// kCgroupPrefix + anything.
void VisitOurCgroups(const std::function<void(const std::string& directory)>& visit);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_CGROUP_H_
