// Reads trace.dat, versions 6 and 7, through libtracecmd and libtraceevent.
//
//   ASSIGN_OR_RETURN(ImportedTrace trace, ImportTraceDat("trace.dat", ImportLimits()));
//
// The library was not made for hostile files: it may crash, hang, take all memory or print to
// stderr. A caller that reads a file of unknown origin does so in a child process, with limits to
// its address space, its CPU time and the size of its files (setrlimit(2)) and with stderr on
// /dev/null, and takes a violent end for an error. Compressed traces are unpacked into files
// /tmp/trace_cpu_*, by names that the library has built in. Their names are removed as soon as they
// are open; only a child that is killed while it opens the trace leaves them.
// Not thread-safe: the library's log level is global, and is set to nothing.
#ifndef WHYLATE_ANALYSIS_IMPORT_TRACE_DAT_H_
#define WHYLATE_ANALYSIS_IMPORT_TRACE_DAT_H_

#include <string>

#include "absl/status/statusor.h"
#include "analysis/import/imported_trace.h"

namespace whylate {

// InvalidArgument, in one line, where `path` is no trace.dat, is cut, or has no scheduler event;
// NotFound or Unavailable where it cannot be opened. The main buffer alone is read.
absl::StatusOr<ImportedTrace> ImportTraceDat(const std::string& path, const ImportLimits& limits);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_TRACE_DAT_H_
