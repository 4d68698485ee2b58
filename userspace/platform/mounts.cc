#include "userspace/platform/mounts.h"

#include <algorithm>
#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "userspace/platform/files.h"

namespace whylate {
namespace {

bool IsOctal(char digit) { return digit >= '0' && digit <= '7'; }

// The kernel writes space, tab, newline and backslash as \040, \011, \012, \134.
std::string Unescape(absl::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && IsOctal(text[i + 1]) && IsOctal(text[i + 2]) &&
        IsOctal(text[i + 3])) {
      plain.push_back(static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                        (text[i + 3] - '0')));
      i += 3;
    } else {
      plain.push_back(text[i]);
    }
  }
  return plain;
}

bool HasWord(absl::string_view list, char separator, absl::string_view word) {
  const std::vector<absl::string_view> words = absl::StrSplit(list, separator);
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool Holds(absl::string_view mount_point, absl::string_view path) {
  return mount_point == "/" || path == mount_point ||
         (absl::StartsWith(path, mount_point) && path[mount_point.size()] == '/');
}

}  // namespace

// 36 35 98:0 /root /mnt1 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
// optional fields (here "master:1"), any number, end with the lone "-".
std::vector<Mount> ParseMounts(absl::string_view mountinfo) {
  std::vector<Mount> mounts;
  for (const absl::string_view line : absl::StrSplit(mountinfo, '\n')) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, ' ');
    if (fields.size() < 9) continue;
    const auto dash = std::find(fields.begin() + 6, fields.end(), "-");
    if (fields.end() - dash < 3) continue;
    Mount mount;
    mount.mount_point = Unescape(fields[4]);
    mount.options = std::string(fields[5]);
    mount.fs_type = Unescape(dash[1]);
    mount.source = Unescape(dash[2]);
    if (fields.end() - dash > 3) mount.super_options = std::string(dash[3]);
    mounts.push_back(mount);
  }
  return mounts;
}

std::vector<Mount> ReadMounts(const std::string& proc) {
  const absl::StatusOr<std::string> text = ReadFile(absl::StrCat(proc, "/self/mountinfo"));
  return text.ok() ? ParseMounts(*text) : std::vector<Mount>();
}

const Mount* FindMount(const std::vector<Mount>& mounts, absl::string_view path) {
  const Mount* found = nullptr;
  for (const Mount& mount : mounts) {
    if (!Holds(mount.mount_point, path)) continue;
    if (found == nullptr || mount.mount_point.size() >= found->mount_point.size()) found = &mount;
  }
  return found;
}

std::string CgroupLayout::ToString() const {
  if (!has_v1 && !v2_directory) return "none";
  std::string text = has_v1 && v2_directory ? "hybrid" : has_v1 ? "v1" : "v2";
  if (!cpu) return absl::StrCat(text, ", no cpu controller");
  return absl::StrCat(text, ", cpu controller on ", cpu->is_v2 ? "v2" : "v1", " at ",
                      cpu->directory);
}

CgroupLayout ReadCgroupLayout(const std::vector<Mount>& mounts) {
  CgroupLayout layout;
  const auto take = [](std::optional<CgroupController>& controller, const Mount& mount,
                       bool is_v2) {
    if (!controller) controller = CgroupController{mount.mount_point, is_v2};
  };
  for (const Mount& mount : mounts) {
    if (mount.fs_type == "cgroup") {
      layout.has_v1 = true;
      if (HasWord(mount.super_options, ',', "cpu")) take(layout.cpu, mount, false);
      if (HasWord(mount.super_options, ',', "memory")) take(layout.memory, mount, false);
    } else if (mount.fs_type == "cgroup2" && !layout.v2_directory) {
      layout.v2_directory = mount.mount_point;
      const absl::StatusOr<std::string> controllers =
          ReadFile(absl::StrCat(mount.mount_point, "/cgroup.controllers"));
      if (!controllers.ok()) continue;
      const absl::string_view list = absl::StripAsciiWhitespace(*controllers);
      if (HasWord(list, ' ', "cpu")) take(layout.cpu, mount, true);
      if (HasWord(list, ' ', "memory")) take(layout.memory, mount, true);
    }
  }
  return layout;
}

}  // namespace whylate
