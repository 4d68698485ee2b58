// One row of `perf sched timehist`, split.
//
//   "  975758.720221 [0001]   s   perf[14570]       0.000      0.001      0.108"
//   "  975758.720111 [0001]       perf[14569]       awakened: perf[14570]"
//   "  975758.720223 [0001]    m  migration/1[13]   migrated: perf[14570] cpu 1 => 0"
//
// O(length); the views are of the row.
#ifndef WHYLATE_ANALYSIS_IMPORT_TIMEHIST_ROW_H_
#define WHYLATE_ANALYSIS_IMPORT_TIMEHIST_ROW_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "analysis/import/event_collector.h"
#include "analysis/model/ids.h"

namespace whylate {

struct TimehistRow {
  enum class Kind : uint8_t { kStay, kAwakened, kMigrated };
  Kind kind = Kind::kStay;
  int64_t time_ns = 0;
  CpuId cpu;
  TracedTask task;  // of a stay, the one that leaves; else the one that was on the CPU
  std::optional<Tgid> tgid;
  // Of a stay.
  int64_t wait_ns = 0;
  int64_t delay_ns = 0;
  int64_t run_ns = 0;
  int64_t other_queue_ns = 0;  // "pre-mig time"
  absl::string_view state;     // "S", "R" ..; "" where the row has none
  // Of the others.
  TracedTask other;
  CpuId from;
  CpuId to;
};

// What the table's head says of its columns.
struct TimehistColumns {
  bool has_other_queue = false;  // -P: a fourth time, "pre-mig time"
  bool has_cpus = false;         // -V: before the task a mark in the column of its CPU
};
// Nullopt where the line is no head.
std::optional<TimehistColumns> TimehistHead(absl::string_view line);

std::optional<TimehistRow> SplitTimehistRow(absl::string_view row, const TimehistColumns& columns);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_TIMEHIST_ROW_H_
