#include "analysis/stats/classic.h"

namespace whylate {
namespace {

std::vector<double> LatenciesUs(const CellFrames& cell) {
  std::vector<double> latencies;
  latencies.reserve(cell.frames.size());
  for (const Frame& frame : cell.frames) {
    const auto latency_ns = cell.pacing == Pacing::kBackToBack
                                ? static_cast<double>(frame.completion_ns - frame.release_ns) -
                                      static_cast<double>(frame.demand_ns)
                                : static_cast<double>(frame.start_ns - frame.release_ns);
    latencies.push_back(latency_ns / 1000);
  }
  return latencies;
}

// Demand of all frames due. A dropped release has the demand of its workload, which is one for all
// frames of kSkip; kCarry drops none.
double DemandedNs(const CellFrames& cell, const FrameCounts& counts, double delivered_ns) {
  if (cell.frames.empty()) return 0;
  if (cell.pacing == Pacing::kBackToBack) {
    return static_cast<double>(cell.frames.back().completion_ns - cell.frames.front().release_ns);
  }
  return delivered_ns +
         static_cast<double>(counts.dropped) * static_cast<double>(cell.frames.front().demand_ns);
}

double Percent(double part, double whole) { return 100 * part / whole; }

}  // namespace

ClassicStatistics ComputeClassic(const CellFrames& cell, const FrameCounts& counts) {
  ClassicStatistics statistics;
  statistics.latency_us = Summarize(LatenciesUs(cell));
  // Sums are exact in a double below 2^53 ns, 104 days of CPU time.
  double delivered_ns = 0;
  double cpu_ns = 0;
  for (const Frame& frame : cell.frames) {
    delivered_ns += static_cast<double>(frame.demand_ns);
    cpu_ns += static_cast<double>(frame.cpu_ns);
  }
  const double demanded_ns = DemandedNs(cell, counts, delivered_ns);
  if (demanded_ns > 0) statistics.desired_cpu_pct = Percent(delivered_ns, demanded_ns);
  if (cell.pacing != Pacing::kBackToBack && counts.due > 0) {
    statistics.deadlines_met_pct =
        Percent(static_cast<double>(counts.met), static_cast<double>(counts.due));
  }
  if (delivered_ns > 0) statistics.cpu_per_demand = cpu_ns / delivered_ns;
  return statistics;
}

}  // namespace whylate
