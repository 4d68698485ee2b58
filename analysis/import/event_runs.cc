#include "analysis/import/event_runs.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace whylate {
namespace {

// Where each run ends.
std::vector<size_t> RunEnds(std::span<const SchedEvent> events) {
  std::vector<size_t> ends;
  for (size_t i = 1; i < events.size(); ++i) {
    if (Before(events[i], events[i - 1])) ends.push_back(i);
  }
  ends.push_back(events.size());
  return ends;
}

// Moves to each place i the event that is at order[i], around the cycles of the permutation.
void Arrange(std::vector<size_t> order, std::span<SchedEvent> events) {
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] == i) continue;
    SchedEvent first = std::move(events[i]);
    size_t hole = i;
    while (order[hole] != i) {
      const size_t from = std::exchange(order[hole], hole);
      events[hole] = std::move(events[from]);
      hole = from;
    }
    order[hole] = hole;
    events[hole] = std::move(first);
  }
}

}  // namespace

void MergeRuns(std::span<SchedEvent> events) {
  std::vector<size_t> ends = RunEnds(events);
  if (ends.size() == 1) return;
  // Events are large: it is their places that are sorted.
  std::vector<size_t> order(events.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto before = [&](size_t a, size_t b) { return Before(events[a], events[b]); };
  while (ends.size() > 1) {
    std::vector<size_t> merged;
    auto begin = order.begin();
    for (size_t i = 0; i + 1 < ends.size(); i += 2) {
      const auto middle = order.begin() + static_cast<ptrdiff_t>(ends[i]);
      const auto end = order.begin() + static_cast<ptrdiff_t>(ends[i + 1]);
      std::inplace_merge(begin, middle, end, before);
      merged.push_back(ends[i + 1]);
      begin = end;
    }
    if (ends.size() % 2 == 1) merged.push_back(ends.back());
    ends = std::move(merged);
  }
  Arrange(std::move(order), events);
}

}  // namespace whylate
