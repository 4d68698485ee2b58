#include "tests/support/import_checks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "analysis/timeline/timeline.h"

namespace whylate {
namespace {

bool IsOneLine(const std::string& text) {
  return !text.empty() && text.find('\n') == std::string::npos;
}

}  // namespace

bool IsRefusedOrSound(const absl::StatusOr<ImportedTrace>& trace) {
  if (!trace.ok()) return IsOneLine(std::string(trace.status().message()));
  const Recording& recording = trace->recording;
  if (!recording.trace.has_value()) return false;
  if (recording.events.empty() && trace->notes.empty()) return false;
  if (!std::is_sorted(recording.events.begin(), recording.events.end(), Before)) return false;
  std::map<CpuId, uint64_t> sequences;
  for (const SchedEvent& event : recording.events) {
    if (event.sequence != ++sequences[event.cpu]) return false;
    if (event.time_ns < recording.begin_ns || event.time_ns >= recording.end_ns) return false;
  }
  for (const LossInterval& loss : recording.losses) {
    if (loss.begin_ns < recording.begin_ns || loss.end_ns > recording.end_ns ||
        loss.begin_ns > loss.end_ns) {
      return false;
    }
  }
  if (!std::all_of(trace->notes.begin(), trace->notes.end(), IsOneLine)) return false;
  const Timeline timeline(recording);
  for (size_t task = 1; task < timeline.tasks().size(); ++task) {
    int64_t at_ns = timeline.bounds().start_ns;
    for (const TaskSpan& span : timeline.spans().Spans(static_cast<TaskIndex>(task))) {
      if (span.start_ns != at_ns || span.end_ns <= span.start_ns) return false;
      at_ns = span.end_ns;
    }
    if (at_ns != timeline.bounds().end_ns) return false;
  }
  return true;
}

}  // namespace whylate
