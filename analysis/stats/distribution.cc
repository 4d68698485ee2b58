#include "analysis/stats/distribution.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace whylate {

double NearestRank(const std::vector<double>& sorted, double fraction) {
  // The small bias keeps 0.95 * 20, which is 19.000000000000004 in floating point, at rank 19.
  const double rank = std::ceil(fraction * static_cast<double>(sorted.size()) - 1e-9);
  const auto index = static_cast<size_t>(std::max(rank, 1.0)) - 1;
  return sorted[std::min(index, sorted.size() - 1)];
}

std::optional<Distribution> Summarize(std::vector<double> sample) {
  if (sample.empty()) return std::nullopt;
  std::sort(sample.begin(), sample.end());
  const auto count = static_cast<double>(sample.size());
  Distribution summary;
  summary.mean = std::accumulate(sample.begin(), sample.end(), 0.0) / count;
  if (sample.size() > 1) {
    double squares = 0;
    for (double value : sample) squares += (value - summary.mean) * (value - summary.mean);
    summary.sd = std::sqrt(squares / (count - 1));
  }
  summary.p50 = NearestRank(sample, 0.50);
  summary.p95 = NearestRank(sample, 0.95);
  summary.p99 = NearestRank(sample, 0.99);
  summary.p999 = NearestRank(sample, 0.999);
  summary.max = sample.back();
  return summary;
}

}  // namespace whylate
