// How facts of a Recording are put into the fields of a Perfetto trace, and got back exactly: what
// the writer (report/) and the reader (import/) of our recordings must agree on.
//
//   AsciiOfBytes("a\xff%");                          // "a%FF%25": valid UTF-8 whatever came in
//   BytesOfAscii("a%FF%25");                         // the bytes again
//   StandingOfPriority(Tid{7}, 50);          // real-time 49
//   ReportedState(SwitchOut::kRunnable, 1);          // 0x100: preempted, as "R+"
#ifndef WHYLATE_ANALYSIS_MODEL_PERFETTO_FACTS_H_
#define WHYLATE_ANALYSIS_MODEL_PERFETTO_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "analysis/model/frame.h"
#include "analysis/model/ids.h"
#include "analysis/model/recording.h"
#include "analysis/model/sched_event.h"

namespace whylate::perfetto {

// Bytes of any kind as printable ASCII: '%' and what is not printable as %XX.
std::string AsciiOfBytes(absl::string_view bytes);
// The inverse; a '%' without two hexadecimal digits stands for itself.
std::string BytesOfAscii(absl::string_view text);

// Words of the enumerators: "blocked", "fair", "hardirq", "skip"; nullopt for what is none.
absl::string_view WordOf(SwitchOut out);
absl::string_view WordOf(SchedClass sched_class);
absl::string_view WordOf(WakerContext context);
absl::string_view WordOf(Pacing pacing);
absl::string_view WordOf(RoleKind kind);
std::optional<SwitchOut> SwitchOutOf(absl::string_view word);
std::optional<SchedClass> SchedClassOf(absl::string_view word);
std::optional<WakerContext> WakerContextOf(absl::string_view word);
std::optional<Pacing> PacingOf(absl::string_view word);
std::optional<RoleKind> RoleKindOf(absl::string_view word);

// The kernel's priority of a standing: -1 deadline, 0..98 real-time, 100..139 fair by nice; 120 for
// the idle task. Unset where it is not known.
std::optional<int32_t> ReportedPriority(Tid tid, const TaskStanding& standing);

// The state that sched_switch reports (include/trace/events/sched.h, 6.18): 0 or 0x100 for a task
// that stays runnable, the latter where it was preempted in the kernel (the tracepoint's argument) or
// about to sleep; else the bits of TASK_REPORT, 0x80 for an idle sleep (TASK_IDLE), 0x10 for one that
// exits.
uint32_t ReportedState(SwitchOut out, uint32_t raw_state, bool preempt = false);
// How a task left by that state alone.
SwitchOut OutOfReportedState(uint32_t reported);

}  // namespace whylate::perfetto

#endif  // WHYLATE_ANALYSIS_MODEL_PERFETTO_FACTS_H_
