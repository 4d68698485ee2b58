#include "analysis/model/frame.h"

#include <algorithm>

namespace whylate {

int64_t Period::Multiple(int64_t k) const {
  // k stays far below 2^63 / 1e9 periods: a day at 1/60 s is 5.2e6.
  return k * numerator_ns / denominator;
}

std::span<const int64_t> CellFrames::PassedNs(size_t i) const {
  if (stages.empty()) return {};
  const size_t passes = stages.size() - 1;
  return std::span(passed_ns).subspan(i * passes, passes);
}

std::span<const int64_t> CellFrames::StageCpuNs(size_t i) const {
  return std::span(stage_cpu_ns).subspan(i * stages.size(), stages.size());
}

bool CellFrames::HasWholeStages() const {
  const size_t passes = stages.empty() ? 0 : stages.size() - 1;
  return passed_ns.size() == frames.size() * passes &&
         stage_cpu_ns.size() == frames.size() * stages.size();
}

bool CellFrames::PassesInOrder(size_t i) const {
  if (stages.empty()) return true;
  int64_t at_ns = frames[i].start_ns;
  for (const int64_t passed : PassedNs(i)) {
    if (passed < at_ns) return false;
    at_ns = passed;
  }
  // Summed downwards, so that no number of a file overflows.
  int64_t rest_ns = frames[i].cpu_ns;
  for (const int64_t cpu_ns : StageCpuNs(i)) {
    if (cpu_ns < 0 || cpu_ns > rest_ns) return false;
    rest_ns -= cpu_ns;
  }
  return at_ns <= frames[i].completion_ns && rest_ns == 0;
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
