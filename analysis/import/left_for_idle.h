// What a task did that left its CPU in state R for the idle task: nobody preempted it.
//
//   LeftForIdle tasks(recording, {.wakings = true, .wakeups = true});
//   for (SchedEvent& event : recording.events) tasks.Event(&event);
//   tasks.Finish();
//
// The state in which it left is the one at the instant of the record: a waker may have set it
// already (the prev_state race), while the task goes to sleep. A FIFO/RR or deadline task that
// nobody woke could run, and the bandwidth of its class was used up: it stays runnable. A fair task
// that nobody woke, and that is back, was throttled. Where the trace cannot have the wake-up, or
// may have lost it, the task's state is unknown. Not thread-safe.
#ifndef WHYLATE_ANALYSIS_IMPORT_LEFT_FOR_IDLE_H_
#define WHYLATE_ANALYSIS_IMPORT_LEFT_FOR_IDLE_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analysis/model/recording.h"

namespace whylate {

class LeftForIdle {
 public:
  // What the trace has events of.
  struct Traced {
    bool wakings = false;
    bool wakeups = false;
  };

  // `recording`, with its bounds and losses, must outlive the object.
  LeftForIdle(const Recording& recording, Traced traced);

  // All of them, in their order; the switches must stay where they are until Finish().
  void Event(SchedEvent* event);
  void Finish();

  // Switches that were settled as such.
  uint64_t throttled() const { return throttled_; }
  uint64_t bandwidth() const { return bandwidth_; }
  uint64_t unknown() const { return unknown_; }

 private:
  struct Task {
    std::optional<int64_t> in_ns;  // when it came onto a CPU last
    bool pending_waking = false;   // woken since, without being queued
    SwitchEvent* left = nullptr;   // in R, for the idle task
  };

  void Left(SwitchEvent* event, Task* task);
  void Woken(Task* task);
  void Settle(Task* task, int64_t end_ns, bool is_back);
  bool MayHaveLost(int64_t begin_ns, int64_t end_ns) const;

  const Recording& recording_;
  const Traced traced_;
  std::vector<std::pair<int64_t, int64_t>> missing_;  // begin, end: merged, in order
  absl::flat_hash_map<Tid, Task> tasks_;
  uint64_t throttled_ = 0;
  uint64_t bandwidth_ = 0;
  uint64_t unknown_ = 0;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_LEFT_FOR_IDLE_H_
