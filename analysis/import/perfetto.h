// Reads Perfetto traces: our own recordings exactly, and the scheduler events of anybody's.
//
//   if (LooksLikePerfetto(head)) {
//     ASSIGN_OR_RETURN(ImportedTrace trace, ImportPerfetto(bytes, ImportLimits()));
//     trace.has_frames;  // one of our own
//   }
#ifndef WHYLATE_ANALYSIS_IMPORT_PERFETTO_H_
#define WHYLATE_ANALYSIS_IMPORT_PERFETTO_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/import/imported_trace.h"

namespace whylate {

// True where a file that begins so may be a Perfetto trace: it begins with a packet, and that with
// fields as packets have them. `head` of a few hundred bytes is enough.
bool LooksLikePerfetto(absl::string_view head);

// InvalidArgument, with one line that says what was found, where nothing of it can be used. A file
// that was cut off gives what is before that, and a note.
absl::StatusOr<ImportedTrace> ImportPerfetto(absl::string_view bytes, const ImportLimits& limits);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_PERFETTO_H_
