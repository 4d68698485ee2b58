#include "analysis/import/perf_script.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "analysis/import/ftrace_text.h"
#include "analysis/import/text_events.h"
#include "analysis/import/text_scan.h"
#include "analysis/import/trace_line.h"

namespace whylate {
namespace {

constexpr size_t kSniffedBytes = 256 * 1024;

bool IsPerfLine(absl::string_view line) {
  const std::optional<TraceLine> split = SplitPerfLine(line);
  return split.has_value() && split->flags.empty() && !split->event.empty();
}

// "perf 0 [002] 12.3: PERF_RECORD_LOST lost 17"
std::optional<uint64_t> LostCount(absl::string_view line) {
  constexpr absl::string_view kLost = "PERF_RECORD_LOST";
  const size_t at = line.find(kLost);
  if (at == absl::string_view::npos) return std::nullopt;
  line.remove_prefix(at + kLost.size());
  const size_t count = line.find("lost ");
  if (count == absl::string_view::npos) return 0;
  line.remove_prefix(count + sizeof("lost ") - 1);
  return static_cast<uint64_t>(TakeNumber(&line).value_or(0));
}

}  // namespace

bool LooksLikePerfScript(absl::string_view text) {
  absl::string_view rest = text.substr(0, kSniffedBytes);
  while (!rest.empty()) {
    const absl::string_view line = TakeLine(&rest);
    if (SplitFtraceLine(line).has_value()) return false;
    if (IsPerfLine(line)) return true;
    if (absl::StrContains(line, " sched:sched_")) return true;
  }
  return false;
}

absl::StatusOr<ImportedTrace> ImportPerfScript(absl::string_view text, const ImportLimits& limits) {
  TextEvents events("perf script", limits, text);
  absl::string_view rest = text;
  if (DropCutLine(&rest)) events.collector().Note(kCutNote);
  bool without_cpu = false;
  while (!rest.empty()) {
    const absl::string_view line = TakeLine(&rest);
    const std::optional<TraceLine> split = SplitPerfLine(line);
    if (!split.has_value()) {
      without_cpu = without_cpu || absl::StrContains(line, " sched:sched_");
      continue;
    }
    const std::optional<uint64_t> lost = LostCount(line);
    if (lost.has_value()) events.LostBeforeNext(split->cpu, *lost);
    events.Line(*split);
  }
  if (events.lines() == 0 && without_cpu) {
    return absl::InvalidArgumentError(
        "perf script text without CPUs: recorded of one thread; record with perf record -a, or add "
        "-F +cpu");
  }
  return events.Finish();
}

}  // namespace whylate
