// Half-open stretches of time [start, end), in nanoseconds, and sets of them.
//
// An IntervalList is sorted, its intervals are disjoint and not empty. Touching ones may stay apart
// unless Merge() made the list.
//
//   IntervalList busy = Merge({{5, 9}, {1, 3}, {8, 12}});  // {1, 3}, {5, 12}
//   TotalNs(Clip(busy, {2, 6}));                           // 2
#ifndef WHYLATE_ANALYSIS_TIMELINE_INTERVAL_H_
#define WHYLATE_ANALYSIS_TIMELINE_INTERVAL_H_

#include <cstdint>
#include <vector>

namespace whylate {

struct Interval {
  int64_t start_ns = 0;
  int64_t end_ns = 0;

  bool empty() const { return start_ns >= end_ns; }
  int64_t LengthNs() const { return empty() ? 0 : end_ns - start_ns; }
  bool Contains(int64_t time_ns) const { return start_ns <= time_ns && time_ns < end_ns; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

using IntervalList = std::vector<Interval>;

// What both have; empty (start >= end) where they have nothing in common.
Interval Intersection(const Interval& a, const Interval& b);

// Any intervals in, their union out: sorted, disjoint, touching ones joined. O(n log n).
IntervalList Merge(IntervalList intervals);

// The part of a sorted disjoint list that lies within `window`. O(log n + size of the result).
IntervalList Clip(const IntervalList& list, const Interval& window);

// Both sorted and disjoint. O(n + m).
IntervalList Intersection(const IntervalList& a, const IntervalList& b);

// `a` without `b`; both sorted and disjoint. O(n + m).
IntervalList Difference(const IntervalList& a, const IntervalList& b);

int64_t TotalNs(const IntervalList& list);

// The interval of a sorted disjoint list that contains `time_ns`, or null. O(log n).
const Interval* FindContaining(const IntervalList& list, int64_t time_ns);

// The first interval of a sorted disjoint list that ends after `time_ns`, or null. O(log n).
const Interval* FirstEndingAfter(const IntervalList& list, int64_t time_ns);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_TIMELINE_INTERVAL_H_
