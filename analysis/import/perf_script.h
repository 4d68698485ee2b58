// Reads the text of `perf script`: lines of COMM PID/TID [CPU] TIME: EVENT: PAYLOAD, with the
// switches in the kernel's long form or perf's short one.
//
//   ASSIGN_OR_RETURN(ImportedTrace trace, ImportPerfScript(bytes, ImportLimits()));
//
// Without "[CPU]" (a recording of one thread) there is nothing to attribute: an error says so.
// Call chains and other lines are passed over. O(length).
#ifndef WHYLATE_ANALYSIS_IMPORT_PERF_SCRIPT_H_
#define WHYLATE_ANALYSIS_IMPORT_PERF_SCRIPT_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/import/imported_trace.h"

namespace whylate {

// Some line near the beginning is one of perf's.
bool LooksLikePerfScript(absl::string_view text);

// InvalidArgument, in one line, where there is no scheduler event in it.
absl::StatusOr<ImportedTrace> ImportPerfScript(absl::string_view text, const ImportLimits& limits);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_PERF_SCRIPT_H_
