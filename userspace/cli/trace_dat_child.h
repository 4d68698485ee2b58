// Reads a trace.dat in a child process: its library was not made for hostile files.
#ifndef WHYLATE_USERSPACE_CLI_TRACE_DAT_CHILD_H_
#define WHYLATE_USERSPACE_CLI_TRACE_DAT_CHILD_H_

#include <string>

#include "absl/status/statusor.h"
#include "analysis/import/imported_trace.h"

namespace whylate {

// The child's memory, CPU time, files and wall time are limited; a crash or a hang of the library is
// an error. The process must have no other threads.
absl::StatusOr<ImportedTrace> ImportTraceDatInChild(const std::string& path);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_CLI_TRACE_DAT_CHILD_H_
