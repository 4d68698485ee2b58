// What every CPU did, from one switch to the next: a tiling of the recording by stints.
//
// Before a CPU's first switch, and after a gap, its occupant is that switch's prev, back to the
// recording's begin or the gap's end. A CPU with neither a switch nor a seed is unknown, never
// idle.
//
// A switch whose prev is not the next of the switch before it is a chain break: at least one switch
// has no record. It is repaired by the kernel's own note of when prev came onto the CPU; without a
// credible one the time since the last record that names the old occupant is unknown.
//
//   for (const Stint& stint : occupancy.StintsIn(CpuId{0}, {release_ns, completion_ns})) ...
#ifndef WHYLATE_ANALYSIS_TIMELINE_CPU_OCCUPANCY_H_
#define WHYLATE_ANALYSIS_TIMELINE_CPU_OCCUPANCY_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analysis/model/ids.h"
#include "analysis/model/recording.h"
#include "analysis/model/sched_event.h"
#include "analysis/timeline/event_order.h"
#include "analysis/timeline/interval.h"
#include "analysis/timeline/task_table.h"

namespace whylate {

// How far the kernel's note of an arrival or of a queueing may be off the real time.
inline constexpr int64_t kRepairBoundNs = 1'000'000;

inline constexpr int32_t kNoEvent = -1;

// One stay of one task on one CPU.
struct Stint {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  TaskIndex task = kNoTask;      // kNoTask: unknown, see `reason`
  int32_t in_event = kNoEvent;   // the switch that began it, or the seed that found it
  int32_t out_event = kNoEvent;  // the switch that ended it
  UnknownReason reason = UnknownReason::kNone;
  bool repaired = false;  // an end of it was rebuilt

  Interval interval() const { return {start_ns, end_ns}; }
};

// A change of a CPU's occupant that no record shows, for whoever follows the tasks. It happens just
// before the event at `position`, in the order of the vector.
struct HiddenChange {
  uint64_t position = 0;
  int64_t time_ns = 0;
  CpuId cpu;
  TaskIndex from = kNoTask;  // left the CPU, or is not known to be on it any more
  TaskIndex to = kNoTask;    // is on the CPU from here on
  UnknownReason reason = UnknownReason::kNone;
  int64_t known_again_ns = 0;  // the end of the gap that swallowed `from`
};

class CpuOccupancy {
 public:
  // O(n + gaps log gaps). The arguments must outlive the object only during the call.
  CpuOccupancy(const Recording& recording, const std::vector<const SchedEvent*>& events,
               const TaskTable& tasks, const Interval& bounds);

  const std::vector<CpuId>& cpus() const { return cpus_; }
  // In order, disjoint, from the recording's begin to its end; empty for a CPU never mentioned.
  std::span<const Stint> Stints(CpuId cpu) const;
  // Those that overlap `window`. O(log n).
  std::span<const Stint> StintsIn(CpuId cpu, const Interval& window) const;
  // O(log n); null outside the recording.
  const Stint* StintAt(CpuId cpu, int64_t time_ns) const;

  // Sorted, disjoint.
  const std::vector<Gap>& Gaps(CpuId cpu) const;
  // What rests on a repair: from the last record before a chain break to the latest time at which
  // the repaired arrival may have been. Sorted, disjoint.
  const IntervalList& Repairs(CpuId cpu) const;
  // Chain breaks that could not be repaired: nothing is known of the CPU in them. Sorted, disjoint.
  const IntervalList& Breaks(CpuId cpu) const;
  // The gaps of all CPUs together.
  const IntervalList& AllGaps() const { return all_gaps_; }
  uint64_t breaks() const { return breaks_; }

  // Sorted by position.
  const std::vector<HiddenChange>& hidden_changes() const { return hidden_changes_; }
  // The lives that the switch at this event index is about.
  TaskIndex PrevOf(size_t event_index) const { return switch_tasks_[event_index].first; }
  TaskIndex NextOf(size_t event_index) const { return switch_tasks_[event_index].second; }

 private:
  friend class CpuScan;
  struct Cpu {
    std::vector<Stint> stints;
    std::vector<Gap> gaps;
    IntervalList repairs;
    IntervalList breaks;
  };
  const Cpu* Find(CpuId cpu) const;

  std::vector<CpuId> cpus_;
  std::vector<Cpu> data_;       // of cpus_[i]
  std::vector<int32_t> index_;  // of a CPU id in cpus_, or -1
  IntervalList all_gaps_;
  std::vector<HiddenChange> hidden_changes_;
  std::vector<std::pair<TaskIndex, TaskIndex>> switch_tasks_;
  uint64_t breaks_ = 0;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_TIMELINE_CPU_OCCUPANCY_H_
