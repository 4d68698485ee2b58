#include "userspace/platform/cpu_quota.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "userspace/platform/files.h"

namespace whylate {
namespace {

bool HasQuota(const CgroupController& cpu, const std::string& directory) {
  const std::optional<std::string> line =
      ReadFileLine(absl::StrCat(directory, cpu.is_v2 ? "/cpu.max" : "/cpu.cfs_quota_us"));
  if (!line.has_value()) return false;
  return cpu.is_v2 ? !absl::StartsWith(*line, "max") : !absl::StartsWith(*line, "-");
}

void AddTasks(const CgroupController& cpu, const std::string& directory,
              absl::flat_hash_set<Tid>* tasks) {
  const absl::StatusOr<std::string> text =
      ReadFile(absl::StrCat(directory, cpu.is_v2 ? "/cgroup.threads" : "/tasks"));
  if (!text.ok()) return;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    int32_t tid = 0;
    if (absl::SimpleAtoi(line, &tid)) tasks->insert(Tid{tid});
  }
}

// `limited`: by a group above.
void Walk(const CgroupController& cpu, const std::string& directory, bool limited,
          absl::flat_hash_set<Tid>* tasks) {
  limited = limited || HasQuota(cpu, directory);
  if (limited) AddTasks(cpu, directory, tasks);
  std::error_code error;
  auto entry = std::filesystem::directory_iterator(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::error_code unreadable;
    if (!entry->is_symlink(unreadable) && entry->is_directory(unreadable)) {
      Walk(cpu, entry->path().string(), limited, tasks);
    }
  }
}

}  // namespace

absl::flat_hash_set<Tid> TasksUnderCpuQuota(const CgroupController& cpu) {
  absl::flat_hash_set<Tid> tasks;
  Walk(cpu, cpu.directory, /*limited=*/false, &tasks);
  return tasks;
}

std::optional<int32_t> CpuHierarchy(absl::string_view cgroups) {
  for (absl::string_view line : absl::StrSplit(cgroups, '\n')) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, '\t');
    int32_t hierarchy = 0;
    if (fields.size() > 1 && fields[0] == "cpu" && absl::SimpleAtoi(fields[1], &hierarchy)) {
      return hierarchy;
    }
  }
  return std::nullopt;
}

}  // namespace whylate
