// Which stretches of a capture are kept: KeepEvents with its windows widened, merged and in order.
//
//   const KeepPlan plan(keep, begin_ns, end_ns);
//   plan.Covers(time_ns);
//
// Immutable.
#ifndef WHYLATE_USERSPACE_TRACE_KEEP_PLAN_H_
#define WHYLATE_USERSPACE_TRACE_KEEP_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/model/recording.h"
#include "userspace/trace/trace_source.h"

namespace whylate {

class KeepPlan {
 public:
  // Of a capture of [begin_ns, end_ns].
  KeepPlan(const KeepEvents& keep, int64_t begin_ns, int64_t end_ns);

  bool all() const { return all_; }
  const std::vector<TimeWindow>& windows() const { return windows_; }
  // The first window that ends after `time_ns`: the one it lies in, or the next one;
  // windows().size() past the last.
  size_t WindowAfter(int64_t time_ns) const;
  // An event of that time is kept, whatever it is: it is within the capture, and in a window.
  bool Covers(int64_t time_ns) const;
  // Between the windows, within the capture; none where all is kept.
  std::vector<OmittedInterval> Omitted() const;

 private:
  bool all_;
  int64_t begin_ns_;
  int64_t end_ns_;
  std::vector<TimeWindow> windows_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_KEEP_PLAN_H_
