#include "tests/support/bpf_objects.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "userspace/platform/unique_fd.h"

namespace whylate {
namespace {

bool IsOurMap(absl::string_view name) {
  constexpr std::array<absl::string_view, 3> kNames = {"records", "irq_names", "watched_tasks"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

template <typename Info>
Info InfoOf(const UniqueFd& fd) {
  Info info = {};
  uint32_t size = sizeof(info);
  bpf_obj_get_info_by_fd(fd.get(), &info, &size);
  return info;
}

}  // namespace

std::set<std::string> CaptureObjects() {
  std::set<std::string> objects;
  std::set<uint32_t> programs;
  for (uint32_t id = 0; bpf_prog_get_next_id(id, &id) == 0;) {
    const UniqueFd fd(bpf_prog_get_fd_by_id(id));
    if (!fd.valid()) continue;
    const auto info = InfoOf<bpf_prog_info>(fd);
    const absl::string_view name(info.name);
    if (!absl::StartsWith(name, "on_") && !absl::StartsWith(name, "seed_")) continue;
    programs.insert(id);
    objects.insert(absl::StrCat("prog ", id, " ", name));
  }
  for (uint32_t id = 0; bpf_map_get_next_id(id, &id) == 0;) {
    const UniqueFd fd(bpf_map_get_fd_by_id(id));
    if (!fd.valid()) continue;
    const auto info = InfoOf<bpf_map_info>(fd);
    if (IsOurMap(info.name)) objects.insert(absl::StrCat("map ", id, " ", info.name));
  }
  for (uint32_t id = 0; bpf_link_get_next_id(id, &id) == 0;) {
    const UniqueFd fd(bpf_link_get_fd_by_id(id));
    if (!fd.valid()) continue;
    if (programs.contains(InfoOf<bpf_link_info>(fd).prog_id)) {
      objects.insert(absl::StrCat("link ", id));
    }
  }
  return objects;
}

}  // namespace whylate
