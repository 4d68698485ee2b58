// One line of a text trace, split: who was current, on which CPU, when, and the event.
//
//   "          <idle>-0     (-----) [006] d.h2    10.258854: sched_waking: comm=foo pid=269 .."
//   "> |  rs:main Q:Reg-945 [002] 17001.434534: sched_switch: .."
//   "swapper 0/0 [001] 0.000000120: 1 sched:sched_switch: .."
//
// O(length); the views are of the line.
#ifndef WHYLATE_ANALYSIS_IMPORT_TRACE_LINE_H_
#define WHYLATE_ANALYSIS_IMPORT_TRACE_LINE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "analysis/import/text_scan.h"
#include "analysis/model/ids.h"

namespace whylate {

struct TraceLine {
  absl::string_view comm;  // "" where it has none; may be wrong, a trace looks it up when read
  std::optional<Tid> tid;  // of the task that was current
  std::optional<Tgid> tgid;
  CpuId cpu;
  absl::string_view flags;  // "" where it has none
  TextTime time;
  absl::string_view event;  // without "sched:"; "" where the line is no event (a function)
  absl::string_view payload;
};

// "TASK-PID (TGID) [CPU] FLAGS TIME: EVENT: PAYLOAD", of ftrace, trace-cmd report and systrace.
// The pid is after the last dash; flags and TGID may be missing.
std::optional<TraceLine> SplitFtraceLine(absl::string_view line);
// "COMM PID/TID [CPU] TIME: PERIOD EVENT: PAYLOAD", of perf script. PID, TID and period may be
// missing.
std::optional<TraceLine> SplitPerfLine(absl::string_view line);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_TRACE_LINE_H_
