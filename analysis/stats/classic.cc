#include "analysis/stats/classic.h"

namespace whylate {
namespace {

std::vector<double> LatenciesUs(const CellFrames& cell) {
  std::vector<double> latencies;
  latencies.reserve(cell.frames.size());
  for (const Frame& frame : cell.frames) {
    const int64_t latency_ns = cell.pacing == Pacing::kBackToBack
                                   ? frame.completion_ns - frame.release_ns - frame.demand_ns
                                   : frame.start_ns - frame.release_ns;
    latencies.push_back(static_cast<double>(latency_ns) / 1000);
  }
  return latencies;
}

// Demand of all frames due. A dropped release has the demand of its workload, which is one for all
// frames of kSkip; kCarry drops none.
int64_t DemandedNs(const CellFrames& cell, const FrameCounts& counts, int64_t delivered_ns) {
  if (cell.frames.empty()) return 0;
  if (cell.pacing == Pacing::kBackToBack) {
    return cell.frames.back().completion_ns - cell.frames.front().release_ns;
  }
  return delivered_ns + counts.dropped * cell.frames.front().demand_ns;
}

double Percent(double part, double whole) { return 100 * part / whole; }

}  // namespace

ClassicStatistics ComputeClassic(const CellFrames& cell, const FrameCounts& counts) {
  ClassicStatistics statistics;
  statistics.latency_us = Summarize(LatenciesUs(cell));
  int64_t delivered_ns = 0;
  int64_t cpu_ns = 0;
  for (const Frame& frame : cell.frames) {
    delivered_ns += frame.demand_ns;
    cpu_ns += frame.cpu_ns;
  }
  const int64_t demanded_ns = DemandedNs(cell, counts, delivered_ns);
  if (demanded_ns > 0) {
    statistics.desired_cpu_pct =
        Percent(static_cast<double>(delivered_ns), static_cast<double>(demanded_ns));
  }
  if (cell.pacing != Pacing::kBackToBack && counts.due > 0) {
    statistics.deadlines_met_pct =
        Percent(static_cast<double>(counts.met), static_cast<double>(counts.due));
  }
  if (delivered_ns > 0) {
    statistics.cpu_per_demand = static_cast<double>(cpu_ns) / static_cast<double>(delivered_ns);
  }
  return statistics;
}

}  // namespace whylate
