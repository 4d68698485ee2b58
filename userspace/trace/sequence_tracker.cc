#include "userspace/trace/sequence_tracker.h"

#include <cstddef>
#include <cstdint>

namespace whylate {

uint64_t SequenceTracker::Add(uint32_t sequence, int64_t time_ns) {
  const auto step = static_cast<int32_t>(sequence - static_cast<uint32_t>(last_));
  const uint64_t whole = last_ + static_cast<uint64_t>(int64_t{step});
  if (step > 0) {
    if (step > 1) gaps_.push_back({last_ + 1, whole - 1, last_time_ns_, time_ns});
    last_ = whole;
    last_time_ns_ = time_ns;
    return whole;
  }
  // An overtaken record comes right after the one that overtook it: look from the end.
  for (size_t i = gaps_.size(); i-- > 0;) {
    Gap gap = gaps_[i];
    if (gap.last < whole) break;
    if (gap.first > whole) continue;
    gaps_.erase(gaps_.begin() + static_cast<std::ptrdiff_t>(i));
    auto at = gaps_.begin() + static_cast<std::ptrdiff_t>(i);
    if (whole < gap.last) at = gaps_.insert(at, {whole + 1, gap.last, time_ns, gap.end_ns});
    if (gap.first < whole) gaps_.insert(at, {gap.first, whole - 1, gap.begin_ns, time_ns});
    break;
  }
  return whole;
}

void SequenceTracker::Finish(uint64_t attempts, int64_t end_ns) {
  if (attempts <= last_) return;
  gaps_.push_back({last_ + 1, attempts, last_time_ns_, end_ns});
  last_ = attempts;
}

}  // namespace whylate
