// Which CPUs a watched task was allowed to use, at each instant, as far as that is known.
//
// Between two readings that agree, their value holds. A reading from sched_setaffinity's exit ends
// the value before it; any other reading that disagrees leaves the time since the last one unknown
// (a cpuset or a hidden call changed it).
//
//   const CpuSet* allowed = affinity.At(wait.start_ns);  // null: unknown
#ifndef WHYLATE_ANALYSIS_TIMELINE_AFFINITY_H_
#define WHYLATE_ANALYSIS_TIMELINE_AFFINITY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/model/cpu_set.h"
#include "analysis/model/ids.h"
#include "analysis/model/recording.h"
#include "analysis/model/sched_event.h"
#include "analysis/timeline/interval.h"

namespace whylate {

class AffinityTrack {
 public:
  struct Stretch {
    Interval interval;
    std::optional<CpuSet> allowed;
  };

  // Of a task of whose affinity nothing is known.
  AffinityTrack();
  // Of one of the recording's watched threads. O(n).
  AffinityTrack(const Recording& recording, Tid watched,
                const std::vector<const SchedEvent*>& events);

  // Null where it is unknown. O(log n).
  const CpuSet* At(int64_t time_ns) const;
  // A tiling of `window`. O(log n + result).
  std::vector<Stretch> In(const Interval& window) const;

 private:
  std::vector<Stretch> stretches_;  // tile all time
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_TIMELINE_AFFINITY_H_
