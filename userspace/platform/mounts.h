// What is mounted where, and where the cgroup controllers live.
//
//   std::vector<Mount> mounts = ReadMounts("/proc");
//   const Mount* mount = FindMount(mounts, "/home/me/whylate");  // fs_type "btrfs", source
//   "/dev/sda2" CgroupLayout layout = ReadCgroupLayout(mounts);              //
//   layout.cpu->directory
#ifndef WHYLATE_USERSPACE_PLATFORM_MOUNTS_H_
#define WHYLATE_USERSPACE_PLATFORM_MOUNTS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace whylate {

struct Mount {
  std::string mount_point;
  std::string options;        // of the mount: "rw,relatime"
  std::string fs_type;        // "ext4"
  std::string source;         // "/dev/vda"
  std::string super_options;  // of the file system; v1 controllers are among them
};

// From the text of /proc/PID/mountinfo (proc(5)), in order; malformed lines are skipped.
std::vector<Mount> ParseMounts(absl::string_view mountinfo);
// Empty where it can't be read.
std::vector<Mount> ReadMounts(const std::string& proc);

// The mount that holds absolute `path`, which is free of symbolic links: the deepest mount point
// above it, and of several on that the last (it hides the others). nullptr when none is. Points
// into `mounts`.
const Mount* FindMount(const std::vector<Mount>& mounts, absl::string_view path);

struct CgroupController {
  std::string directory;  // root of the hierarchy, as we see it
  bool is_v2 = false;
  friend bool operator==(const CgroupController&, const CgroupController&) = default;
};

struct CgroupLayout {
  bool has_v1 = false;  // some controller, or a named hierarchy, is mounted as v1
  std::optional<std::string> v2_directory;
  std::optional<CgroupController> cpu;  // unset: no mounted hierarchy has it
  std::optional<CgroupController> memory;

  // "v2, cpu controller on v2 at /sys/fs/cgroup"; "v1, ...", "hybrid, ...", "none".
  std::string ToString() const;
};

// Reads cgroup.controllers of the v2 mount to know what lives there.
CgroupLayout ReadCgroupLayout(const std::vector<Mount>& mounts);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_MOUNTS_H_
