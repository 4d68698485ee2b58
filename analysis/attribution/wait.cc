#include "analysis/attribution/wait.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "analysis/attribution/availability.h"
#include "analysis/attribution/decision.h"
#include "analysis/attribution/stolen.h"
#include "analysis/timeline/idle.h"

namespace whylate {
namespace {

constexpr size_t kDecisions = static_cast<size_t>(Decision::kUndetermined) + 1;

// Nanoseconds by decision; the first row of the table wins a tie.
class Tally {
 public:
  void Add(Decision decision, int64_t ns) { ns_[static_cast<size_t>(decision)] += ns; }
  Decision Largest() const {
    return static_cast<Decision>(std::max_element(ns_.begin(), ns_.end()) - ns_.begin());
  }

 private:
  std::array<int64_t, kDecisions> ns_{};
};

// When the waiting task last came onto a CPU before it was preempted.
struct LastSwitchIn {
  int64_t time_ns = 0;
  CpuId cpu;
};

class Waiter {
 public:
  Waiter(const Timeline& timeline, const Cast& cast, TaskIndex task, WindowPart* part)
      : timeline_(timeline),
        cast_(cast),
        task_(task),
        segment_(part->segment),
        pieces_(part->spans),
        clip_{part->segment.start_ns, part->segment.end_ns} {
    facts_.after_wakeup = part->segment.kind == SegmentKind::kRunqueueWait;
    const std::span<const TaskSpan> all = timeline.spans().Spans(task);
    FindStanding(all);
    segment_.standing = facts_.waiting;
    if (!facts_.after_wakeup) FindLastSwitchIn(all);
  }

  std::vector<WaitSlice> Run() {
    available_ = FindAvailability(timeline_, task_, pieces_, clip_, PlacedAt());
    segment_.avoidable_ns = TotalNs(available_.avoidable);
    segment_.avoidable_sched_idle_ns = segment_.avoidable_ns - TotalNs(available_.truly_idle);
    segment_.possibly_avoidable_ns = TotalNs(available_.possibly);
    segment_.not_balanced_ns = TotalNs(available_.not_balanced);
    if (segment_.avoidable_ns < kAvoidableFloorNs) {
      available_.avoidable.clear();
      available_.placement.clear();
    }
    int64_t queued_here_ns = 0;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const bool same_queue = i > 0 && pieces_[i].cpu == pieces_[i - 1].cpu;
      if (!same_queue) queued_here_ns = pieces_[i].start_ns;
      AddPiece(pieces_[i], queued_here_ns);
    }
    segment_.decision = tally_.Largest();
    return std::move(slices_);
  }

 private:
  void FindStanding(std::span<const TaskSpan> all) {
    facts_.waiting = StandingOf(pieces_.front(), timeline_.events());
    if (facts_.waiting.sched_class != SchedClass::kUnknown) return;
    const TaskSpan* next = pieces_.data() + pieces_.size();
    if (next == all.data() + all.size() || next->in_event == kNoEvent) return;
    facts_.waiting = std::get<SwitchEvent>(timeline_.event(next->in_event).body).next_standing;
  }

  void FindLastSwitchIn(std::span<const TaskSpan> all) {
    if (pieces_.data() == all.data()) return;
    const TaskSpan& before = *(pieces_.data() - 1);
    // A run that was only found under way began at a time that is not known.
    const bool began = before.in_event != kNoEvent || before.repaired;
    if (before.state != TaskState::kRunning || !before.cpu.has_value() || !began) return;
    last_switch_in_ = {before.start_ns, *before.cpu};
  }

  // The waking, where the wake-up that began the wait chose a CPU.
  std::optional<int64_t> PlacedAt() const {
    const int32_t event = pieces_.front().waking_event;
    if (!facts_.after_wakeup || event == kNoEvent) return std::nullopt;
    const auto& waking = std::get<WakingEvent>(timeline_.event(event).body);
    if (waking.wakee_on_rq.value_or(true)) return std::nullopt;
    return timeline_.event(event).time_ns;
  }

  std::optional<bool> WasQueued(TaskIndex occupant) const {
    if (!last_switch_in_.has_value()) return std::nullopt;
    const TaskSpan* span = timeline_.spans().SpanAt(occupant, last_switch_in_->time_ns);
    if (span == nullptr || span->state == TaskState::kUnknown) return std::nullopt;
    // Found queued by its next switch-in, where it may as well have slept until then.
    const bool inferred =
        span->state == TaskState::kQueued && span->queued_by == QueuedBy::kUnknown;
    if (inferred && !timeline_.spans().shows_wakeups()) return std::nullopt;
    const bool on_a_queue = span->state == TaskState::kQueued || span->state == TaskState::kRunning;
    if (!on_a_queue) return false;
    if (!span->cpu.has_value()) return std::nullopt;
    return *span->cpu == last_switch_in_->cpu;
  }

