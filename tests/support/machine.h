// What a test sees of the machine beside the program: its processes, its traces, small disks.
#ifndef WHYLATE_TESTS_SUPPORT_MACHINE_H_
#define WHYLATE_TESTS_SUPPORT_MACHINE_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace whylate {

struct ThreadFacts {
  pid_t process = 0;
  pid_t thread = 0;
  std::string name;
  int64_t nice = 0;
  uint64_t cpu_ticks = 0;
};

// Threads of all processes below `root`, the janitor's included, that live now.
std::vector<ThreadFacts> ThreadsBelow(pid_t root);
// Of those, the names; and the first one with this name.
std::vector<std::string> ThreadNamesBelow(pid_t root);
std::optional<ThreadFacts> FindThread(pid_t root, const std::string& name);

// A line of /proc/PID/status or io without its key: StatusOf(pid, "Cpus_allowed_list"); "" if none.
std::string StatusOf(pid_t pid, const std::string& key);
int64_t IoOf(pid_t pid, const std::string& key);
// Lines of /proc/PID/cgroup, that of the memory controller left out.
std::string CgroupsBesideMemory(pid_t pid);

// What a run left on the machine, one line each, "" for nothing: live processes that run the
// program, bear its run id or name `directory` in their arguments; its cgroups; its ftrace instances; hidden files in
// `directory`. Waits up to `patience` for it to be nothing.
std::string Leftovers(const std::string& run_id, const std::string& directory,
                      std::chrono::milliseconds patience);

// File systems that this test process and its children alone see, gone with the process.
//
// The first one moves the process into a mount namespace of its own, so it must have one thread.
class PrivateMount {
 public:
  // An ext4 file system on a loop device of its own, backed by memory.
  static std::optional<PrivateMount> Disk(const ScratchDirectory& scratch, int64_t size_bytes);
  static std::optional<PrivateMount> Memory(const ScratchDirectory& scratch, int64_t size_bytes);
  PrivateMount(PrivateMount&& other) noexcept;
  ~PrivateMount();

  const std::string& path() const { return path_; }
  int64_t FreeBytes() const;
  // Of its device, since it was made; Disk() only.
  int64_t DeviceReadBytes() const { return DeviceBytes(2); }
  int64_t DeviceWrittenBytes() const { return DeviceBytes(6); }

 private:
  explicit PrivateMount(std::string path) : path_(std::move(path)) {}
  int64_t DeviceBytes(size_t field) const;

  std::string path_;
};

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_MACHINE_H_
