#include "userspace/selftest/prediction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "absl/strings/str_format.h"
#include "analysis/stats/distribution.h"

namespace whylate {
namespace {

double Mean(const std::vector<double>& sample) {
  return std::accumulate(sample.begin(), sample.end(), 0.0) /
         static_cast<double>(std::max<size_t>(1, sample.size()));
}

// The 97.5th percentile of Student's t, for 1 to 30 degrees of freedom and, as usual, the normal
// distribution's beyond (NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2).
double StudentT975(size_t degrees_of_freedom) {
  constexpr std::array<double, 30> kTable = {
      12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
      2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
      2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  return degrees_of_freedom <= kTable.size() ? kTable[degrees_of_freedom - 1] : 1.960;
}

}  // namespace

Interval95 MeanInterval(const std::vector<double>& sample) {
  const double sd = Summarize(sample)->sd.value_or(0);
  const double n = static_cast<double>(sample.size());
  const double half =
      std::max(1.0, StudentT975(std::max<size_t>(1, sample.size() - 1)) * sd / std::sqrt(n));
  return {Mean(sample) - half, Mean(sample) + half};
}

double Prediction::MeanPredicted() const { return Mean(predicted); }

bool Prediction::Holds() const {
  const Interval95 removal = Removal();
  return removal.low <= MeanPredicted() && MeanPredicted() <= removal.high;
}

std::string Prediction::ToString() const {
  const Interval95 removal = Removal();
  return absl::StrFormat(
      "predicted %.1f frames a run; the removal saved %.1f to %.1f (95 %%, %d pairs)",
      MeanPredicted(), removal.low, removal.high, removed.size());
}

}  // namespace whylate
