// Reads the text form of Perfetto traces, as protoc --decode and the project's own tests write it:
//
//   packet { ftrace_events { cpu: 1 event { timestamp: 50 pid: 7 sched_switch { next_pid: 8 } } } }
//
// It is put into the binary form, as far as the scheduler's events, process trees, names and the
// kernel's release go, and read as that is (perfetto_foreign.h). Messages and fields of other names
// are passed over, however deep they lie. O(length); the binary form is shorter than the text.
#ifndef WHYLATE_ANALYSIS_IMPORT_PERFETTO_TEXTPROTO_H_
#define WHYLATE_ANALYSIS_IMPORT_PERFETTO_TEXTPROTO_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/import/imported_trace.h"

namespace whylate {

// Its first word, comments apart, is "packet", and a message follows.
bool LooksLikePerfettoText(absl::string_view text);

// InvalidArgument, in one line, where there is no scheduler event in it. Of a text that breaks off,
// or is no text proto from some line on, what is before that, and a note.
absl::StatusOr<ImportedTrace> ImportPerfettoText(absl::string_view text,
                                                 const ImportLimits& limits);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_PERFETTO_TEXTPROTO_H_
