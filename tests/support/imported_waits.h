// The waits of an imported trace, for tests that know what a trace holds.
//
//   for (const ImportedWait& wait : LongestWaits(trace.recording, 3)) ..
#ifndef WHYLATE_TESTS_SUPPORT_IMPORTED_WAITS_H_
#define WHYLATE_TESTS_SUPPORT_IMPORTED_WAITS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/ids.h"
#include "analysis/model/recording.h"
#include "analysis/timeline/task_spans.h"

namespace whylate {

struct ImportedWait {
  Tid tid;
  std::string name;
  int64_t start_ns = 0;   // of the waking, or of being queued
  int64_t queued_ns = 0;  // when it was queued; start_ns where there is no waking
  int64_t end_ns = 0;     // when it ran
  CpuId cpu;
  QueuedBy by = QueuedBy::kUnknown;
};

// Those that end with a switch-in and whose start is known; the longest first.
std::vector<ImportedWait> LongestWaits(const Recording& recording, size_t most);

// Events of one kind.
template <typename Event>
size_t CountOf(const Recording& recording) {
  size_t count = 0;
  for (const SchedEvent& event : recording.events) {
    count += std::holds_alternative<Event>(event.body) ? 1 : 0;
  }
  return count;
}

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_IMPORTED_WAITS_H_
