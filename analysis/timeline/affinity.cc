#include "analysis/timeline/affinity.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

namespace whylate {
namespace {

constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
constexpr int64_t kLast = std::numeric_limits<int64_t>::max();

struct Reading {
  int64_t time_ns = 0;
  const CpuSet* allowed = nullptr;
  bool is_change = false;  // made at this instant, by sched_setaffinity
};

struct OwnersReadings {
  const std::optional<CpuSet>* before = nullptr;
  const std::optional<CpuSet>* after = nullptr;
};

OwnersReadings ReadingsOfOwner(const Recording& recording, Tid watched) {
  if (watched != recording.watched) {
    for (const Stage& stage : recording.frames.stages) {
      if (stage.tid == watched) return {&stage.allowed_before, &stage.allowed_after};
    }
  }
  return {&recording.allowed_before, &recording.allowed_after};
}

// Every reading of a watched task's affinity, in order.
std::vector<Reading> Readings(const Recording& recording, Tid watched,
                              const std::vector<const SchedEvent*>& events) {
  std::vector<Reading> readings;
  const OwnersReadings owner = ReadingsOfOwner(recording, watched);
  auto add = [&](int64_t time_ns, const std::optional<CpuSet>& allowed, bool is_change) {
    if (allowed.has_value()) readings.push_back({time_ns, &*allowed, is_change});
  };
  add(kFirst, *owner.before, false);
  for (const SchedEvent* event : events) {
    if (const auto* switched = std::get_if<SwitchEvent>(&event->body)) {
      if (switched->prev == watched) add(event->time_ns, switched->prev_allowed, false);
      if (switched->next == watched) add(event->time_ns, switched->next_allowed, false);
    } else if (const auto* waking = std::get_if<WakingEvent>(&event->body)) {
      if (waking->wakee == watched) add(event->time_ns, waking->allowed, false);
    } else if (const auto* seed = std::get_if<TaskSeedEvent>(&event->body)) {
      if (seed->task == watched) add(event->time_ns, seed->allowed, false);
    } else if (const auto* affinity = std::get_if<AffinityEvent>(&event->body)) {
      if (affinity->task == watched) readings.push_back({event->time_ns, &affinity->allowed, true});
    }
  }
  add(kLast, *owner.after, false);
  return readings;
}

}  // namespace

AffinityTrack::AffinityTrack() : stretches_{{{kFirst, kLast}, std::nullopt}} {}

AffinityTrack::AffinityTrack(const Recording& recording, Tid watched,
                             const std::vector<const SchedEvent*>& events) {
  int64_t since_ns = kFirst;
  const CpuSet* value = nullptr;
  auto push = [&](int64_t end_ns, const CpuSet* allowed) {
    if (since_ns >= end_ns) return;
    const bool same = !stretches_.empty() && stretches_.back().allowed.has_value() &&
                      allowed != nullptr && *stretches_.back().allowed == *allowed;
    if (same) {
      stretches_.back().interval.end_ns = end_ns;
    } else {
      Stretch stretch;
      stretch.interval = {since_ns, end_ns};
      if (allowed != nullptr) stretch.allowed = *allowed;
      stretches_.push_back(std::move(stretch));
    }
    since_ns = end_ns;
  };
  for (const Reading& reading : Readings(recording, watched, events)) {
    const bool holds = value != nullptr && (reading.is_change || *value == *reading.allowed);
    push(reading.time_ns, holds ? value : nullptr);
    // An empty mask: it was changed, and to what is not known.
    value = reading.allowed->empty() ? nullptr : reading.allowed;
  }
  push(kLast, nullptr);
}

const CpuSet* AffinityTrack::At(int64_t time_ns) const {
  auto it = std::partition_point(stretches_.begin(), stretches_.end(),
                                 [&](const Stretch& s) { return s.interval.end_ns <= time_ns; });
  if (it == stretches_.end() || !it->allowed.has_value()) return nullptr;
  return &*it->allowed;
}

std::vector<AffinityTrack::Stretch> AffinityTrack::In(const Interval& window) const {
  std::vector<Stretch> found;
  auto it = std::partition_point(stretches_.begin(), stretches_.end(), [&](const Stretch& s) {
    return s.interval.end_ns <= window.start_ns;
  });
  for (; it != stretches_.end() && it->interval.start_ns < window.end_ns; ++it) {
    found.push_back({Intersection(it->interval, window), it->allowed});
  }
  return found;
}

}  // namespace whylate
