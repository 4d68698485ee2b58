#include "analysis/attribution/availability.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace whylate {
namespace {

void Append(const IntervalList& from, IntervalList* to) {
  to->insert(to->end(), from.begin(), from.end());
}

// How far a CPU can take tasks from others.
enum class Reach { kNone, kIsolated, kBalanced };

Reach ReachOf(const CpuDescription& description) {
  if (!description.online) return Reach::kNone;
  return description.isolated ? Reach::kIsolated : Reach::kBalanced;
}

Reach ReachOf(const Timeline& timeline, CpuId cpu) {
  const std::vector<CpuDescription>& cpus = timeline.recording().cpus;
  // Most often they stand in order.
  const size_t index = static_cast<size_t>(cpu.value);
  if (index < cpus.size() && cpus[index].cpu == cpu) return ReachOf(cpus[index]);
  for (const CpuDescription& description : cpus) {
    if (description.cpu == cpu) return ReachOf(description);
  }
  return Reach::kBalanced;
}

class Finder {
 public:
  Finder(const Timeline& timeline, const AffinityTrack& affinity,
         std::optional<int64_t> placed_at_ns)
      : timeline_(timeline), affinity_(affinity), placed_at_ns_(placed_at_ns) {
    for (const CpuId cpu : timeline.cpus().cpus()) reach_.push_back(ReachOf(timeline, cpu));
  }

  // One stretch on one runqueue with one affinity.
  void Add(std::optional<CpuId> queue, const AffinityTrack::Stretch& stretch) {
    const Interval& interval = stretch.interval;
    const std::vector<CpuId>& cpus = timeline_.cpus().cpus();
    const bool known = stretch.allowed.has_value() && queue.has_value();
    const bool isolated_queue = queue.has_value() && ReachOf(timeline_, *queue) == Reach::kIsolated;
    for (size_t i = 0; i < cpus.size(); ++i) {
      const CpuId cpu = cpus[i];
      if (reach_[i] == Reach::kNone || cpu == queue) continue;
      if (stretch.allowed.has_value() && !stretch.allowed->Contains(cpu)) continue;
      const IntervalList idle = Clip(timeline_.idle().Idle(cpu), interval);
      if (idle.empty()) continue;
      if (reach_[i] == Reach::kIsolated || isolated_queue) {
        Append(idle, &not_balanced_);
      } else if (!known) {
        Append(idle, &possibly_);
      } else {
        Append(idle, &avoidable_);
        Append(Clip(timeline_.idle().TrulyIdle(cpu), interval), &truly_idle_);
        AddPlacement(cpu, interval);
      }
    }
  }

  Availability Take(const IntervalList& own_cpu_idle, const IntervalList& own_cpu_unknown) {
    Availability found;
    const IntervalList all = Difference(Merge(std::move(avoidable_)), own_cpu_idle);
    Append(Intersection(all, own_cpu_unknown), &possibly_);
    found.avoidable = Difference(all, own_cpu_unknown);
    found.truly_idle = Intersection(Merge(std::move(truly_idle_)), found.avoidable);
    found.placement = Intersection(Merge(std::move(placement_)), found.avoidable);
    found.possibly = Difference(Merge(std::move(possibly_)), own_cpu_idle);
    found.not_balanced = Difference(Merge(std::move(not_balanced_)), own_cpu_idle);
    found.not_balanced = Difference(found.not_balanced, found.avoidable);
    found.not_balanced = Difference(found.not_balanced, found.possibly);
    return found;
  }

 private:
  void AddPlacement(CpuId cpu, const Interval& interval) {
    if (!placed_at_ns_.has_value()) return;
    const CpuSet* allowed = affinity_.At(*placed_at_ns_);
    if (allowed == nullptr || !allowed->Contains(cpu)) return;
    const Interval* stay = FindContaining(timeline_.idle().Idle(cpu), *placed_at_ns_);
    if (stay == nullptr) return;
    const Interval stayed = Intersection(*stay, interval);
    if (!stayed.empty()) placement_.push_back(stayed);
  }

  const Timeline& timeline_;
  const AffinityTrack& affinity_;
  const std::optional<int64_t> placed_at_ns_;
  std::vector<Reach> reach_;
  IntervalList avoidable_;
  IntervalList truly_idle_;
  IntervalList possibly_;
  IntervalList not_balanced_;
  IntervalList placement_;
};

}  // namespace

Availability FindAvailability(const Timeline& timeline, TaskIndex task,
                              std::span<const TaskSpan> pieces, const Interval& clip,
                              std::optional<int64_t> placed_at_ns) {
  const AffinityTrack& affinity = timeline.AffinityOf(task);
  Finder finder(timeline, affinity, placed_at_ns);
  IntervalList own_idle;
  IntervalList own_unknown;
  for (const TaskSpan& piece : pieces) {
    const Interval interval = Intersection(piece.interval(), clip);
    if (interval.empty()) continue;
    for (const AffinityTrack::Stretch& stretch : affinity.In(interval)) {
      finder.Add(piece.cpu, stretch);
    }
    if (!piece.cpu.has_value()) continue;
    for (const Stint& stint : timeline.cpus().StintsIn(*piece.cpu, interval)) {
      const Interval stay = Intersection(stint.interval(), interval);
      if (stint.task == kIdleTask) own_idle.push_back(stay);
      if (stint.task == kNoTask) own_unknown.push_back(stay);
    }
  }
  return finder.Take(Merge(std::move(own_idle)), Merge(std::move(own_unknown)));
}

}  // namespace whylate
