// One line of a latency tracer's text, split: who was current, on which CPU, when, and what.
//
//   "stress-n-264       1d...3.. 1956us+:      264:120:R ==> [001]     250:  0:R cyclictest"
//   "   <...>-88        4dN...   11us*: isolate_lru_folios+0x0/0x390 <-shrink_inactive_list+0x110"
//
// O(length); the views are of the line.
#ifndef WHYLATE_ANALYSIS_IMPORT_LATENCY_LINE_H_
#define WHYLATE_ANALYSIS_IMPORT_LATENCY_LINE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "analysis/import/event_collector.h"
#include "analysis/model/ids.h"

namespace whylate {

struct LatencyLine {
  absl::string_view comm;  // cut to 8 characters by the kernel
  Tid tid;
  CpuId cpu;
  absl::string_view flags;
  int64_t time_ns = 0;  // since the trace's own begin; at most 1000 s
  absl::string_view what;
};
std::optional<LatencyLine> SplitLatencyLine(absl::string_view line);

// "264:120:R ==> [001] 250:  0:R cyclictest", and "+" for a wake-up (kernel/trace/trace_output.c,
// trace_ctxwake_print()).
struct LatencyEvent {
  bool is_switch = false;  // else a wake-up
  TracedTask current;      // without a name
  absl::string_view state;
  CpuId cpu;  // on which `task` is queued
  TracedTask task;
};
std::optional<LatencyEvent> ParseLatencyEvent(absl::string_view what);

// "isolate_lru_folios <- shrink_inactive_list" of a function's line; "" where it is none.
std::string FunctionInWords(absl::string_view what);
// "f+0x0/0x10" and "f" are "f".
absl::string_view WithoutOffset(absl::string_view function);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_LATENCY_LINE_H_
