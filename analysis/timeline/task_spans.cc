#include "analysis/timeline/task_spans.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "analysis/timeline/task_tracker.h"

namespace whylate {
namespace {

// Whether the source records when a woken task is queued. One that does not is not ours, so it knows
// nothing of the runqueue at the waking either.
bool HasWakeups(const std::vector<const SchedEvent*>& events) {
  bool foreign = false;
  for (const SchedEvent* event : events) {
    const auto* wakeup = std::get_if<WakeupEvent>(&event->body);
    if (wakeup != nullptr && !wakeup->is_new) return true;
    const auto* waking = std::get_if<WakingEvent>(&event->body);
    foreign = foreign || (waking != nullptr && !waking->wakee_on_rq.has_value());
  }
  return !foreign;
}

// Hands each record to the trackers of the tasks it is about.
class Dispatcher {
 public:
  Dispatcher(const std::vector<const SchedEvent*>& events, const TaskTable& tasks,
             const CpuOccupancy& cpus, const Interval& bounds)
      : events_(events),
        tasks_(tasks),
        cpus_(cpus),
        trackers_(tasks.size(), TaskTracker(&cpus, bounds.start_ns, HasWakeups(events))) {
    for (size_t task = kIdleTask + 1; task < tasks.size(); ++task) {
      // One a record, and the one before the first of them.
      trackers_[task].Reserve(tasks.info(static_cast<TaskIndex>(task)).records + 1);
    }
  }

  void Run() {
    const std::vector<HiddenChange>& hidden = cpus_.hidden_changes();
    size_t next = 0;
    for (size_t i = 0; i <= events_.size(); ++i) {
      for (; next < hidden.size() && hidden[next].position <= i; ++next) Hidden(hidden[next]);
      if (i < events_.size()) Record(i);
    }
  }

  std::vector<TaskTracker>& trackers() { return trackers_; }

 private:
  TaskTracker* Of(TaskIndex task) {
    return task <= kIdleTask ? nullptr : &trackers_[static_cast<size_t>(task)];
  }
  TaskTracker* Of(Tid tid, size_t index) { return Of(tasks_.Find(tid, index)); }

  void Hidden(const HiddenChange& change) {
    const RecordPlace at{change.time_ns, change.cpu, kNoEvent};
    if (TaskTracker* from = Of(change.from)) {
      from->Lost(at, change.reason, change.known_again_ns);
    }
    if (TaskTracker* to = Of(change.to)) to->Found(at, change.reason);
  }

  void Record(size_t index) {
    const SchedEvent& event = *events_[index];
    const RecordPlace at{event.time_ns, event.cpu, static_cast<int32_t>(index)};
    if (const auto* switched = std::get_if<SwitchEvent>(&event.body)) {
      if (TaskTracker* prev = Of(cpus_.PrevOf(index))) prev->SwitchOut(at, switched->out);
      if (TaskTracker* next = Of(cpus_.NextOf(index))) {
        next->SwitchIn(at, switched->next_queued_ns);
      }
    } else if (const auto* waking = std::get_if<WakingEvent>(&event.body)) {
      if (TaskTracker* task = Of(waking->wakee, index)) task->Waking(at, *waking);
    } else if (const auto* wakeup = std::get_if<WakeupEvent>(&event.body)) {
      if (TaskTracker* task = Of(wakeup->wakee, index)) task->Wakeup(at, *wakeup);
    } else if (const auto* migrate = std::get_if<MigrateEvent>(&event.body)) {
      if (TaskTracker* task = Of(migrate->task, index)) {
        task->Migrate(at, migrate->from, migrate->to);
      }
    } else if (const auto* unthrottle = std::get_if<UnthrottleEvent>(&event.body)) {
      if (TaskTracker* task = Of(unthrottle->task, index)) task->Unthrottle(at);
    } else if (const auto* fork = std::get_if<ForkEvent>(&event.body)) {
      if (TaskTracker* child = Of(fork->child, index)) child->Born(at);
    } else if (const auto* seed = std::get_if<TaskSeedEvent>(&event.body)) {
      if (TaskTracker* task = Of(seed->task, index)) task->Seed(at, *seed);
    }
  }

  const std::vector<const SchedEvent*>& events_;
  const TaskTable& tasks_;
  const CpuOccupancy& cpus_;
  std::vector<TaskTracker> trackers_;
};

}  // namespace

TaskSpans::TaskSpans(const std::vector<const SchedEvent*>& events, const TaskTable& tasks,
                     const CpuOccupancy& cpus, const Interval& bounds) {
  shows_wakeups_ = std::any_of(events.begin(), events.end(), [](const SchedEvent* event) {
    return std::holds_alternative<WakingEvent>(event->body) ||
           std::holds_alternative<WakeupEvent>(event->body);
  });
  Dispatcher dispatcher(events, tasks, cpus, bounds);
  dispatcher.Run();
  spans_.reserve(tasks.size());
  for (TaskTracker& tracker : dispatcher.trackers()) {
    spans_.push_back(tracker.Finish(bounds.end_ns));
  }
}

std::span<const TaskSpan> TaskSpans::Spans(TaskIndex task) const {
  return spans_[static_cast<size_t>(task)];
}

std::span<const TaskSpan> TaskSpans::SpansIn(TaskIndex task, const Interval& window) const {
  const std::vector<TaskSpan>& all = spans_[static_cast<size_t>(task)];
  auto first = std::partition_point(
      all.begin(), all.end(), [&](const TaskSpan& span) { return span.end_ns <= window.start_ns; });
  auto last = std::partition_point(
      first, all.end(), [&](const TaskSpan& span) { return span.start_ns < window.end_ns; });
  return {all.data() + (first - all.begin()), static_cast<size_t>(last - first)};
}

const TaskSpan* TaskSpans::SpanAt(TaskIndex task, int64_t time_ns) const {
  const std::span<const TaskSpan> found = SpansIn(task, {time_ns, time_ns + 1});
  return found.empty() ? nullptr : &found.front();
}

}  // namespace whylate
