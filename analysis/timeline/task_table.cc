#include "analysis/timeline/task_table.h"

#include <algorithm>
#include <variant>

namespace whylate {

TaskTable::TaskTable(const std::vector<const SchedEvent*>& events) {
  tasks_.emplace_back();  // kIdleTask
  for (size_t i = 0; i < events.size(); ++i) {
    const int64_t time_ns = events[i]->time_ns;
    const SchedEventBody& body = events[i]->body;
    if (const auto* switched = std::get_if<SwitchEvent>(&body)) {
      OnSwitch(*switched, i);
    } else if (const auto* waking = std::get_if<WakingEvent>(&body)) {
      OnWaking(*waking, i);
    } else if (const auto* wakeup = std::get_if<WakeupEvent>(&body)) {
      OnWakeup(*wakeup, i);
    } else if (const auto* migrate = std::get_if<MigrateEvent>(&body)) {
      Touch(migrate->task, i);
    } else if (const auto* fork = std::get_if<ForkEvent>(&body)) {
      OnFork(*fork, i, time_ns);
    } else if (const auto* exit = std::get_if<ExitEvent>(&body)) {
      // The task goes on for a while in the kernel; its life ends with its last switch-out.
      Touch(exit->task, i);
    } else if (const auto* name = std::get_if<TaskNameEvent>(&body)) {
      OnName(*name, i, time_ns);
    } else if (const auto* start = std::get_if<TimerStartEvent>(&body)) {
      Touch(start->task, i);
    } else if (const auto* expire = std::get_if<TimerExpireEvent>(&body)) {
      Touch(expire->task, i);
    } else if (const auto* affinity = std::get_if<AffinityEvent>(&body)) {
      Touch(affinity->task, i);
    } else if (const auto* cpu_seed = std::get_if<CpuSeedEvent>(&body)) {
      Touch(cpu_seed->current, i);
    } else if (const auto* task_seed = std::get_if<TaskSeedEvent>(&body)) {
      Touch(task_seed->task, i);
    } else if (const auto* unthrottle = std::get_if<UnthrottleEvent>(&body)) {
      Touch(unthrottle->task, i);
    } else if (const auto* standing = std::get_if<StandingEvent>(&body)) {
      Touch(standing->task, i);
    } else if (const auto* cgroup = std::get_if<CgroupEvent>(&body)) {
      Touch(cgroup->task, i);
    } else if (const auto* stop = std::get_if<StopEvent>(&body)) {
      Touch(stop->task, i);
    } else if (const auto* work = std::get_if<WorkEvent>(&body)) {
      tasks_[static_cast<size_t>(Touch(work->task, i))].works.emplace_back(time_ns, work->work);
    }
  }
}

TaskIndex TaskTable::BeginLife(Tid tid, TidState* state, size_t event_index) {
  const TaskIndex task = static_cast<TaskIndex>(tasks_.size());
  TaskInfo info;
  info.key = {tid, static_cast<uint32_t>(state->lives.size())};
  info.records = 1;
  tasks_.push_back(std::move(info));
  state->lives.push_back({event_index, task});
  state->fresh = false;
  state->active = false;
  state->ran = false;
  state->ended = false;
  return task;
}

TaskIndex TaskTable::Touch(Tid tid, TidState* state, size_t event_index) {
  if (state->lives.empty() || state->ended) return BeginLife(tid, state, event_index);
  const TaskIndex task = state->lives.back().task;
  ++tasks_[static_cast<size_t>(task)].records;
  return task;
}

TaskIndex TaskTable::Touch(Tid tid, size_t event_index) {
  return tid == Tid{0} ? kIdleTask : Touch(tid, &by_tid_[tid], event_index);
}

void TaskTable::OnSwitch(const SwitchEvent& event, size_t event_index) {
  if (event.prev != Tid{0}) {
    TidState& state = by_tid_[event.prev];
    Touch(event.prev, &state, event_index);
    state.active = true;
    // A tid is free before its task is off the CPU: this may be the end of the life before.
    const bool of_the_life_before = state.lives.size() > 1 && !state.ran;
    if (event.out == SwitchOut::kExited && !of_the_life_before) state.ended = true;
  }
  if (event.next != Tid{0}) {
    TidState& state = by_tid_[event.next];
    Touch(event.next, &state, event_index);
    state.active = true;
    state.ran = true;
    state.fresh = false;
  }
}

void TaskTable::OnFork(const ForkEvent& event, size_t event_index, int64_t time_ns) {
  const TaskIndex parent = Touch(event.parent, event_index);
  if (event.child == Tid{0}) return;
  TidState& state = by_tid_[event.child];
  const TaskIndex child = BeginLife(event.child, &state, event_index);
  state.fresh = true;
  TaskInfo& info = tasks_[static_cast<size_t>(child)];
  info.tgid = event.child_tgid;
  info.parent = parent;
  info.is_kernel_thread = tasks_[static_cast<size_t>(parent)].is_kernel_thread;
  // A child bears its parent's name until it takes another.
  const absl::string_view name = NameAt(parent, time_ns);
  if (!name.empty()) info.names.emplace_back(time_ns, std::string(name));
}

void TaskTable::OnName(const TaskNameEvent& event, size_t event_index, int64_t time_ns) {
  if (event.task == Tid{0}) return;
  TaskInfo& info = tasks_[static_cast<size_t>(Touch(event.task, event_index))];
  if (event.tgid.has_value()) info.tgid = event.tgid;
  info.is_kernel_thread = event.is_kernel_thread;
  info.names.emplace_back(time_ns, event.name);
}

void TaskTable::OnWaking(const WakingEvent& event, size_t event_index) {
  Touch(event.waker, event_index);
  if (event.wakee == Tid{0}) return;
  TidState& state = by_tid_[event.wakee];
  Touch(event.wakee, &state, event_index);
  state.active = true;
}

void TaskTable::OnWakeup(const WakeupEvent& event, size_t event_index) {
  if (event.wakee == Tid{0}) return;
  TidState& state = by_tid_[event.wakee];
  if (event.is_new) {
    // The waking of a new task is no event of its own, so a tid that was seen before without a fork
    // is another task.
    if (!state.fresh && state.active) BeginLife(event.wakee, &state, event_index);
    state.fresh = false;
  }
  Touch(event.wakee, &state, event_index);
  state.active = true;
}

TaskIndex TaskTable::Find(Tid tid, size_t event_index) const {
  if (tid == Tid{0}) return kIdleTask;
  auto found = by_tid_.find(tid);
  if (found == by_tid_.end()) return kNoTask;
  const std::vector<Life>& lives = found->second.lives;
  auto after = std::partition_point(lives.begin(), lives.end(), [&](const Life& life) {
    return life.first_event <= event_index;
  });
  return after == lives.begin() ? lives.front().task : std::prev(after)->task;
}

absl::string_view TaskTable::NameAt(TaskIndex task, int64_t time_ns) const {
  const auto& names = info(task).names;
  if (names.empty()) return "";
  auto after = std::partition_point(names.begin(), names.end(),
                                    [&](const auto& name) { return name.first <= time_ns; });
  return after == names.begin() ? names.front().second : std::prev(after)->second;
}

absl::string_view TaskTable::WorkAt(TaskIndex task, int64_t time_ns) const {
  const auto& works = info(task).works;
  auto until = std::partition_point(works.begin(), works.end(),
                                    [&](const auto& work) { return work.first < time_ns; });
  return until == works.end() ? absl::string_view() : absl::string_view(until->second);
}

}  // namespace whylate