  void AddPiece(const TaskSpan& piece, int64_t queued_here_ns) {
    const Interval within = Intersection(piece.interval(), clip_);
    if (within.empty()) return;
    int64_t at_ns = within.start_ns;
    if (piece.cpu.has_value()) {
      facts_.turned_below_rt = false;
      // From the time it was queued here on, which may be before the window.
      const Interval since{queued_here_ns, within.end_ns};
      for (const Stint& stint : timeline_.cpus().StintsIn(*piece.cpu, since)) {
        SetOccupant(stint, queued_here_ns);
        const Interval stretch = Intersection(stint.interval(), within);
        if (stretch.empty()) continue;
        if (at_ns < stretch.start_ns) AddUnknown(piece.cpu, {at_ns, stretch.start_ns});
        AddStretch(*piece.cpu, stint, stretch);
        at_ns = stretch.end_ns;
      }
    }
    if (at_ns < within.end_ns) AddUnknown(piece.cpu, {at_ns, within.end_ns});
  }

  void SetOccupant(const Stint& stint, int64_t queued_here_ns) {
    facts_.occupant_known = stint.task != kNoTask;
    facts_.occupant_is_idle = stint.task == kIdleTask;
    facts_.occupant = StandingOf(stint, timeline_.events());
    facts_.occupant_ran_when_queued = stint.start_ns < queued_here_ns;
    // A stint that was found under way after a gap is no turn of the CPU.
    const bool has_start =
        stint.repaired ||
        (stint.in_event != kNoEvent && timeline_.event(stint.in_event).time_ns == stint.start_ns);
    const bool turned_here = stint.start_ns >= queued_here_ns && has_start && facts_.occupant_known;
    if (turned_here && IsBelowRealTime(facts_.occupant.sched_class)) facts_.turned_below_rt = true;
    facts_.occupant_was_queued =
        stint.task > kIdleTask && !facts_.after_wakeup ? WasQueued(stint.task) : std::nullopt;
  }

  void AddUnknown(std::optional<CpuId> cpu, const Interval& interval) {
    Stint stint;
    stint.start_ns = interval.start_ns;
    stint.end_ns = interval.end_ns;
    SetOccupant(stint, interval.start_ns);
    AddStretch(cpu, stint, interval);
  }

  void AddStretch(std::optional<CpuId> cpu, const Stint& stint, const Interval& interval) {
    Occupant occupant;
    occupant.task = cast_.NameOf(stint.task, interval.start_ns);
    if (stint.task != kNoTask) occupant.tid = timeline_.tasks().info(stint.task).key.tid;
    occupant.role = cast_.RoleOf(stint.task);
    occupant.standing = facts_.occupant;
    occupant.cpu = cpu;
    occupant.start_ns = interval.start_ns;
    occupant.end_ns = interval.end_ns;
    occupant.parts = StolenParts(timeline_, stint, interval);
    Tally tally;
    const size_t first = slices_.size();
    Decide(interval);
    for (size_t i = first; i < slices_.size(); ++i) {
      WaitSlice& slice = slices_[i];
      slice.occupant = segment_.occupants.size();
      slice.subject = slice.decision == Decision::kRtBandwidth && stint.task == kIdleTask
                          ? kSubjectQuota
                          : cast_.SubjectOf(stint.task, interval.start_ns);
      tally.Add(slice.decision, slice.end_ns - slice.start_ns);
      tally_.Add(slice.decision, slice.end_ns - slice.start_ns);
    }
    occupant.decision = tally.Largest();
    segment_.occupants.push_back(std::move(occupant));
  }

  void Slice(int64_t start_ns, int64_t end_ns, Decision decision) {
    if (start_ns >= end_ns) return;
    WaitSlice slice;
    slice.start_ns = start_ns;
    slice.end_ns = end_ns;
    slice.decision = decision;
    slices_.push_back(std::move(slice));
  }

  // One stretch of one occupant, cut where the idleness of other CPUs changes the decision.
  void Decide(const Interval& interval) {
    if (const std::optional<Decision> first = DecideBeforeIdleCpus(facts_)) {
      Slice(interval.start_ns, interval.end_ns, *first);
      return;
    }
    const Decision last = DecideAfterIdleCpus(facts_);
    int64_t at_ns = interval.start_ns;
    for (const Interval& avoidable : Clip(available_.avoidable, interval)) {
      Slice(at_ns, avoidable.start_ns, last);
      at_ns = avoidable.start_ns;
      for (const Interval& placement : Clip(available_.placement, avoidable)) {
        Slice(at_ns, placement.start_ns, Decision::kMissedPull);
        Slice(placement.start_ns, placement.end_ns, Decision::kPlacement);
        at_ns = placement.end_ns;
      }
      Slice(at_ns, avoidable.end_ns, Decision::kMissedPull);
      at_ns = avoidable.end_ns;
    }
    Slice(at_ns, interval.end_ns, last);
  }

  const Timeline& timeline_;
  const Cast& cast_;
  const TaskIndex task_;
  Segment& segment_;
  const std::span<const TaskSpan> pieces_;
  const Interval clip_;
  WaitFacts facts_;
  std::optional<LastSwitchIn> last_switch_in_;
  Availability available_;
  Tally tally_;
  std::vector<WaitSlice> slices_;
};

}  // namespace

std::vector<WaitSlice> AnalyzeWait(const Timeline& timeline, const Cast& cast, TaskIndex task,
                                   WindowPart* part) {
  return Waiter(timeline, cast, task, part).Run();
}

}  // namespace whylate
