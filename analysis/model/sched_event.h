// One scheduler event, as any trace source delivers it: facts of one instant on one CPU.
//
// Times are CLOCK_MONOTONIC nanoseconds. The total order of a recording is (time, cpu, sequence);
// `sequence` counts the events that a CPU tried to emit, so that a hole in it is a loss. What a
// source cannot know is std::nullopt or an enumerator kUnknown, never 0 or -1. Tid 0 is the idle
// task.
//
// Task names are not carried per event: kTaskName events (at attach, fork, exec, rename) bind them.
#ifndef WHYLATE_ANALYSIS_MODEL_SCHED_EVENT_H_
#define WHYLATE_ANALYSIS_MODEL_SCHED_EVENT_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/strings/string_view.h"
#include "analysis/model/cpu_set.h"
#include "analysis/model/ids.h"

namespace whylate {

// The effective scheduling class, highest first. kIdlePolicy is SCHED_IDLE, kIdle the idle task.
enum class SchedClass : uint8_t {
  kStop,
  kDeadline,
  kRealTime,
  kFair,
  kExt,
  kIdlePolicy,
  kIdle,
  kUnknown,
};

// How a task left a CPU, classified in this order: sched_delayed -> blocked; throttled; on_rq == 0
// -> blocked; else runnable (kernel/sched/core.c, __schedule(); delayed dequeue since 6.12). kUnknown:
// the source does not tell, and what the task did until its next event is not known.
enum class SwitchOut : uint8_t { kRunnable, kBlocked, kThrottled, kExited, kUnknown };

enum class WakerContext : uint8_t { kTask, kHardIrq, kSoftIrq, kNmi, kUnknown };

// A task's standing at one instant. `rt_priority` is 1..99 for kRealTime (effective, after priority
// inheritance), else unset. `nice` for the fair class.
struct TaskStanding {
  SchedClass sched_class = SchedClass::kUnknown;
  std::optional<int32_t> rt_priority;
  std::optional<int32_t> nice;
  friend bool operator==(const TaskStanding&, const TaskStanding&) = default;
};

// What the kernel's priority alone tells of a standing (task_struct.prio: below 0 deadline, 0..98
// real-time, 100..139 fair); tid 0 is the idle task's. Unknown for any other.
TaskStanding StandingOfPriority(Tid tid, const std::optional<int32_t>& priority);
// The same where the task's name is known too. The stopper threads show the priority of FIFO 99
// (sched_set_stop_task() in kernel/sched/core.c) and are above it: "migration/N" by
// kernel/stop_machine.c.
TaskStanding StandingOfTask(Tid tid, absl::string_view name,
                            const std::optional<int32_t>& priority);

// Cumulative time that this CPU has lost to each, where the kernel counts it.
struct StolenTime {
  std::optional<int64_t> irq_ns;
  std::optional<int64_t> softirq_ns;
  std::optional<int64_t> steal_ns;
  friend bool operator==(const StolenTime&, const StolenTime&) = default;
};

struct SwitchEvent {
  Tid prev;
  Tid next;
  SwitchOut out = SwitchOut::kUnknown;
  uint32_t prev_state = 0;  // raw, as the tracepoint's argument
  TaskStanding prev_standing;
  TaskStanding next_standing;
  bool next_by_dl_server = false;  // the fair server picked it (6.12 and later)
  // For the repair of chain breaks, already in CLOCK_MONOTONIC: when prev last came onto a CPU and
  // when next was last queued, by the kernel's own sched_info.
  std::optional<int64_t> prev_arrival_ns;
  std::optional<int64_t> next_queued_ns;
  StolenTime stolen;
  // Affinity, read where the task is watched.
  std::optional<CpuSet> prev_allowed;
  std::optional<CpuSet> next_allowed;
  std::optional<bool> preempt;         // the tracepoint's argument: prev did not ask for it
  std::optional<bool> prev_in_iowait;  // task_struct.in_iowait: prev waits for input or output
  // Where the sleep of a watched prev began in the kernel: index in Recording::stacks.
  std::optional<int32_t> stack;
  friend bool operator==(const SwitchEvent&, const SwitchEvent&) = default;
};

// sched_waking: the first of several before one wakeup is the one that counts. The tracepoint's
// target CPU is the wakee's previous CPU, not its placement.
struct WakingEvent {
  Tid wakee;
  Tid waker;  // the task current on the CPU where the waking happened
  WakerContext context = WakerContext::kUnknown;
  std::optional<int32_t> irq;        // number, where context is kHardIrq and the source knows it
  std::string source_name;           // irq handler or softirq vector by name, or empty
  std::optional<bool> wakee_on_rq;   // true: a delayed-dequeue task, no placement follows
  std::optional<bool> wakee_on_cpu;  // true: still running, the waking is pending
  std::optional<CpuSet> allowed;     // the wakee's, where it is watched
  friend bool operator==(const WakingEvent&, const WakingEvent&) = default;
};

// sched_wakeup and sched_wakeup_new: the task is on the runqueue of `target` now.
struct WakeupEvent {
  Tid wakee;
  CpuId target;
  bool is_new = false;
  TaskStanding standing;
  // Queued in name only: its group has no bandwidth left (before 6.18, where such a task does not
  // first run into the throttle).
  bool throttled = false;
  friend bool operator==(const WakeupEvent&, const WakeupEvent&) = default;
};

struct MigrateEvent {
  Tid task;
  CpuId from;
  CpuId to;
  friend bool operator==(const MigrateEvent&, const MigrateEvent&) = default;
};

struct ForkEvent {
  Tid parent;
  Tid child;
  Tgid child_tgid;
  friend bool operator==(const ForkEvent&, const ForkEvent&) = default;
};

struct ExitEvent {
  Tid task;
  friend bool operator==(const ExitEvent&, const ExitEvent&) = default;
};

// Binds a name to a tid, from this instant on: at attach, fork, exec and rename.
struct TaskNameEvent {
  Tid task;
  std::optional<Tgid> tgid;
  std::string name;  // raw bytes from the kernel: hostile
  bool is_kernel_thread = false;
  friend bool operator==(const TaskNameEvent&, const TaskNameEvent&) = default;
};

// A watched task arms its high-resolution sleep. `absolute`: the wake-up is a fixed instant; else
// it moves with the task.
struct TimerStartEvent {
  Tid task;
  int64_t expires_ns = 0;
  bool absolute = false;
  friend bool operator==(const TimerStartEvent&, const TimerStartEvent&) = default;
};

// The timer of a watched task's sleep fires: `now_ns` - `expires_ns` is the timer's own lateness.
struct TimerExpireEvent {
  Tid task;
  int64_t expires_ns = 0;
  int64_t now_ns = 0;
  friend bool operator==(const TimerExpireEvent&, const TimerExpireEvent&) = default;
};

// sched_setaffinity() on a watched task returned.
struct AffinityEvent {
  Tid task;
  CpuSet allowed;         // empty: what it is from here on is not known
  std::optional<Tid> by;  // who called it
  friend bool operator==(const AffinityEvent&, const AffinityEvent&) = default;
};

// What ran on `SchedEvent::cpu` when the recording began.
struct CpuSeedEvent {
  Tid current;
  TaskStanding standing;
  friend bool operator==(const CpuSeedEvent&, const CpuSeedEvent&) = default;
};

// A task that existed when the recording began, and whether it was queued.
struct TaskSeedEvent {
  Tid task;
  bool on_rq = false;
  CpuId queued_on;
  TaskStanding standing;
  std::optional<CpuSet> allowed;
  friend bool operator==(const TaskSeedEvent&, const TaskSeedEvent&) = default;
};

// The CFS bandwidth controller lets a throttled task go on: it is queued on SchedEvent::cpu now. The
// group is the one that had no bandwidth left, its quota per period; "" and unset: not known.
struct UnthrottleEvent {
  Tid task;
  std::string group;  // its cgroup's own name, without the path: hostile
  std::optional<int64_t> quota_ns;
  std::optional<int64_t> period_ns;
  friend bool operator==(const UnthrottleEvent&, const UnthrottleEvent&) = default;
};

// What one interrupt source took from the task on SchedEvent::cpu since the switch before. Those of
// a stint stand directly before the switch that ends it, with its time; their sum is at most what
// StolenTime says.
struct InterruptTimeEvent {
  WakerContext context = WakerContext::kUnknown;  // kHardIrq or kSoftIrq
  std::optional<int32_t> irq;                     // of a device
  std::string source_name;                        // as in WakingEvent
  int64_t ns = 0;
  uint32_t count = 0;
  friend bool operator==(const InterruptTimeEvent&, const InterruptTimeEvent&) = default;
};

// A system call gave a watched task another policy or priority.
struct StandingEvent {
  Tid task;
  TaskStanding standing;
  std::optional<Tid> by;
  friend bool operator==(const StandingEvent&, const StandingEvent&) = default;
};

// A watched task was moved to another cgroup (of any hierarchy).
struct CgroupEvent {
  Tid task;
  std::string path;  // within its hierarchy: hostile
  std::optional<Tid> by;
  friend bool operator==(const CgroupEvent&, const CgroupEvent&) = default;
};

// A watched process was sent a signal of job control that stops it; `task` is one of its threads.
struct StopEvent {
  Tid task;
  std::optional<Tid> by;
  friend bool operator==(const StopEvent&, const StopEvent&) = default;
};

// What a worker of the kernel's workqueues last worked on when it left its CPU: the description that
// the work gave it ("flush-254:0"), else the workqueue's name.
struct WorkEvent {
  Tid task;
  std::string work;
  friend bool operator==(const WorkEvent&, const WorkEvent&) = default;
};

using SchedEventBody =
    std::variant<SwitchEvent, WakingEvent, WakeupEvent, MigrateEvent, ForkEvent, ExitEvent,
                 TaskNameEvent, TimerStartEvent, TimerExpireEvent, AffinityEvent, CpuSeedEvent,
                 TaskSeedEvent, UnthrottleEvent, InterruptTimeEvent, StandingEvent, CgroupEvent,
                 StopEvent, WorkEvent>;

struct SchedEvent {
  int64_t time_ns = 0;
  CpuId cpu;
  uint64_t sequence = 0;
  SchedEventBody body;

  friend bool operator==(const SchedEvent&, const SchedEvent&) = default;
};

// The total order of a recording.
inline bool Before(const SchedEvent& a, const SchedEvent& b) {
  if (a.time_ns != b.time_ns) return a.time_ns < b.time_ns;
  if (a.cpu != b.cpu) return a.cpu < b.cpu;
  return a.sequence < b.sequence;
}

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_MODEL_SCHED_EVENT_H_
