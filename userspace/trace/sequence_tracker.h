// Follows one CPU's record numbers: makes them 64 bits wide, and finds the ones that never came.
//
//   SequenceTracker tracker(begin_ns);
//   tracker.Add(1, t1);  tracker.Add(4, t4);  tracker.Add(3, t3);  // 3 was overtaken by 4
//   tracker.Finish(6, end_ns);  // gaps: 2 (between t1 and t3), 5-6 (between t4 and end_ns)
#ifndef WHYLATE_USERSPACE_TRACE_SEQUENCE_TRACKER_H_
#define WHYLATE_USERSPACE_TRACE_SEQUENCE_TRACKER_H_

#include <cstdint>
#include <vector>

namespace whylate {

class SequenceTracker {
 public:
  // Numbers that did not come, between the times of the records around them.
  struct Gap {
    uint64_t first = 0;
    uint64_t last = 0;
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
    friend bool operator==(const Gap&, const Gap&) = default;
  };

  explicit SequenceTracker(int64_t begin_ns) : last_time_ns_(begin_ns) {}

  // A record in the order of arrival, which is that of its numbers but where an interrupt came
  // between number and buffer. Returns the whole number.
  uint64_t Add(uint32_t sequence, int64_t time_ns);
  // The CPU counted up to `attempts` in the end.
  void Finish(uint64_t attempts, int64_t end_ns);

  const std::vector<Gap>& gaps() const { return gaps_; }

 private:
  uint64_t last_ = 0;  // the highest number so far; they start at 1
  int64_t last_time_ns_;
  std::vector<Gap> gaps_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_SEQUENCE_TRACKER_H_
