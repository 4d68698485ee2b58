// The summary of a sample of latencies that the classic table and the JSON report print.
#ifndef WHYLATE_ANALYSIS_STATS_DISTRIBUTION_H_
#define WHYLATE_ANALYSIS_STATS_DISTRIBUTION_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace whylate {

// In the unit of the sample. Percentiles are nearest rank: the ceil(p n)-th smallest value.
struct Distribution {
  double mean = 0;
  std::optional<double> sd;  // sample standard deviation (divisor n - 1); unset for n < 2
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;
};

// Nullopt for an empty sample. The mean and SD are computed in two passes. O(n log n).
std::optional<Distribution> Summarize(std::vector<double> sample);

// The nearest-rank percentile of a sorted, non-empty sample; `fraction` in (0, 1].
double NearestRank(const std::vector<double>& sorted, double fraction);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_STATS_DISTRIBUTION_H_
