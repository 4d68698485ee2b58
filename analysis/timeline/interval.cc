#include "analysis/timeline/interval.h"

#include <algorithm>
#include <cstddef>

namespace whylate {

Interval Intersection(const Interval& a, const Interval& b) {
  return {std::max(a.start_ns, b.start_ns), std::min(a.end_ns, b.end_ns)};
}

IntervalList Merge(IntervalList intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns < b.end_ns;
  });
  IntervalList merged;
  for (const Interval& interval : intervals) {
    if (interval.empty()) continue;
    if (!merged.empty() && interval.start_ns <= merged.back().end_ns) {
      merged.back().end_ns = std::max(merged.back().end_ns, interval.end_ns);
    } else {
      merged.push_back(interval);
    }
  }
  return merged;
}

const Interval* FirstEndingAfter(const IntervalList& list, int64_t time_ns) {
  auto it = std::partition_point(list.begin(), list.end(),
                                 [&](const Interval& i) { return i.end_ns <= time_ns; });
  return it == list.end() ? nullptr : &*it;
}

const Interval* FindContaining(const IntervalList& list, int64_t time_ns) {
  const Interval* found = FirstEndingAfter(list, time_ns);
  return found != nullptr && found->Contains(time_ns) ? found : nullptr;
}

IntervalList Clip(const IntervalList& list, const Interval& window) {
  IntervalList clipped;
  auto it = std::partition_point(list.begin(), list.end(),
                                 [&](const Interval& i) { return i.end_ns <= window.start_ns; });
  for (; it != list.end() && it->start_ns < window.end_ns; ++it) {
    const Interval common = Intersection(*it, window);
    if (!common.empty()) clipped.push_back(common);
  }
  return clipped;
}

IntervalList Intersection(const IntervalList& a, const IntervalList& b) {
  IntervalList common;
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const Interval both = Intersection(a[i], b[j]);
    if (!both.empty()) common.push_back(both);
    if (a[i].end_ns < b[j].end_ns) {
      ++i;
    } else {
      ++j;
    }
  }
  return common;
}

IntervalList Difference(const IntervalList& a, const IntervalList& b) {
  IntervalList left;
  size_t j = 0;
  for (Interval rest : a) {
    while (j < b.size() && b[j].end_ns <= rest.start_ns) ++j;
    for (size_t k = j; k < b.size() && b[k].start_ns < rest.end_ns; ++k) {
      if (b[k].start_ns > rest.start_ns) left.push_back({rest.start_ns, b[k].start_ns});
      rest.start_ns = b[k].end_ns;
    }
    if (!rest.empty()) left.push_back(rest);
  }
  return left;
}

int64_t TotalNs(const IntervalList& list) {
  int64_t total = 0;
  for (const Interval& interval : list) total += interval.LengthNs();
  return total;
}

}  // namespace whylate
