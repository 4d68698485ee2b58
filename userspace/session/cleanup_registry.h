// What must not survive the supervisor, in memory that its janitor shares: processes, cgroups,
// files.
//
// The supervisor adds an entry before or as the thing comes to be, and its Registration takes it
// out again; whatever is still registered when the supervisor dies, the janitor ends. One writer.
//
//   Registration mine = registry.AddCgroup("/sys/fs/cgroup/memory/whylate-12-34");
#ifndef WHYLATE_USERSPACE_SESSION_CLEANUP_REGISTRY_H_
#define WHYLATE_USERSPACE_SESSION_CLEANUP_REGISTRY_H_

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "userspace/platform/process.h"
#include "userspace/platform/shared_memory.h"

namespace whylate {

class CleanupRegistry;

// Owns one entry; takes it out when it goes. An empty one stands for nothing.
class Registration {
 public:
  Registration() = default;
  Registration(CleanupRegistry* registry, size_t index) : registry_(registry), index_(index) {}
  Registration(Registration&& other) noexcept
      : registry_(std::exchange(other.registry_, nullptr)), index_(other.index_) {}
  Registration& operator=(Registration&& other) noexcept {
    std::swap(registry_, other.registry_);
    std::swap(index_, other.index_);
    return *this;
  }
  ~Registration();

 private:
  CleanupRegistry* registry_ = nullptr;
  size_t index_ = 0;
};

class CleanupRegistry {
 public:
  static absl::StatusOr<CleanupRegistry> Create();
  static absl::StatusOr<CleanupRegistry> Map(UniqueFd fd);
  int fd() const { return memory_.fd(); }

  // The process, and while it lives all that descends from it.
  absl::StatusOr<Registration> AddProcess(const ProcessIdentity& identity);
  absl::StatusOr<Registration> AddCgroup(const std::string& directory);
  absl::StatusOr<Registration> AddFile(const std::string& path);

  // For the janitor: ends all that is registered, within about `timeout_ns`.
  void CleanUp(int64_t timeout_ns) const;

 private:
  friend class Registration;
  enum class Kind : uint32_t { kFree = 0, kProcess, kCgroup, kFile };
  static constexpr size_t kMaxEntries = 64;
  static constexpr size_t kMaxPathBytes = 4096;
  struct Entry {
    std::atomic<Kind> kind;
    ProcessIdentity process;
    char path[kMaxPathBytes];
  };

  explicit CleanupRegistry(SharedMemory memory) : memory_(std::move(memory)) {}
  Entry& entry(size_t i) const { return static_cast<Entry*>(memory_.data())[i]; }
  absl::StatusOr<Registration> Add(Kind kind, const ProcessIdentity& process,
                                   const std::string& path);

  SharedMemory memory_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SESSION_CLEANUP_REGISTRY_H_
