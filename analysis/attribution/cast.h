// Who plays which role in a recording, and by what name a report knows each.
//
// A role comes from the process (tgid) it was assigned to, else from the task's parent by fork,
// else the task is a kernel thread or somebody else. The idle task is `idle`.
//
//   Cast cast(timeline);
//   cast.RoleOf(task).ToString();        // "load:burn"
//   cast.SubjectOf(task, time_ns);       // "burn"
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_CAST_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_CAST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "analysis/model/recording.h"
#include "analysis/timeline/task_table.h"
#include "analysis/timeline/timeline.h"

namespace whylate {

// Subjects that are no task.
inline constexpr char kSubjectTimer[] = "timer";
inline constexpr char kSubjectWakeup[] = "wakeup";
inline constexpr char kSubjectSelf[] = "self";
inline constexpr char kSubjectQuota[] = "quota";
inline constexpr char kSubjectIo[] = "io";
inline constexpr char kSubjectUnknown[] = "unknown";
inline constexpr char kSubjectObserver[] = "observer";
inline constexpr char kSubjectOverload[] = "overload";

// The name of an interrupt, as subject and as waker: "irq 24 virtio2-req.0", "irq local_timer",
// "softirq NET_RX"; "" for a context that is none, or unknown.
std::string InterruptName(WakerContext context, const std::optional<int32_t>& irq,
                          absl::string_view source_name);

class Cast {
 public:
  // `timeline` must outlive the cast. O(tasks).
  explicit Cast(const Timeline& timeline);

  // kNoTask has the role `unknown`.
  const Role& RoleOf(TaskIndex task) const;
  // "idle" for the idle task, "unknown" for kNoTask, "tid 42" for a task that never had a name.
  // A worker of the kernel's workqueues has the name of its work: "kworker flush-254:0".
  std::string NameOf(TaskIndex task, int64_t time_ns) const;
  // Who is charged for what the task does: a load by its part's name, whylate itself as "observer",
  // any other task by its own name; "task NAME" where that is a load's or another subject's, so that
  // somebody else's "burn" is not taken for the load, nor a program for an interrupt.
  std::string SubjectOf(TaskIndex task, int64_t time_ns) const;

  // Who woke a task, by name: the waking task, or the interrupt; "" where that is not known. An
  // interrupt is never the task that it interrupted.
  std::string WakerName(int32_t waking_event) const;
  // Who is charged for a sleep that this waking ended; "unknown" where that is not known.
  std::string WakerSubject(int32_t waking_event) const;

  // The task that woke; kNoTask for an interrupt, and where it is not known.
  TaskIndex WakerTask(int32_t waking_event) const;

 private:
  const Timeline& timeline_;
  std::vector<Role> roles_;                    // by task
  absl::flat_hash_set<std::string> reserved_;  // names of subjects that are not a task's own
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_CAST_H_
