// The first half of the oracle: a recording played back, instant by instant.
//
// What every task and CPU was doing at each instant of a complete recording, and the watched task's
// sleeps, kept whole. Shares no code with the analysis. Memory: instants * (tasks + CPUs).
#ifndef WHYLATE_TESTS_SUPPORT_TRACE_REPLAY_H_
#define WHYLATE_TESTS_SUPPORT_TRACE_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/recording.h"

namespace whylate::oracle {

enum class State { kNone, kBlocked, kWaking, kQueued, kRunning, kThrottled };

struct Task {
  int32_t life = 0;
  State state = State::kNone;
  int32_t cpu = -1;
  TaskStanding standing;
  std::string name;
  std::string load;  // its subject, where it belongs to a load
  bool pending = false;
  const WakingEvent* pending_event = nullptr;
  int64_t pending_time = 0;
  // Of its wait, and of the time before it.
  int64_t wait_start = 0;
  int64_t here_since = 0;
  bool by_wakeup = false;  // else it was switched out
  std::optional<int64_t> placed_at;
  std::optional<int64_t> last_in;
  int32_t last_in_cpu = -1;
};

struct Cpu {
  int32_t tid = 0;
  int32_t life = 0;
  int64_t since = -1;  // of the switch
  SchedClass sched_class = SchedClass::kIdle;
  std::optional<int32_t> priority;
};

// The machine at one instant.
struct Snapshot {
  std::map<int32_t, Task> tasks;
  std::vector<Cpu> cpus;
  CpuSet allowed;  // of the watched task
};

// On its way to a CPU.
struct Dispatch {
  int32_t tid;
  int64_t start;
  int64_t end;
  int32_t target;
};

struct Sleep {
  int32_t tid = 0;
  int64_t start = 0;
  int64_t end = 0;
  uint32_t prev_state = 0;
  int64_t run_start = -1;
  const WakingEvent* waking = nullptr;
  int32_t waker_life = 0;
};

// Until the bandwidth controller let it go, or, where that is not recorded, it ran again.
struct Throttle {
  int32_t tid = 0;
  int64_t start = 0;
  int64_t end = 0;
  bool end_recorded = false;
};

class Replay {
 public:
  // `unit` is the length of an instant in ns; every time of the recording is a multiple of it.
  Replay(const Recording& recording, int64_t unit);

  const Snapshot& At(int64_t t) const { return history_[static_cast<size_t>(t)]; }
  const std::vector<Dispatch>& dispatches() const { return dispatches_; }
  // The sleep, or the throttle, of `tid` at `t`; null where it has none.
  const Sleep* SleepAt(int32_t tid, int64_t t) const;
  const Throttle* ThrottleAt(int32_t tid, int64_t t) const;
  const std::vector<Sleep>& sleeps() const { return sleeps_; }
  int64_t t_end() const { return recording_.end_ns / unit_ + 1; }

 private:
  bool Watched(int32_t tid) const { return tid == recording_.watched.value; }
  void Apply(const SchedEvent& event, int64_t t);
  void Queue(int32_t tid, int64_t t, bool by_wakeup);
  void OnWaking(const WakingEvent& e, int64_t t);
  void OnWakeup(const WakeupEvent& e, int64_t t);
  void OnUnthrottle(const UnthrottleEvent& e, int64_t t);
  void EndThrottle(int32_t tid, int64_t t, bool recorded);
  void OnSwitch(const SwitchEvent& e, int32_t cpu, int64_t t);

  const Recording& recording_;
  const int64_t unit_;
  std::map<int32_t, std::string> loads_;
  Snapshot now_;
  std::vector<Snapshot> history_;
  std::vector<Dispatch> dispatches_;
  std::map<int32_t, Sleep> asleep_;
  std::vector<Sleep> sleeps_;
  std::map<int32_t, int64_t> throttled_;  // since when
  std::vector<Throttle> throttles_;
};

}  // namespace whylate::oracle

#endif  // WHYLATE_TESTS_SUPPORT_TRACE_REPLAY_H_
