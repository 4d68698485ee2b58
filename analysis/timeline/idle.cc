#include "analysis/timeline/idle.h"

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

// Stretches in which something is queued on a CPU, or on its way there.
struct QueuedOnCpu {
  IntervalList any;
  IntervalList above_idle_policy;
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
  std::vector<QueuedOnCpu> queued(size);
  for (size_t task = 1; task < tasks.size(); ++task) {
    const std::span<const TaskSpan> all = spans.Spans(static_cast<TaskIndex>(task));
    const std::vector<SchedClass> classes = ClassesOf(all, events);
    for (size_t i = 0; i < all.size(); ++i) {
      const TaskSpan& span = all[i];
      const bool counts = span.state == TaskState::kQueued || span.state == TaskState::kWaking;
      if (!counts || !span.cpu.has_value() || span.cpu->value < 0) continue;
      const size_t cpu = static_cast<size_t>(span.cpu->value);
      if (cpu >= size) continue;
      queued[cpu].any.push_back(span.interval());
      if (classes[i] != SchedClass::kIdlePolicy) {
        queued[cpu].above_idle_policy.push_back(span.interval());
      }
    }
  }
  idle_.resize(size);
  truly_idle_.resize(size);
  for (const CpuId cpu : cpus.cpus()) {
    const size_t index = static_cast<size_t>(cpu.value);
    IntervalList idle_task;
    IntervalList nothing_above;
    for (const Stint& stint : cpus.Stints(cpu)) {
      if (stint.task == kNoTask) continue;
      const SchedClass sched_class = StandingOf(stint, events).sched_class;
      if (sched_class == SchedClass::kIdle) idle_task.push_back(stint.interval());
      if (sched_class == SchedClass::kIdle || sched_class == SchedClass::kIdlePolicy) {
        nothing_above.push_back(stint.interval());
      }
    }
    idle_[index] = Difference(Merge(std::move(nothing_above)),
                              Merge(std::move(queued[index].above_idle_policy)));
    truly_idle_[index] =
        Difference(Merge(std::move(idle_task)), Merge(std::move(queued[index].any)));
  }
}

}  // namespace whylate
