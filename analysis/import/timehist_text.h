// Reads the text of `perf sched timehist`, with or without -P, -M, -V, -w and --state: one row for
// each stay of a task on a CPU, when it ends.
//
//          time    cpu  task name              wait time  sch delay   run time  pre-mig time
//                       [tid/pid]                 (msec)     (msec)     (msec)        (msec)
//  38456.722800 [0002]  schbench[28773/28574]     60.371     60.237      3.955        60.197
//
// A row tells that the task was on this CPU for its run time, and queued before that for its sch
// delay; in the wait time it slept as well. Occupants are in no row: who was on the CPU meanwhile is
// known as far as other rows cover it, and is unknown between them, where a row is left out as the
// idle task's are. Of the delay, pre-mig time was on another CPU's queue, that no row names. A delay
// as long as the whole wait is a preemption. Mails are read as well. O(n log n) in rows.
#ifndef WHYLATE_ANALYSIS_IMPORT_TIMEHIST_TEXT_H_
#define WHYLATE_ANALYSIS_IMPORT_TIMEHIST_TEXT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/import/imported_trace.h"

namespace whylate {

// Near the beginning is a row with a stay's times.
bool LooksLikeTimehistText(absl::string_view text);

// InvalidArgument, in one line, where there is no such row.
absl::StatusOr<ImportedTrace> ImportTimehistText(absl::string_view text,
                                                 const ImportLimits& limits);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_TIMEHIST_TEXT_H_
