#include "tests/support/imported_waits.h"

#include <algorithm>

#include "analysis/timeline/timeline.h"

namespace whylate {

std::vector<ImportedWait> LongestWaits(const Recording& recording, size_t most) {
  const Timeline timeline(recording);
  std::vector<ImportedWait> waits;
  for (size_t i = 1; i < timeline.tasks().size(); ++i) {
    const TaskIndex task = static_cast<TaskIndex>(i);
    const auto spans = timeline.spans().Spans(task);
    for (size_t s = 1; s < spans.size(); ++s) {
      if (spans[s].state != TaskState::kRunning || spans[s].in_event == kNoEvent) continue;
      size_t first = s;
      while (first > 0 && spans[first - 1].state == TaskState::kQueued) --first;
      if (first == s || spans[first].queued_by == QueuedBy::kUnknown) continue;
      ImportedWait wait;
      wait.queued_ns = spans[first].start_ns;
      wait.by = spans[first].queued_by;
      if (first > 0 && spans[first - 1].state == TaskState::kWaking) --first;
      wait.start_ns = spans[first].start_ns;
      wait.end_ns = spans[s].start_ns;
      wait.cpu = spans[s].cpu.value_or(CpuId{-1});
      wait.tid = timeline.tasks().info(task).key.tid;
      wait.name = std::string(timeline.tasks().NameAt(task, wait.end_ns));
      waits.push_back(wait);
    }
  }
  std::sort(waits.begin(), waits.end(), [](const ImportedWait& a, const ImportedWait& b) {
    return a.end_ns - a.start_ns > b.end_ns - b.start_ns;
  });
  waits.resize(std::min(waits.size(), most));
  return waits;
}

}  // namespace whylate
