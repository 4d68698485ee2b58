// A trace file of any format that is read here, told by its content and not by its name.
//
//   ASSIGN_OR_RETURN(TraceFormat format, TellTraceFormat(head));
//   if (format == TraceFormat::kTraceDat) ..  // by path, in a child: see trace_dat.h
//   ASSIGN_OR_RETURN(ImportedTrace trace, ImportTraceBytes(bytes, ImportLimits()));
#ifndef WHYLATE_ANALYSIS_IMPORT_OPEN_TRACE_H_
#define WHYLATE_ANALYSIS_IMPORT_OPEN_TRACE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/import/imported_trace.h"

namespace whylate {

enum class TraceFormat : uint8_t {
  kTraceDat,
  kPerfetto,
  kPerfettoText,
  kFtraceText,
  kPerfScript,
  kLatencyText,
  kTimehistText,
};

// Of a file that begins with `head`: all of it, or at least 256 KiB. InvalidArgument, in one line
// that names what was found, for anything else.
absl::StatusOr<TraceFormat> TellTraceFormat(absl::string_view head);

// All formats but trace.dat, which is read by its path: InvalidArgument for that.
absl::StatusOr<ImportedTrace> ImportTraceBytes(absl::string_view bytes, const ImportLimits& limits);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_OPEN_TRACE_H_
