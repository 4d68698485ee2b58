#include "userspace/trace/ftrace_tasks.h"

#include <sched.h>

#include <limits>

namespace whylate {
namespace {

constexpr Tid kKernelThreadMaker{2};  // kthreadd, of which all kernel threads are children
constexpr int32_t kSchedExt = 7;      // include/uapi/linux/sched.h; not in the C library's header

}  // namespace

FtraceTasks::FtraceTasks(const std::vector<KnownTask>& known, bool ext_takes_fair)
    : ext_takes_fair_(ext_takes_fair) {
  for (const KnownTask& task : known) {
    tasks_[task.tid] = {task.tgid, task.name, task.is_kernel_thread, task.policy, task.has_quota};
  }
}

TaskNameEvent FtraceTasks::NameOf(Tid tid, const Task& task) {
  return {tid, task.tgid, task.name, task.is_kernel_thread};
}

TaskNameEvent FtraceTasks::Fork(Tid parent, Tid child, bool is_thread, absl::string_view name) {
  Task made;
  if (const auto known = tasks_.find(parent); known != tasks_.end()) made = known->second;
  if (!is_thread) made.tgid = Tgid{child.value};
  made.is_kernel_thread = parent == kKernelThreadMaker;
  made.name.assign(name.data(), name.size());
  const TaskNameEvent event = NameOf(child, made);
  tasks_[child] = std::move(made);
  return event;
}

TaskNameEvent FtraceTasks::Rename(Tid task, absl::string_view name) {
  Task& known = tasks_[task];
  known.name.assign(name.data(), name.size());
  return NameOf(task, known);
}

TaskNameEvent FtraceTasks::Exec(Tid task) {
  Task& known = tasks_[task];
  known.tgid = Tgid{task.value};  // whoever executes is the leader then
  known.is_kernel_thread = false;
  return NameOf(task, known);
}

void FtraceTasks::SetQuota(Tid task) {
  tasks_[task].has_quota = true;
  for (auto& [tid, known] : tasks_) {
    if (known.tgid == Tgid{task.value}) known.has_quota = true;
  }
}

std::optional<TaskNameEvent> FtraceTasks::Bind(Tid task, absl::string_view name) {
  if (task == Tid{0} || name.empty()) return std::nullopt;
  Task& known = tasks_[task];
  if (known.name == name) return std::nullopt;
  known.name.assign(name.data(), name.size());
  return NameOf(task, known);
}

std::optional<Tgid> FtraceTasks::TgidOf(Tid task) const {
  const auto known = tasks_.find(task);
  return known == tasks_.end() ? std::nullopt : known->second.tgid;
}

bool FtraceTasks::HasQuota(Tid task) const {
  const auto known = tasks_.find(task);
  return known != tasks_.end() && known->second.has_quota;
}

TaskStanding FtraceTasks::Standing(Tid task, absl::string_view name,
                                   std::optional<int64_t> priority) const {
  std::optional<int32_t> number;
  if (priority.has_value() && *priority >= std::numeric_limits<int32_t>::min() &&
      *priority <= std::numeric_limits<int32_t>::max()) {
    number = static_cast<int32_t>(*priority);
  }
  TaskStanding standing = StandingOfTask(task, name, number);
  if (standing.sched_class != SchedClass::kFair) return standing;
  const auto known = tasks_.find(task);
  const int32_t policy = known == tasks_.end() ? SCHED_OTHER : known->second.policy;
  if (policy == SCHED_IDLE) standing.sched_class = SchedClass::kIdlePolicy;
  if (policy == kSchedExt || ext_takes_fair_) standing.sched_class = SchedClass::kExt;
  return standing;
}

}  // namespace whylate
