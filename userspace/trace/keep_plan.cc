#include "userspace/trace/keep_plan.h"

#include <algorithm>

namespace whylate {
namespace {

// The windows widened by the margin, merged, in order.
std::vector<TimeWindow> Widen(const KeepEvents& keep) {
  std::vector<TimeWindow> windows = keep.windows;
  std::sort(windows.begin(), windows.end(),
            [](const TimeWindow& a, const TimeWindow& b) { return a.begin_ns < b.begin_ns; });
  std::vector<TimeWindow> merged;
  for (const TimeWindow& window : windows) {
    const TimeWindow wide = {window.begin_ns - keep.margin_ns, window.end_ns + keep.margin_ns};
    if (!merged.empty() && wide.begin_ns <= merged.back().end_ns) {
      merged.back().end_ns = std::max(merged.back().end_ns, wide.end_ns);
    } else {
      merged.push_back(wide);
    }
  }
  return merged;
}

}  // namespace

KeepPlan::KeepPlan(const KeepEvents& keep, int64_t begin_ns, int64_t end_ns)
    : all_(keep.all), begin_ns_(begin_ns), end_ns_(end_ns), windows_(Widen(keep)) {}

size_t KeepPlan::WindowAfter(int64_t time_ns) const {
  return static_cast<size_t>(std::upper_bound(windows_.begin(), windows_.end(), time_ns,
                                              [](int64_t time, const TimeWindow& window) {
                                                return time < window.end_ns;
                                              }) -
                             windows_.begin());
}

bool KeepPlan::Covers(int64_t time_ns) const {
  if (time_ns < begin_ns_ || time_ns > end_ns_) return false;
  if (all_) return true;
  const size_t window = WindowAfter(time_ns);
  return window < windows_.size() && time_ns >= windows_[window].begin_ns;
}

std::vector<OmittedInterval> KeepPlan::Omitted() const {
  std::vector<OmittedInterval> omitted;
  if (all_) return omitted;
  int64_t at_ns = begin_ns_;
  for (const TimeWindow& window : windows_) {
    const int64_t end_ns = std::min(window.begin_ns, end_ns_);
    if (at_ns < end_ns) omitted.push_back({at_ns, end_ns});
    at_ns = std::max(at_ns, window.end_ns);
  }
  if (at_ns < end_ns_) omitted.push_back({at_ns, end_ns_});
  return omitted;
}

}  // namespace whylate
