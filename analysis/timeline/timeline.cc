#include "analysis/timeline/timeline.h"

#include <algorithm>
#include <variant>

namespace whylate {

Timeline::Timeline(const Recording& recording)
    : recording_(recording),
      bounds_(RecordingBounds(recording)),
      events_(OrderEvents(recording)),
      tasks_(events_),
      cpus_(recording, events_, tasks_, bounds_),
      spans_(events_, tasks_, cpus_, bounds_),
      idle_(events_, tasks_, cpus_, spans_) {
  for (const Tid tid : recording.WatchedThreads()) {
    watched_.push_back({tid, AffinityTrack(recording, tid, events_), {}});
  }
  for (size_t i = 0; i < events_.size(); ++i) {
    if (std::holds_alternative<StopEvent>(events_[i]->body)) {
      stops_.push_back(static_cast<int32_t>(i));
    }
    const auto* start = std::get_if<TimerStartEvent>(&events_[i]->body);
    const auto* expire = std::get_if<TimerExpireEvent>(&events_[i]->body);
    if (start == nullptr && expire == nullptr) continue;
    const Tid task = start != nullptr ? start->task : expire->task;
    for (WatchedThread& thread : watched_) {
      if (thread.tid == task) thread.timers.push_back(static_cast<int32_t>(i));
    }
  }
}

TaskIndex Timeline::TaskAt(Tid tid, int64_t time_ns) const {
  const auto after =
      std::partition_point(events_.begin(), events_.end(),
                           [&](const SchedEvent* event) { return event->time_ns < time_ns; });
  const auto index = after - events_.begin();
  return tasks_.Find(tid, static_cast<size_t>(index > 0 ? index - 1 : 0));
}

int32_t Timeline::LastStop(int64_t time_ns) const {
  const auto after = std::partition_point(
      stops_.begin(), stops_.end(), [&](int32_t index) { return event(index).time_ns <= time_ns; });
  return after == stops_.begin() ? kNoEvent : *std::prev(after);
}

const Timeline::WatchedThread& Timeline::ThreadOf(TaskIndex task) const {
  if (task <= kIdleTask) return not_watched_;
  const Tid tid = tasks_.info(task).key.tid;
  for (const WatchedThread& thread : watched_) {
    if (thread.tid == tid) return thread;
  }
  return not_watched_;
}

const AffinityTrack& Timeline::AffinityOf(TaskIndex task) const { return ThreadOf(task).affinity; }

const std::vector<int32_t>& Timeline::TimersOf(TaskIndex task) const {
  return ThreadOf(task).timers;
}

}  // namespace whylate
