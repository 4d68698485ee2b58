#include "tests/support/trace_timeline_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace whylate {
namespace {

const char* StateText(TaskState state) {
  switch (state) {
    case TaskState::kUnknown:
      return "unknown";
    case TaskState::kRunning:
      return "running";
    case TaskState::kQueued:
      return "queued";
    case TaskState::kWaking:
      return "waking";
    case TaskState::kBlocked:
      return "blocked";
    case TaskState::kThrottled:
      return "throttled";
    case TaskState::kExited:
      return "exited";
  }
  return "";
}

}  // namespace

std::string StintsText(const Timeline& timeline, int32_t cpu, int64_t unit_ns) {
  std::vector<std::string> texts;
  for (const Stint& stint : timeline.cpus().Stints(CpuId{cpu})) {
    std::string text = stint.task == kNoTask ? "?"
                       : stint.task == kIdleTask
                           ? "idle"
                           : absl::StrCat(timeline.tasks().info(stint.task).key.tid.value);
    absl::StrAppend(&text, " ", stint.start_ns / unit_ns, "-", stint.end_ns / unit_ns);
    if (stint.repaired) text += "*";
    if (stint.task == kNoTask) absl::StrAppend(&text, " (", ToString(stint.reason), ")");
    texts.push_back(text);
  }
  return absl::StrJoin(texts, " | ");
}

std::string SpansText(const Timeline& timeline, int32_t tid, int64_t unit_ns) {
  std::vector<std::string> texts;
  const TaskIndex task = timeline.TaskAt(Tid{tid}, timeline.bounds().end_ns + 1);
  for (const TaskSpan& span : timeline.spans().Spans(task)) {
    std::string text = absl::StrCat(span.continues ? "..." : "", StateText(span.state));
    const bool on_cpu = span.state == TaskState::kRunning || span.state == TaskState::kQueued;
    if (on_cpu) absl::StrAppend(&text, "@", span.cpu ? absl::StrCat(span.cpu->value) : "?");
    absl::StrAppend(&text, " ", span.start_ns / unit_ns, "-", span.end_ns / unit_ns);
    if (span.repaired) text += "*";
    if (span.state == TaskState::kUnknown) absl::StrAppend(&text, " (", ToString(span.reason), ")");
    texts.push_back(text);
  }
  return absl::StrJoin(texts, " | ");
}

}  // namespace whylate
