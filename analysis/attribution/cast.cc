#include "analysis/attribution/cast.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "analysis/attribution/explanation.h"

namespace whylate {
namespace {

bool IsInherited(const Role& role) {
  return role.kind == RoleKind::kWorkload || role.kind == RoleKind::kLoad ||
         role.kind == RoleKind::kObserver;
}

// Subjects of interrupts and of kernel threads' work begin like this.
constexpr absl::string_view kReservedPrefixes[] = {"irq ", "softirq ", "kworker ", "task "};

bool HasReservedPrefix(absl::string_view name) {
  return std::any_of(std::begin(kReservedPrefixes), std::end(kReservedPrefixes),
                     [&](absl::string_view prefix) { return absl::StartsWith(name, prefix); });
}

}  // namespace

std::string InterruptName(WakerContext context, const std::optional<int32_t>& irq,
                          absl::string_view source_name) {
  std::string name;
  switch (context) {
    case WakerContext::kHardIrq:
      name = "irq";
      break;
    case WakerContext::kSoftIrq:
      name = "softirq";
      break;
    case WakerContext::kNmi:
      return "nmi";
    case WakerContext::kTask:
    case WakerContext::kUnknown:
      return "";
  }
  if (irq.has_value()) absl::StrAppend(&name, " ", *irq);
  if (!source_name.empty()) absl::StrAppend(&name, " ", source_name);
  return name;
}

Cast::Cast(const Timeline& timeline)
    : timeline_(timeline),
      roles_(timeline.tasks().size()),
      reserved_{kSubjectTimer, kSubjectWakeup,  kSubjectSelf,     kSubjectQuota,
                kSubjectIo,    kSubjectUnknown, kSubjectObserver, kSubjectOverload} {
  for (const PartKind kind :
       {PartKind::kNmi, PartKind::kIrq, PartKind::kSoftirq, PartKind::kSteal, PartKind::kSlow}) {
    reserved_.insert(ToString(kind));
  }
  absl::flat_hash_map<Tgid, const Role*> assigned;
  for (const RoleAssignment& assignment : timeline.recording().roles) {
    assigned.emplace(assignment.tgid, &assignment.role);
    if (assignment.role.kind == RoleKind::kLoad) reserved_.insert(assignment.role.load);
  }
  roles_[kIdleTask].kind = RoleKind::kIdle;
  // A parent stands before its children in the table.
  for (size_t task = 1; task < roles_.size(); ++task) {
    const TaskInfo& info = timeline.tasks().info(static_cast<TaskIndex>(task));
    if (info.tgid.has_value()) {
      auto found = assigned.find(*info.tgid);
      if (found != assigned.end()) {
        roles_[task] = *found->second;
        continue;
      }
    }
    if (info.parent > kIdleTask && IsInherited(roles_[static_cast<size_t>(info.parent)])) {
      roles_[task] = roles_[static_cast<size_t>(info.parent)];
      continue;
    }
    roles_[task].kind = info.is_kernel_thread ? RoleKind::kKernel : RoleKind::kOther;
  }
}

const Role& Cast::RoleOf(TaskIndex task) const {
  static const Role* const kUnknownRole = new Role();
  return task == kNoTask ? *kUnknownRole : roles_[static_cast<size_t>(task)];
}

std::string Cast::NameOf(TaskIndex task, int64_t time_ns) const {
  if (task == kNoTask) return "unknown";
  if (task == kIdleTask) return "idle";
  const absl::string_view work = timeline_.tasks().WorkAt(task, time_ns);
  if (!work.empty()) return absl::StrCat("kworker ", work);
  const absl::string_view name = timeline_.tasks().NameAt(task, time_ns);
  if (!name.empty()) return std::string(name);
  return absl::StrCat("tid ", timeline_.tasks().info(task).key.tid.value);
}

std::string Cast::SubjectOf(TaskIndex task, int64_t time_ns) const {
  if (task == kNoTask) return kSubjectUnknown;
  if (task == kIdleTask) return kSubjectWakeup;
  const Role& role = RoleOf(task);
  if (role.kind == RoleKind::kLoad) return role.load;
  if (role.kind == RoleKind::kObserver) return kSubjectObserver;
  std::string name = NameOf(task, time_ns);
  const bool is_kernel = timeline_.tasks().info(task).is_kernel_thread;
  // Subjects of a joint cause are written "A & B".
  absl::StrReplaceAll({{" & ", " + "}}, &name);
  const bool taken = reserved_.contains(name) || (!is_kernel && HasReservedPrefix(name));
  return taken ? absl::StrCat("task ", name) : name;
}

TaskIndex Cast::WakerTask(int32_t waking_event) const {
  if (waking_event == kNoEvent) return kNoTask;
  const SchedEvent& event = timeline_.event(waking_event);
  const auto& waking = std::get<WakingEvent>(event.body);
  if (waking.context != WakerContext::kTask) return kNoTask;
  return timeline_.tasks().Find(waking.waker, static_cast<size_t>(waking_event));
}

std::string Cast::WakerName(int32_t waking_event) const {
  if (waking_event == kNoEvent) return "";
  const TaskIndex task = WakerTask(waking_event);
  const SchedEvent& event = timeline_.event(waking_event);
  if (task != kNoTask) return NameOf(task, event.time_ns);
  const auto& waking = std::get<WakingEvent>(event.body);
  return InterruptName(waking.context, waking.irq, waking.source_name);
}

std::string Cast::WakerSubject(int32_t waking_event) const {
  const TaskIndex task = WakerTask(waking_event);
  if (task != kNoTask) return SubjectOf(task, timeline_.event(waking_event).time_ns);
  const std::string interrupt = WakerName(waking_event);
  return interrupt.empty() ? kSubjectUnknown : interrupt;
}

}  // namespace whylate
