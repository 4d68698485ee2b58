// The fields of scheduler events as text has them: "key=value" in the kernel's order, or the short
// forms of trace-cmd and perf ("sh:1642 [120] R ==> swapper/2:0 [120]").
//
// A task's name may hold blanks, '=', and whole keys; it is at most 15 bytes, so that a key with all
// that must follow it cannot be in one. O(length); the views are of the payload.
#ifndef WHYLATE_ANALYSIS_IMPORT_SCHED_PAYLOAD_H_
#define WHYLATE_ANALYSIS_IMPORT_SCHED_PAYLOAD_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "analysis/import/event_collector.h"
#include "analysis/model/ids.h"

namespace whylate {

struct SwitchFields {
  TracedTask prev;
  absl::string_view prev_state;  // letters or a number
  TracedTask next;
};
std::optional<SwitchFields> ParseSwitch(absl::string_view payload);

// sched_waking, sched_wakeup, sched_wakeup_new.
struct WakeFields {
  TracedTask wakee;
  std::optional<CpuId> target;
  bool success = true;  // old kernels: false where the task was awake already
};
std::optional<WakeFields> ParseWake(absl::string_view payload);

struct MigrateFields {
  TracedTask task;
  CpuId from;
  CpuId to;
};
std::optional<MigrateFields> ParseMigrate(absl::string_view payload);

struct ForkFields {
  TracedTask parent;
  TracedTask child;
};
std::optional<ForkFields> ParseFork(absl::string_view payload);

// sched_process_exit: the task that exits.
std::optional<TracedTask> ParseExit(absl::string_view payload);
// task_rename: the task with its new name.
std::optional<TracedTask> ParseRename(absl::string_view payload);

struct IrqFields {
  int32_t number = 0;
  absl::string_view name;  // handler or softirq vector, or ""
};
// irq_handler_entry "irq=3 name=arch_timer", softirq_entry "vec=1 [action=TIMER]".
std::optional<IrqFields> ParseIrq(absl::string_view payload);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_SCHED_PAYLOAD_H_
