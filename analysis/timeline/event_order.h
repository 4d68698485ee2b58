// The events of a recording in total order, and its gaps: where nothing, or not everything, is
// known.
//
// Neither copies an event: the Recording must outlive both.
#ifndef WHYLATE_ANALYSIS_TIMELINE_EVENT_ORDER_H_
#define WHYLATE_ANALYSIS_TIMELINE_EVENT_ORDER_H_

#include <cstdint>
#include <vector>

#include "analysis/model/ids.h"
#include "analysis/model/recording.h"
#include "analysis/model/sched_event.h"
#include "analysis/timeline/interval.h"

namespace whylate {

// Why something is not known, in the words of a report: see ToString().
enum class UnknownReason : uint8_t {
  kNone,
  kOutside,     // before or after the recording
  kNeverSeen,   // a CPU, or a task, of which the recording has nothing
  kEventsLost,  // records that were to be delivered are missing
  kHiddenTask,  // the kernel hides a task's records
  kNotKept,     // the consumer kept other stretches only
  kThrottled,   // a CFS bandwidth throttle, whose end no event shows
};

// "outside the recording", "never seen on this CPU", "events lost", "hidden task", "not kept",
// "throttled"; "" for kNone.
const char* ToString(UnknownReason reason);

// A stretch of one CPU in which records may be missing.
struct Gap {
  Interval interval;
  UnknownReason reason = UnknownReason::kEventsLost;
};

// Events in total order; sorts only what is not sorted already. O(n), or O(n log n).
std::vector<const SchedEvent*> OrderEvents(const Recording& recording);

// From the recording's begin to its end, widened to its events where they lie outside.
Interval RecordingBounds(const Recording& recording);

// Every CPU that the recording mentions, ascending.
std::vector<CpuId> RecordingCpus(const Recording& recording);

// The gaps of one CPU, sorted and disjoint: losses, and what the consumer did not keep.
std::vector<Gap> CpuGaps(const Recording& recording, CpuId cpu);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_TIMELINE_EVENT_ORDER_H_
