#include "analysis/timeline/idle.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <variant>

namespace whylate {
namespace {

const SwitchEvent* SwitchAt(int32_t event, const std::vector<const SchedEvent*>& events) {
  return event == kNoEvent ? nullptr
                           : std::get_if<SwitchEvent>(&events[static_cast<size_t>(event)]->body);
}

bool IsIdleClass(SchedClass sched_class) {
  return sched_class == SchedClass::kIdlePolicy || sched_class == SchedClass::kIdle;
}

// Whether any standing that StandingOf() may give a task, the idle task apart, is of an idle class.
// Few recordings have one; in all others it need not be asked of each span.
bool HasIdleClasses(const std::vector<const SchedEvent*>& events) {
  const auto is_one = [](Tid task, const TaskStanding& standing) {
    return task != Tid{0} && IsIdleClass(standing.sched_class);
  };
  const auto has_one = [&](const SchedEvent* event) {
    if (const auto* switched = std::get_if<SwitchEvent>(&event->body)) {
      return is_one(switched->prev, switched->prev_standing) ||
             is_one(switched->next, switched->next_standing);
    }
    if (const auto* wakeup = std::get_if<WakeupEvent>(&event->body)) {
      return is_one(wakeup->wakee, wakeup->standing);
    }
    const auto* seed = std::get_if<CpuSeedEvent>(&event->body);
    return seed != nullptr && is_one(seed->current, seed->standing);
  };
  return std::any_of(events.begin(), events.end(), has_one);
}

// Stretches in which something is queued on a CPU, or on its way there.
struct QueuedOnCpu {
  IntervalList any;
  IntervalList above_idle_policy;  // only where there are idle classes at all
};

// The class in each span of a task. Some ways onto a runqueue do not say it; then the next record
// that does counts, else the last one before.
std::vector<SchedClass> ClassesOf(std::span<const TaskSpan> spans,
                                  const std::vector<const SchedEvent*>& events) {
  std::vector<SchedClass> classes(spans.size(), SchedClass::kUnknown);
  SchedClass later = SchedClass::kUnknown;
  for (size_t i = spans.size(); i-- > 0;) {
    const SchedClass own = StandingOf(spans[i], events).sched_class;
    if (own != SchedClass::kUnknown) later = own;
    classes[i] = later;
  }
  SchedClass before = SchedClass::kUnknown;
  for (SchedClass& sched_class : classes) {
    if (sched_class == SchedClass::kUnknown) sched_class = before;
    before = sched_class;
  }
  return classes;
}

// For each CPU id below `size`.
std::vector<QueuedOnCpu> QueuedOnCpus(size_t size, bool idle_classes,
                                      const std::vector<const SchedEvent*>& events,
                                      const TaskTable& tasks, const TaskSpans& spans) {
  std::vector<QueuedOnCpu> queued(size);
  for (size_t task = kIdleTask + 1; task < tasks.size(); ++task) {
    const std::span<const TaskSpan> all = spans.Spans(static_cast<TaskIndex>(task));
    std::vector<SchedClass> classes;
    if (idle_classes) classes = ClassesOf(all, events);
    for (size_t i = 0; i < all.size(); ++i) {
      const TaskSpan& span = all[i];
      const bool counts = span.state == TaskState::kQueued || span.state == TaskState::kWaking;
      if (!counts || !span.cpu.has_value() || span.cpu->value < 0) continue;
      const size_t cpu = static_cast<size_t>(span.cpu->value);
      if (cpu >= size) continue;
      queued[cpu].any.push_back(span.interval());
      if (idle_classes && classes[i] != SchedClass::kIdlePolicy) {
        queued[cpu].above_idle_policy.push_back(span.interval());
      }
    }
  }
  return queued;
}

}  // namespace

TaskStanding StandingOf(const Stint& stint, const std::vector<const SchedEvent*>& events) {
  if (stint.task == kIdleTask) return {SchedClass::kIdle, std::nullopt, std::nullopt};
  const SwitchEvent* in = SwitchAt(stint.in_event, events);
  if (in != nullptr && in->next_by_dl_server) {
    return {SchedClass::kFair, std::nullopt, in->next_standing.nice};
  }
  if (in != nullptr && in->next_standing.sched_class != SchedClass::kUnknown) {
    return in->next_standing;
  }
  const SwitchEvent* out = SwitchAt(stint.out_event, events);
  if (out != nullptr && stint.task != kNoTask) return out->prev_standing;
  if (stint.in_event == kNoEvent) return {};
  const auto* seed = std::get_if<CpuSeedEvent>(&events[static_cast<size_t>(stint.in_event)]->body);
  return seed == nullptr ? TaskStanding() : seed->standing;
}

TaskStanding StandingOf(const TaskSpan& span, const std::vector<const SchedEvent*>& events) {
  if (span.wakeup_event != kNoEvent) {
    const auto& body = events[static_cast<size_t>(span.wakeup_event)]->body;
    if (const auto* wakeup = std::get_if<WakeupEvent>(&body)) return wakeup->standing;
  }
  if (const SwitchEvent* in = SwitchAt(span.in_event, events)) return in->next_standing;
  const SwitchEvent* out = SwitchAt(span.out_event, events);
  return out == nullptr ? TaskStanding() : out->prev_standing;
}

const IntervalList& IdleTime::Of(const std::vector<IntervalList>& lists, CpuId cpu) {
  static const IntervalList* const kNone = new IntervalList();
  if (cpu.value < 0 || static_cast<size_t>(cpu.value) >= lists.size()) return *kNone;
  return lists[static_cast<size_t>(cpu.value)];
}

IdleTime::IdleTime(const std::vector<const SchedEvent*>& events, const TaskTable& tasks,
                   const CpuOccupancy& cpus, const TaskSpans& spans) {
  if (cpus.cpus().empty()) return;
  const size_t size = static_cast<size_t>(cpus.cpus().back().value) + 1;
  const bool idle_classes = HasIdleClasses(events);
  std::vector<QueuedOnCpu> queued = QueuedOnCpus(size, idle_classes, events, tasks, spans);
  idle_.resize(size);
  truly_idle_.resize(size);
  for (const CpuId cpu : cpus.cpus()) {
    const size_t index = static_cast<size_t>(cpu.value);
    IntervalList idle_task;
    IntervalList nothing_above;
    for (const Stint& stint : cpus.Stints(cpu)) {
      if (stint.task == kIdleTask) {
        idle_task.push_back(stint.interval());
        nothing_above.push_back(stint.interval());
      } else if (idle_classes && stint.task != kNoTask) {
        const SchedClass sched_class = StandingOf(stint, events).sched_class;
        if (sched_class == SchedClass::kIdle) idle_task.push_back(stint.interval());
        if (IsIdleClass(sched_class)) nothing_above.push_back(stint.interval());
      }
    }
    truly_idle_[index] =
        Difference(Merge(std::move(idle_task)), Merge(std::move(queued[index].any)));
    idle_[index] = !idle_classes ? truly_idle_[index]
                                 : Difference(Merge(std::move(nothing_above)),
                                              Merge(std::move(queued[index].above_idle_policy)));
  }
}

}  // namespace whylate
