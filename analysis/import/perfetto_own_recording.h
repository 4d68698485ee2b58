// Gets a recording back from the Perfetto trace that whylate wrote (report/perfetto_writer.h),
// exactly: events, frames, losses, omitted stretches, roles, CPUs and facts of the capture.
//
// Of a file that was cut off, or that is broken inside, it keeps the whole stretches of events before
// that; what comes after is an omitted stretch, so that nothing is concluded from it.
#ifndef WHYLATE_ANALYSIS_IMPORT_PERFETTO_OWN_RECORDING_H_
#define WHYLATE_ANALYSIS_IMPORT_PERFETTO_OWN_RECORDING_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/import/imported_trace.h"

namespace whylate {

// True where the trace begins as our recordings do.
bool IsOwnRecording(absl::string_view bytes, const ImportLimits& limits);

// InvalidArgument where the format is newer, or frames are described that cannot be.
absl::StatusOr<ImportedTrace> ReadOwnRecording(absl::string_view bytes, const ImportLimits& limits);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_PERFETTO_OWN_RECORDING_H_
