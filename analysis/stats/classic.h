// The classic columns of one cell, from its frames.
#ifndef WHYLATE_ANALYSIS_STATS_CLASSIC_H_
#define WHYLATE_ANALYSIS_STATS_CLASSIC_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/model/frame.h"
#include "analysis/stats/distribution.h"
#include "analysis/stats/frame_accounting.h"

namespace whylate {

struct ClassicStatistics {
  // Of start - release over completed frames, in us; for kBackToBack of completion - release -
  // demand. Unset where no frame completed.
  std::optional<Distribution> latency_us;
  // Delivered work / demanded work, in percent: the demand of completed frames over that of the
  // frames due. For kBackToBack over the time from the first release to the last completion, since
  // such a workload wants all of a CPU. Unset where nothing was demanded.
  std::optional<double> desired_cpu_pct;
  // met / due, in percent. Unset for kBackToBack and where nothing was due.
  std::optional<double> deadlines_met_pct;
  // CPU time that the completed frames took / their demand. 1 on an undisturbed, well calibrated
  // machine. Unset where the demand is 0.
  std::optional<double> cpu_per_demand;
};

ClassicStatistics ComputeClassic(const CellFrames& cell, const FrameCounts& counts);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_STATS_CLASSIC_H_
