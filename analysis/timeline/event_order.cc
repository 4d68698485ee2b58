#include "analysis/timeline/event_order.h"

#include <algorithm>
#include <variant>

#include "analysis/model/cpu_set.h"

namespace whylate {

const char* ToString(UnknownReason reason) {
  switch (reason) {
    case UnknownReason::kNone:
      return "";
    case UnknownReason::kOutside:
      return "outside the recording";
    case UnknownReason::kNeverSeen:
      return "never seen on this CPU";
    case UnknownReason::kEventsLost:
      return "events lost";
    case UnknownReason::kHiddenTask:
      return "hidden task";
    case UnknownReason::kNotKept:
      return "not kept";
    case UnknownReason::kThrottled:
      return "throttled";
  }
  return "";
}

std::vector<const SchedEvent*> OrderEvents(const Recording& recording) {
  std::vector<const SchedEvent*> events;
  events.reserve(recording.events.size());
  for (const SchedEvent& event : recording.events) events.push_back(&event);
  auto before = [](const SchedEvent* a, const SchedEvent* b) { return Before(*a, *b); };
  if (!std::is_sorted(events.begin(), events.end(), before)) {
    std::stable_sort(events.begin(), events.end(), before);
  }
  return events;
}

Interval RecordingBounds(const Recording& recording) {
  Interval bounds{recording.begin_ns, recording.end_ns};
  for (const SchedEvent& event : recording.events) {
    bounds.start_ns = std::min(bounds.start_ns, event.time_ns);
    bounds.end_ns = std::max(bounds.end_ns, event.time_ns);
  }
  return bounds;
}

std::vector<CpuId> RecordingCpus(const Recording& recording) {
  CpuSet cpus;
  const auto add = [&](CpuId cpu) {
    if (cpu.value >= 0) cpus.Add(cpu);  // else nonsense of a damaged recording
  };
  for (const CpuDescription& description : recording.cpus) add(description.cpu);
  for (const LossInterval& loss : recording.losses) add(loss.cpu);
  for (const SchedEvent& event : recording.events) {
    add(event.cpu);
    if (const auto* wakeup = std::get_if<WakeupEvent>(&event.body)) {
      add(wakeup->target);
    } else if (const auto* migrate = std::get_if<MigrateEvent>(&event.body)) {
      add(migrate->from);
      add(migrate->to);
    } else if (const auto* seed = std::get_if<TaskSeedEvent>(&event.body)) {
      if (seed->on_rq) add(seed->queued_on);
    }
  }
  return cpus.ToVector();
}

std::vector<Gap> CpuGaps(const Recording& recording, CpuId cpu) {
  IntervalList lost;
  for (const LossInterval& loss : recording.losses) {
    if (loss.cpu == cpu) lost.push_back({loss.begin_ns, loss.end_ns});
  }
  lost = Merge(std::move(lost));
  IntervalList not_kept;
  for (const OmittedInterval& omitted : recording.omitted) {
    not_kept.push_back({omitted.begin_ns, omitted.end_ns});
  }
  not_kept = Difference(Merge(std::move(not_kept)), lost);
  std::vector<Gap> gaps;
  gaps.reserve(lost.size() + not_kept.size());
  for (const Interval& interval : lost) gaps.push_back({interval, UnknownReason::kEventsLost});
  for (const Interval& interval : not_kept) gaps.push_back({interval, UnknownReason::kNotKept});
  std::sort(gaps.begin(), gaps.end(),
            [](const Gap& a, const Gap& b) { return a.interval.start_ns < b.interval.start_ns; });
  return gaps;
}

}  // namespace whylate
