// The state machine that turns the records of one task into its spans: see TaskSpans, its only
// user.
//
// Each method is one record, at its time; records come in order. Not thread-safe.
#ifndef WHYLATE_ANALYSIS_TIMELINE_TASK_TRACKER_H_
#define WHYLATE_ANALYSIS_TIMELINE_TASK_TRACKER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/model/sched_event.h"
#include "analysis/timeline/cpu_occupancy.h"
#include "analysis/timeline/interval.h"
#include "analysis/timeline/task_spans.h"

namespace whylate {

// Where and when a record is.
struct RecordPlace {
  int64_t time_ns = 0;
  CpuId cpu;
  int32_t event = kNoEvent;  // kNoEvent: rebuilt, no record
};

class TaskTracker {
 public:
  // `has_wakeups`: false for a source that records when tasks are woken and not when they are
  // queued. Then a woken task is taken to have been queued at once, where it next runs; that is
  // marked as rebuilt. Where records were lost before it runs that is so until the loss, on a CPU
  // that is not known.
  TaskTracker(const CpuOccupancy* cpus, int64_t begin_ns, bool has_wakeups = true);

  // It will have about so many spans.
  void Reserve(size_t spans);

  // `queued_ns`: when the kernel says that it was queued last.
  void SwitchIn(const RecordPlace& at, std::optional<int64_t> queued_ns);
  // It is on the CPU, and no record says since when.
  void Found(const RecordPlace& at, UnknownReason reason);
  void SwitchOut(const RecordPlace& at, SwitchOut out);
  // It left its CPU, or may have; `known_again_ns` is when records are complete again.
  void Lost(const RecordPlace& at, UnknownReason reason, int64_t known_again_ns);
  void Waking(const RecordPlace& at, const WakingEvent& event);
  void Wakeup(const RecordPlace& at, const WakeupEvent& event);
  void Unthrottle(const RecordPlace& at);
  void Migrate(const RecordPlace& at, CpuId from, CpuId to);
  void Seed(const RecordPlace& at, const TaskSeedEvent& event);
  void Born(const RecordPlace& at);

  // Closes the last span; the tracker is done.
  std::vector<TaskSpan> Finish(int64_t end_ns);

 private:
  // Ends the open span at `time_ns` and begins one of `state`.
  TaskSpan& Open(int64_t time_ns, TaskState state);
  void PushUnknown(int64_t start_ns, int64_t end_ns, UnknownReason reason);
  // A wait on a CPU whose records have a gap is known up to the gap only.
  void CutAtGap(int64_t time_ns, std::optional<int64_t> queued_ns = std::nullopt);
  // When the records about an unknown task, complete up to `time_ns`, became complete.
  int64_t KnownSince(int64_t time_ns) const;
  // The first instant in (start, time_ns) at which a record may be missing; `start` where no gap
  // is.
  int64_t DoubtSince(int64_t start_ns, int64_t time_ns, UnknownReason* reason) const;
  void SwitchInFromQueue(const RecordPlace& at);
  void SwitchInFromSleep(const RecordPlace& at, std::optional<int64_t> queued_ns);
  void SwitchInFromUnknown(const RecordPlace& at, std::optional<int64_t> queued_ns);
  void QueueWoken(const RecordPlace& at, const WakeupEvent& event);
  void WakeSleeper(const RecordPlace& at, const WakingEvent& event);
  void WakeUnseenSleeper(const RecordPlace& at, const WakingEvent& event);

  const CpuOccupancy* cpus_;
  bool has_wakeups_;
  std::vector<TaskSpan> spans_;
  TaskSpan open_;
  int64_t known_again_ns_;             // of an unknown open span
  int32_t pending_waking_ = kNoEvent;  // a waking before the switch-out it overtakes
  bool waking_seen_ = false;           // of a queued task, which changes nothing
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_TIMELINE_TASK_TRACKER_H_
