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
      idle_(events_, tasks_, cpus_, spans_),
      affinity_(recording, events_) {
  for (size_t i = 0; i < events_.size(); ++i) {
    const auto* start = std::get_if<TimerStartEvent>(&events_[i]->body);
    const auto* expire = std::get_if<TimerExpireEvent>(&events_[i]->body);
    if ((start != nullptr && start->task == recording.watched) ||
        (expire != nullptr && expire->task == recording.watched)) {
      watched_timers_.push_back(static_cast<int32_t>(i));
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

const AffinityTrack& Timeline::AffinityOf(TaskIndex task) const {
  const bool watched = task > kIdleTask && tasks_.info(task).key.tid == recording_.watched;
  return watched ? affinity_ : unknown_affinity_;
}

}  // namespace whylate
