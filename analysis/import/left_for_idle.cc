#include "analysis/import/left_for_idle.h"

#include <algorithm>
#include <variant>

namespace whylate {

LeftForIdle::LeftForIdle(const Recording& recording, Traced traced)
    : recording_(recording), traced_(traced) {
  std::vector<std::pair<int64_t, int64_t>> all;
  for (const LossInterval& loss : recording.losses) all.emplace_back(loss.begin_ns, loss.end_ns);
  for (const OmittedInterval& omitted : recording.omitted) {
    all.emplace_back(omitted.begin_ns, omitted.end_ns);
  }
  std::sort(all.begin(), all.end());
  for (const auto& [begin_ns, end_ns] : all) {
    if (missing_.empty() || begin_ns > missing_.back().second) {
      missing_.emplace_back(begin_ns, end_ns);
    } else {
      missing_.back().second = std::max(missing_.back().second, end_ns);
    }
  }
}

bool LeftForIdle::MayHaveLost(int64_t begin_ns, int64_t end_ns) const {
  const auto after =
      std::partition_point(missing_.begin(), missing_.end(),
                           [&](const auto& interval) { return interval.second <= begin_ns; });
  return after != missing_.end() && after->first < end_ns;
}

void LeftForIdle::Event(SchedEvent* event) {
  if (const auto* waking = std::get_if<WakingEvent>(&event->body)) {
    Task& task = tasks_[waking->wakee];
    task.pending_waking = true;
    Woken(&task);
  } else if (const auto* wakeup = std::get_if<WakeupEvent>(&event->body)) {
    Task& task = tasks_[wakeup->wakee];
    // Woken while it ran, it is awake, and has nothing to wait for.
    task.pending_waking = false;
    Woken(&task);
  } else if (auto* switched = std::get_if<SwitchEvent>(&event->body)) {
    Left(switched, &tasks_[switched->prev]);
    Task& next = tasks_[switched->next];
    Settle(&next, event->time_ns, /*is_back=*/true);
    next.in_ns = event->time_ns;
    next.pending_waking = false;
  }
}

void LeftForIdle::Left(SwitchEvent* event, Task* task) {
  const bool is_pending = std::exchange(task->pending_waking, false);
  const bool for_idle = event->prev != Tid{0} && event->next == Tid{0};
  if (!for_idle || event->out != SwitchOut::kRunnable) return;
  if (is_pending) {
    event->out = SwitchOut::kBlocked;
  } else {
    task->left = event;
  }
}

void LeftForIdle::Woken(Task* task) {
  if (SwitchEvent* left = std::exchange(task->left, nullptr)) left->out = SwitchOut::kBlocked;
}

void LeftForIdle::Settle(Task* task, int64_t end_ns, bool is_back) {
  SwitchEvent* left = std::exchange(task->left, nullptr);
  if (left == nullptr) return;
  // The first waking of the race comes while the task still runs.
  const bool knows = traced_.wakeups || (traced_.wakings && task->in_ns.has_value());
  const SchedClass sched_class = left->prev_standing.sched_class;
  const bool is_real_time =
      sched_class == SchedClass::kRealTime || sched_class == SchedClass::kDeadline;
  if (!knows || MayHaveLost(task->in_ns.value_or(recording_.begin_ns), end_ns)) {
    left->out = SwitchOut::kUnknown;
    ++unknown_;
  } else if (is_real_time) {
    ++bandwidth_;
  } else if (is_back && traced_.wakeups && sched_class == SchedClass::kFair) {
    left->out = SwitchOut::kThrottled;
    ++throttled_;
  } else {
    left->out = SwitchOut::kUnknown;
    ++unknown_;
  }
}

void LeftForIdle::Finish() {
  for (auto& [tid, task] : tasks_) Settle(&task, recording_.end_ns, /*is_back=*/false);
}

}  // namespace whylate
