#include "analysis/model/frame.h"

#include <algorithm>

namespace whylate {

int64_t Period::Multiple(int64_t k) const {
  // k stays far below 2^63 / 1e9 periods: a day at 1/60 s is 5.2e6.
  return k * numerator_ns / denominator;
}

int64_t CellFrames::ReleaseCount() const {
  if (pacing == Pacing::kBackToBack || end_ns <= origin_ns) return 0;
  return FirstReleaseAtOrAfter(end_ns);
}

int64_t CellFrames::FirstReleaseAtOrAfter(int64_t time_ns) const {
  // The quotient is at most one off, because Multiple() rounds down.
  int64_t k =
      std::max<int64_t>(0, (time_ns - origin_ns) * period.denominator / period.numerator_ns);
  while (k > 0 && ReleaseNs(k - 1) >= time_ns) --k;
  while (ReleaseNs(k) < time_ns) ++k;
  return k;
}

bool CellFrames::IsLate(const Frame& frame) const {
  return pacing != Pacing::kBackToBack && frame.completion_ns > DeadlineNs(frame.index);
}

int64_t CellFrames::SkippedReleases(const Frame& frame) const {
  if (pacing != Pacing::kSkip || !IsLate(frame)) return 0;
  return FirstReleaseAtOrAfter(std::min(frame.completion_ns, end_ns)) - (frame.index + 1);
}

}  // namespace whylate
