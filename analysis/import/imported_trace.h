// A trace that was recorded elsewhere, as far as its fields go.
//
// The events are in a Recording like our own, so that the analysis is the same; what the trace
// cannot tell is unset or unknown there, and said in `notes`, once each. Times are the trace's own
// clock, in nanoseconds.
//
//   ASSIGN_OR_RETURN(ImportedTrace trace, ImportFtraceText(bytes, ImportLimits()));
//   trace.notes;  // {"no wake-up events: when a sleeping task became runnable is not known"}
#ifndef WHYLATE_ANALYSIS_IMPORT_IMPORTED_TRACE_H_
#define WHYLATE_ANALYSIS_IMPORT_IMPORTED_TRACE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/model/recording.h"

namespace whylate {

// What keeps a reader's memory bounded, whatever the file says.
struct ImportLimits {
  // Further events are not kept; a note says so. One takes about 240 bytes.
  size_t events = 8'000'000;
  // Tasks, notes and names of other kinds.
  size_t names = 1'000'000;
  // Of what a compressed packet or section unpacks to.
  size_t unpacked_bytes = size_t{1} << 30;
};

struct ImportedTrace {
  std::string format;              // "trace.dat v6", "ftrace text", "perf script", "perfetto" ..
  Recording recording;             // `trace` is set; frames and roles in our own recordings alone
  std::vector<std::string> notes;  // hostile text: a writer escapes it
  bool has_frames = false;         // one of our own recordings
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_IMPORTED_TRACE_H_
