// What `whylate analyze` says of one file: the input of its writers.
#ifndef WHYLATE_ANALYSIS_REPORT_TRACE_ANALYSIS_H_
#define WHYLATE_ANALYSIS_REPORT_TRACE_ANALYSIS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/activations.h"

namespace whylate {

struct TraceAnalysis {
  std::string format;              // "trace.dat v6", "ftrace text" ..
  std::vector<std::string> notes;  // what the trace cannot tell; raw, hostile
  uint64_t events = 0;
  int64_t begin_ns = 0;  // of the recording, by the trace's own clock
  int64_t end_ns = 0;
  ActivationOptions options;
  Analysis analysis;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_TRACE_ANALYSIS_H_
