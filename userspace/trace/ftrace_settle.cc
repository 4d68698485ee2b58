#include "userspace/trace/ftrace_settle.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analysis/import/left_for_idle.h"

namespace whylate {
namespace {

// What ftrace reports of sleepers that may stay queued; the other states are taken off at once.
constexpr uint32_t kOrdinarySleep = 0x1 | 0x2;

// Stretches in which events are missing: what was known ends with their first instant.
class BlindStretches {
 public:
  explicit BlindStretches(const Recording& recording) {
    for (const LossInterval& loss : recording.losses) {
      all_.emplace_back(loss.begin_ns, loss.end_ns);
    }
    for (const OmittedInterval& omitted : recording.omitted) {
      all_.emplace_back(omitted.begin_ns, omitted.end_ns);
    }
    std::sort(all_.begin(), all_.end());
  }

  // Whether one began since the last call, or has not ended. Times do not decrease.
  bool Reach(int64_t time_ns) {
    bool reached = false;
    for (; next_ < all_.size() && all_[next_].first < time_ns; ++next_) {
      until_ns_ = std::max(until_ns_, all_[next_].second);
      reached = true;
    }
    return reached || time_ns < until_ns_;
  }

 private:
  std::vector<std::pair<int64_t, int64_t>> all_;  // begin, end; in order
  size_t next_ = 0;
  int64_t until_ns_ = std::numeric_limits<int64_t>::min();
};

class HiddenArrivals {
 public:
  explicit HiddenArrivals(const Recording& recording) : blind_(recording) {}

  void Event(SchedEvent* event) {
    if (blind_.Reach(event->time_ns)) idle_since_ns_.clear();
    if (auto* switched = std::get_if<SwitchEvent>(&event->body)) {
      Switch(*event, switched);
    } else if (const auto* wakeup = std::get_if<WakeupEvent>(&event->body)) {
      queued_[wakeup->wakee] = {wakeup->target, event->time_ns};
    } else if (const auto* moved = std::get_if<MigrateEvent>(&event->body)) {
      queued_[moved->task] = {moved->to, event->time_ns};
    }
  }

 private:
  struct Queued {
    CpuId cpu;
    int64_t time_ns = 0;
  };

  void Switch(const SchedEvent& event, SwitchEvent* body) {
    const auto idle = idle_since_ns_.find(event.cpu);
    const auto queued = queued_.find(body->prev);
    if (body->prev != Tid{0} && idle != idle_since_ns_.end() && queued != queued_.end() &&
        queued->second.cpu == event.cpu && queued->second.time_ns >= idle->second) {
      body->prev_arrival_ns = queued->second.time_ns;
    }
    if (body->next == Tid{0}) {
      idle_since_ns_[event.cpu] = event.time_ns;
    } else {
      idle_since_ns_.erase(event.cpu);
    }
  }

  BlindStretches blind_;
  absl::flat_hash_map<CpuId, int64_t> idle_since_ns_;  // CPUs whose last switch was to idle
  absl::flat_hash_map<Tid, Queued> queued_;            // where and when last
};

class WakeeQueueing {
 public:
  WakeeQueueing(bool delays_dequeue, const Recording& recording)
      : delays_dequeue_(delays_dequeue), blind_(recording) {}

  void Event(SchedEvent* event) {
    if (blind_.Reach(event->time_ns)) sleepers_.clear();
    if (const auto* switched = std::get_if<SwitchEvent>(&event->body)) {
      Switch(*event, *switched);
    } else if (auto* waking = std::get_if<WakingEvent>(&event->body)) {
      Waking(*event, waking);
    } else if (const auto* moved = std::get_if<MigrateEvent>(&event->body)) {
      if (Sleeper* sleeper = Pending(moved->task)) sleeper->waking->wakee_on_rq = false;
    } else if (const auto* wakeup = std::get_if<WakeupEvent>(&event->body)) {
      Wakeup(*event, *wakeup);
    }
  }

 private:
  struct Sleeper {
    CpuId cpu;
    int64_t since_ns = 0;
    bool may_be_queued = false;
    WakingEvent* waking = nullptr;
    CpuId waking_cpu;
  };

  void Switch(const SchedEvent& event, const SwitchEvent& body) {
    if (body.next == Tid{0}) idle_since_ns_[event.cpu] = event.time_ns;
    sleepers_.erase(body.next);
    if (body.prev == Tid{0}) return;
    if (body.out != SwitchOut::kBlocked) {
      sleepers_.erase(body.prev);
      return;
    }
    const SchedClass sched_class = body.prev_standing.sched_class;
    const bool is_queued_by_class =
        sched_class != SchedClass::kRealTime && sched_class != SchedClass::kDeadline;
    const bool may_be_queued = delays_dequeue_ && body.next != Tid{0} && is_queued_by_class &&
                               (body.prev_state & ~kOrdinarySleep) == 0;
    sleepers_[body.prev] = {event.cpu, event.time_ns, may_be_queued, nullptr, CpuId{}};
  }

  void Waking(const SchedEvent& event, WakingEvent* body) {
    const auto found = sleepers_.find(body->wakee);
    if (found == sleepers_.end() || found->second.waking != nullptr) return;
    Sleeper& sleeper = found->second;
    sleeper.waking = body;
    sleeper.waking_cpu = event.cpu;
    const auto idle = idle_since_ns_.find(sleeper.cpu);
    const bool went_idle = idle != idle_since_ns_.end() && idle->second > sleeper.since_ns;
    if (!sleeper.may_be_queued || went_idle) body->wakee_on_rq = false;
  }

  void Wakeup(const SchedEvent& event, const WakeupEvent& body) {
    const Sleeper* sleeper = Pending(body.wakee);
    if (sleeper == nullptr) return;
    if (event.cpu != sleeper->waking_cpu || body.target != sleeper->cpu) {
      sleeper->waking->wakee_on_rq = false;
    }
    sleepers_.erase(body.wakee);
  }

  // The sleeper that a waking has been seen of.
  Sleeper* Pending(Tid task) {
    const auto found = sleepers_.find(task);
    if (found == sleepers_.end() || found->second.waking == nullptr) return nullptr;
    return &found->second;
  }

  bool delays_dequeue_;
  BlindStretches blind_;
  absl::flat_hash_map<Tid, Sleeper> sleepers_;
  absl::flat_hash_map<CpuId, int64_t> idle_since_ns_;  // when it last switched to its idle task
};

}  // namespace

void SettleFtraceEvents(bool delays_dequeue, Recording* recording) {
  LeftForIdle left(*recording, {.wakings = true, .wakeups = true});
  for (SchedEvent& event : recording->events) left.Event(&event);
  left.Finish();
  HiddenArrivals arrivals(*recording);
  for (SchedEvent& event : recording->events) arrivals.Event(&event);
  WakeeQueueing queueing(delays_dequeue, *recording);
  for (SchedEvent& event : recording->events) queueing.Event(&event);
}

}  // namespace whylate
