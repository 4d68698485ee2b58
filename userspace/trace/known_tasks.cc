#include "userspace/trace/known_tasks.h"

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "userspace/platform/files.h"

namespace whylate {
namespace {

constexpr uint64_t kKernelThread = 0x00200000;  // PF_KTHREAD of include/linux/sched.h
constexpr size_t kLongestName = 15;

std::string NameOfTask(absl::string_view shown, bool is_kernel_thread) {
  const absl::string_view worker = "kworker/";
  if (is_kernel_thread && absl::StartsWith(shown, worker) &&
      !absl::StartsWith(shown, "kworker/R-")) {  // a rescuer's own name
    shown = shown.substr(0, shown.find_first_of("-+", worker.size()));
  }
  return std::string(shown.substr(0, kLongestName));
}

// Calls visit(number) for each entry of `directory` whose name is one.
template <typename Visit>
void VisitNumbers(const std::string& directory, Visit&& visit) {
  std::error_code error;
  auto entry = std::filesystem::directory_iterator(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    int32_t number = 0;
    if (absl::SimpleAtoi(entry->path().filename().string(), &number)) visit(number);
  }
}

}  // namespace

std::optional<KnownTask> ParseTaskStat(Tgid tgid, absl::string_view stat) {
  // The name stands in parentheses and may hold any byte.
  const size_t name_begin = stat.find('(');
  const size_t name_end = stat.rfind(')');
  if (name_begin == stat.npos || name_end == stat.npos || name_end < name_begin)
    return std::nullopt;
  const std::vector<absl::string_view> fields =
      absl::StrSplit(stat.substr(name_end + 1), ' ', absl::SkipWhitespace());
  constexpr size_t kFirstField = 3;
  constexpr size_t kFlagsField = 9;
  constexpr size_t kPolicyField = 41;
  KnownTask task;
  uint64_t flags = 0;
  if (!absl::SimpleAtoi(stat.substr(0, name_begin), &task.tid.value) ||
      fields.size() <= kPolicyField - kFirstField ||
      !absl::SimpleAtoi(fields[kFlagsField - kFirstField], &flags) ||
      !absl::SimpleAtoi(fields[kPolicyField - kFirstField], &task.policy)) {
    return std::nullopt;
  }
  task.tgid = tgid;
  task.is_kernel_thread = (flags & kKernelThread) != 0;
  task.name =
      NameOfTask(stat.substr(name_begin + 1, name_end - name_begin - 1), task.is_kernel_thread);
  return task;
}

std::vector<KnownTask> ReadKnownTasks(const std::string& proc) {
  std::vector<KnownTask> tasks;
  VisitNumbers(proc, [&](int32_t tgid) {
    const std::string threads = absl::StrCat(proc, "/", tgid, "/task");
    VisitNumbers(threads, [&](int32_t tid) {
      const absl::StatusOr<std::string> stat = ReadFile(absl::StrCat(threads, "/", tid, "/stat"));
      if (!stat.ok()) return;  // it has ended
      std::optional<KnownTask> task = ParseTaskStat(Tgid{tgid}, *stat);
      if (task.has_value()) tasks.push_back(*std::move(task));
    });
  });
  return tasks;
}

}  // namespace whylate
