// The tasks of a machine as ftrace's events change them: to which process each belongs, its name, and
// what priorities do not tell of its scheduling class.
//
//   FtraceTasks tasks(known, ext_takes_fair);
//   tasks.Fork(Tid{1}, Tid{42}, /*is_thread=*/false, "sh");
//   tasks.TgidOf(Tid{42});  // 42
//
// Not thread-safe.
#ifndef WHYLATE_USERSPACE_TRACE_FTRACE_TASKS_H_
#define WHYLATE_USERSPACE_TRACE_FTRACE_TASKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "analysis/model/ids.h"
#include "analysis/model/sched_event.h"

namespace whylate {

// A task that was there when the trace began.
struct KnownTask {
  Tid tid;
  Tgid tgid;
  std::string name;
  bool is_kernel_thread = false;
  int32_t policy = 0;  // SCHED_ of include/uapi/linux/sched.h
  // A group that it is in, or one above, has a CFS quota.
  bool has_quota = false;
};

class FtraceTasks {
 public:
  FtraceTasks(const std::vector<KnownTask>& known, bool ext_takes_fair);

  // The child inherits what the parent had, and its process if it is a thread. Returns its names.
  TaskNameEvent Fork(Tid parent, Tid child, bool is_thread, absl::string_view name);
  TaskNameEvent Rename(Tid task, absl::string_view name);
  // It runs a program of its own now.
  TaskNameEvent Exec(Tid task);
  // It, with all its threads where it leads some, may be in a group with a quota from here on.
  void SetQuota(Tid task);

  // The name by which an event calls it, where that is another than the one known.
  std::optional<TaskNameEvent> Bind(Tid task, absl::string_view name);

  std::optional<Tgid> TgidOf(Tid task) const;
  bool HasQuota(Tid task) const;
  TaskStanding Standing(Tid task, absl::string_view name, std::optional<int64_t> priority) const;

 private:
  struct Task {
    std::optional<Tgid> tgid;
    std::string name;
    bool is_kernel_thread = false;
    int32_t policy = 0;
    bool has_quota = false;
  };
  static TaskNameEvent NameOf(Tid tid, const Task& task);

  absl::flat_hash_map<Tid, Task> tasks_;
  bool ext_takes_fair_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_FTRACE_TASKS_H_
