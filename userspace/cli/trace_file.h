// Opens a trace file of whatever format that is read here.
//
//   ASSIGN_OR_RETURN(ImportedTrace trace, OpenTrace("trace.dat"));
#ifndef WHYLATE_USERSPACE_CLI_TRACE_FILE_H_
#define WHYLATE_USERSPACE_CLI_TRACE_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "analysis/import/imported_trace.h"

namespace whylate {

// Only regular files, by symbolic links too, of at most 4 GiB: a pipe would never end. The format is
// told by the contents. Errors are one line: what failed, why, and what to do.
absl::StatusOr<ImportedTrace> OpenTrace(const std::string& path);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_CLI_TRACE_FILE_H_
