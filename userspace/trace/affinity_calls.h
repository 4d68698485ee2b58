// Changes of the affinity of watched tasks, from records of their sched_setaffinity() calls.
//
//   AffinityCalls calls(&formats, layout);
//   calls.Take(cpu, page);                     // as pages are drained
//   calls.ReadMasks(is_watched, GetAffinity);  // right after each drain
//   std::vector<SchedEvent> events = calls.Finish();
//
// A record tells that a mask was set, and on whom, not which. The mask is read soon after; it is the
// one that the call left if no other call on the task came between its return and the reading. Where
// one did, or records were lost, an event with an empty mask says that it is not known from there
// on. Not thread-safe.
#ifndef WHYLATE_USERSPACE_TRACE_AFFINITY_CALLS_H_
#define WHYLATE_USERSPACE_TRACE_AFFINITY_CALLS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "analysis/model/cpu_set.h"
#include "analysis/model/ids.h"
#include "analysis/model/sched_event.h"
#include "userspace/trace/ftrace_formats.h"
#include "userspace/trace/ftrace_page.h"

namespace whylate {

class AffinityCalls {
 public:
  // Both formats and layout are of the buffer that records the calls, and nothing else.
  AffinityCalls(const FtraceFormats* formats, const FtracePageLayout& layout)
      : formats_(formats), layout_(layout) {}

  void Take(CpuId cpu, absl::Span<const uint8_t> page);
  // Reads the masks of the watched tasks that calls were seen on since the last reading.
  void ReadMasks(const std::function<bool(Tid)>& is_watched,
                 const std::function<absl::StatusOr<CpuSet>(Tid)>& read_mask);

  // In order of time, AffinityEvents alone.
  std::vector<SchedEvent> Finish() const;

 private:
  struct Enter {
    int64_t time_ns = 0;
    Tid caller;
    Tid target;
  };
  struct Exit {
    int64_t time_ns = 0;
    CpuId cpu;
    bool succeeded = false;
  };
  struct Call {
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
    CpuId cpu;
    Tid caller;
    Tid target;
  };
  struct Reading {
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
    CpuSet mask;
  };
  // Records of one CPU may be missing from the end of one to the next.
  struct Hole {
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
    CpuId cpu;
  };

  void TakeRecord(const FtraceRecord& record, CpuId cpu);
  std::vector<Call> Calls() const;
  // The mask that `call` left, where it is known. `later`: those that ended after it, or as it did.
  const CpuSet* MaskAfter(const Call& call, absl::Span<const Call> later) const;

  const FtraceFormats* formats_;
  FtracePageLayout layout_;
  std::vector<Enter> enters_;
  std::map<Tid, std::vector<Exit>> exits_;  // by caller
  std::set<Tid> unread_;
  std::map<Tid, std::vector<Reading>> readings_;
  std::map<CpuId, int64_t> last_ns_;
  std::vector<Hole> holes_;
  bool full_ = false;  // no more calls are kept
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_AFFINITY_CALLS_H_
