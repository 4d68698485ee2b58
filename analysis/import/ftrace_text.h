// Reads ftrace's text: the `trace` file, `trace-cmd report`, atrace and systrace text, and the HTML
// page that systrace makes of it. Mails that quote such lines among others are read as well.
//
//   ASSIGN_OR_RETURN(ImportedTrace trace, ImportFtraceText(bytes, ImportLimits()));
//
// Lines that are no events are passed over (headers, stacks, prose). A text that ends within a line
// is read up to there, and a note says so. O(length).
#ifndef WHYLATE_ANALYSIS_IMPORT_FTRACE_TEXT_H_
#define WHYLATE_ANALYSIS_IMPORT_FTRACE_TEXT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/import/imported_trace.h"

namespace whylate {

// Some line near the beginning is one of ftrace's.
bool LooksLikeFtraceText(absl::string_view text);

// InvalidArgument, in one line, where there is no scheduler event in it.
absl::StatusOr<ImportedTrace> ImportFtraceText(absl::string_view text, const ImportLimits& limits);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_FTRACE_TEXT_H_
