// Who the tids of a recording are: one entry for each life of a tid.
//
// The kernel reuses tids. A new life begins with a fork, with the first wake-up of a new task whose
// fork was not recorded, or with whatever comes after the last switch-out of the life before.
//
//   TaskIndex task = tasks.Find(Tid{42}, event_index);  // the life that event speaks of
//   tasks.NameAt(task, time_ns);                        // "cc1"
#ifndef WHYLATE_ANALYSIS_TIMELINE_TASK_TABLE_H_
#define WHYLATE_ANALYSIS_TIMELINE_TASK_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "absl/strings/string_view.h"
#include "analysis/model/ids.h"
#include "analysis/model/sched_event.h"

namespace whylate {

// Position of a task in the TaskTable. Dense, so that per-task state is a vector.
using TaskIndex = int32_t;
inline constexpr TaskIndex kNoTask = -1;
// Tid 0, the idle task of every CPU.
inline constexpr TaskIndex kIdleTask = 0;

struct TaskInfo {
  TaskKey key;
  std::optional<Tgid> tgid;
  TaskIndex parent = kNoTask;  // by fork, where that was recorded
  bool is_kernel_thread = false;
  size_t records = 0;                                  // of events that name it
  std::vector<std::pair<int64_t, std::string>> names;  // from when on, in order
  std::vector<std::pair<int64_t, std::string>> works;  // until when, in order: see WorkEvent
};

class TaskTable {
 public:
  // `events` in total order. O(n).
  explicit TaskTable(const std::vector<const SchedEvent*>& events);

  // The life of `tid` that the event at `event_index` speaks of; kNoTask where the tid never
  // occurs. The last switch-out of a life may come after the fork of the next: who knows which task
  // was on that CPU should prefer it. O(log lives of the tid).
  TaskIndex Find(Tid tid, size_t event_index) const;

  size_t size() const { return tasks_.size(); }
  const TaskInfo& info(TaskIndex task) const { return tasks_[static_cast<size_t>(task)]; }
  // The name in force then; before the first binding, the first one; "" where it never had any.
  absl::string_view NameAt(TaskIndex task, int64_t time_ns) const;
  // What a worker of the kernel worked on then; "" where that is not known, or it is none.
  absl::string_view WorkAt(TaskIndex task, int64_t time_ns) const;

 private:
  struct Life {
    size_t first_event = 0;
    TaskIndex task = kNoTask;
  };
  struct TidState {
    std::vector<Life> lives;
    bool fresh = false;   // forked, and not seen since: its first wake-up is no further life
    bool active = false;  // woke, was woken or switched: more than a name
    bool ran = false;     // came onto a CPU
    bool ended = false;
  };

  TaskIndex Touch(Tid tid, size_t event_index);
  TaskIndex Touch(Tid tid, TidState* state, size_t event_index);
  TaskIndex BeginLife(Tid tid, TidState* state, size_t event_index);
  void OnSwitch(const SwitchEvent& event, size_t event_index);
  void OnFork(const ForkEvent& event, size_t event_index, int64_t time_ns);
  void OnName(const TaskNameEvent& event, size_t event_index, int64_t time_ns);
  void OnWaking(const WakingEvent& event, size_t event_index);
  void OnWakeup(const WakeupEvent& event, size_t event_index);

  std::vector<TaskInfo> tasks_;
  absl::node_hash_map<Tid, TidState> by_tid_;  // states stay where they are
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_TIMELINE_TASK_TABLE_H_
