// The events of one ftrace bundle of a foreign Perfetto trace, those of its compact form among them,
// in the order of their times.
//
// The compact form (compact_sched) has sched_switch and sched_waking as columns. It has no `prev`:
// that is whoever came onto the CPU before.
#ifndef WHYLATE_ANALYSIS_IMPORT_PERFETTO_BUNDLE_H_
#define WHYLATE_ANALYSIS_IMPORT_PERFETTO_BUNDLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "analysis/import/perfetto_packets.h"

namespace whylate {

// Of the compact form: the task switched to, or woken.
struct CompactEvent {
  int64_t prev_state = 0;
  int32_t tid = 0;
  std::optional<int32_t> priority;
  absl::string_view comm;
  std::optional<int32_t> target_cpu;
};

struct BundleEvent {
  // Kinds beside the numbers of FtraceEvent's fields.
  static constexpr uint32_t kCompactSwitch = 1'000'000;
  static constexpr uint32_t kCompactWaking = 1'000'001;

  FtraceEventView view;  // without a body in the compact form
  CompactEvent compact;
};

struct FtraceBundleView {
  uint64_t cpu = 0;
  bool lost = false;  // events were lost before these
  uint64_t clock = 0;
  bool has_compact = false;
  bool malformed = false;  // some of it was not read
  bool too_long = false;   // and the rest not kept
  std::vector<BundleEvent> events;
};

// Keeps `limit` events at most. The views point into `bytes`. Into a bundle that was used before, so
// that its memory is used again.
void ReadFtraceBundle(absl::string_view bytes, size_t limit, FtraceBundleView* bundle);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_PERFETTO_BUNDLE_H_
