// The scheduler events of a Perfetto trace that others recorded (Android, ChromeOS, Linux), as far
// as its fields go.
#ifndef WHYLATE_ANALYSIS_IMPORT_PERFETTO_FOREIGN_H_
#define WHYLATE_ANALYSIS_IMPORT_PERFETTO_FOREIGN_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/import/imported_trace.h"

namespace whylate {

// InvalidArgument where there is no scheduler event at all, with what there was.
absl::StatusOr<ImportedTrace> ReadForeignPerfetto(absl::string_view bytes,
                                                  const ImportLimits& limits);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_PERFETTO_FOREIGN_H_
