// Reads what the kernel's latency tracers leave behind: wakeup, wakeup_rt and wakeup_dl, each the
// longest wait of one wake-up; irqsoff, preemptoff and preemptirqsoff, each the longest section.
//
//   # latency: 1969 us, #6/6, CPU#1 | (M:preempt_rt VP:0, KP:0, SP:0 HP:0 #P:4)
//   #    | task: cyclictest-250 (uid:0 nice:0 policy:1 rt_prio:99)
//   stress-n-264  1dn.h511    1us :  264:120:R   + [001]  250:  0:R cyclictest
//   stress-n-264  1d...3.. 1956us+:  264:120:R ==> [001]  250:  0:R cyclictest
//
// A wake-up line is a waking and a wake-up, "==>" the switch to the task that was woken; where the
// text lacks that one, the header tells when it was. Other switches the tracer leaves out: who was
// on the CPU is known where a line names him, and between two lines that name the same task.
// A section has no wake-up: what there is to say of it is a note, and the recording may be empty.
// Traces of one text follow each other, each from a whole second on. Mails are read as well. O(n).
#ifndef WHYLATE_ANALYSIS_IMPORT_LATENCY_TEXT_H_
#define WHYLATE_ANALYSIS_IMPORT_LATENCY_TEXT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/import/imported_trace.h"

namespace whylate {

// Near the beginning are a header with a latency, and a line in these tracers' columns.
bool LooksLikeLatencyText(absl::string_view text);

// InvalidArgument, in one line, where there is neither a wake-up nor a section in it.
absl::StatusOr<ImportedTrace> ImportLatencyText(absl::string_view text, const ImportLimits& limits);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_LATENCY_TEXT_H_
