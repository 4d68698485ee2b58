#include "analysis/attribution/decision.h"

namespace whylate {

Rank RankOf(const TaskStanding& occupant, const TaskStanding& waiting) {
  if (occupant.sched_class == SchedClass::kUnknown || waiting.sched_class == SchedClass::kUnknown) {
    return Rank::kUnknown;
  }
  // The enumerators stand in the order of the classes, highest first.
  if (occupant.sched_class != waiting.sched_class) {
    return occupant.sched_class < waiting.sched_class ? Rank::kHigher : Rank::kLower;
  }
  if (waiting.sched_class != SchedClass::kRealTime) return Rank::kSame;
  if (!occupant.rt_priority.has_value() || !waiting.rt_priority.has_value()) return Rank::kUnknown;
  if (*occupant.rt_priority == *waiting.rt_priority) return Rank::kSame;
  return *occupant.rt_priority > *waiting.rt_priority ? Rank::kHigher : Rank::kLower;
}

bool IsBelowRealTime(SchedClass sched_class) {
  return sched_class > SchedClass::kRealTime && sched_class != SchedClass::kUnknown;
}

std::optional<Decision> DecideBeforeIdleCpus(const WaitFacts& facts) {
  const bool is_rt = facts.waiting.sched_class == SchedClass::kRealTime;
  if (is_rt && facts.turned_below_rt) return Decision::kRtBandwidth;
  if (!facts.occupant_known) return Decision::kUndetermined;
  if (facts.occupant_is_idle) return Decision::kIdleExit;
  switch (RankOf(facts.occupant, facts.waiting)) {
    case Rank::kUnknown:
      return Decision::kUndetermined;
    case Rank::kLower:
      if (facts.occupant_ran_when_queued) return Decision::kNotPreemptible;
      break;
    case Rank::kHigher:
      return Decision::kHigherClass;
    case Rank::kSame:
      break;
  }
  return std::nullopt;
}

Decision DecideAfterIdleCpus(const WaitFacts& facts) {
  const bool same_class = RankOf(facts.occupant, facts.waiting) == Rank::kSame;
  if (facts.after_wakeup) return same_class ? Decision::kNoPreempt : Decision::kUndetermined;
  if (!facts.occupant_was_queued.has_value()) return Decision::kUndetermined;
  if (!*facts.occupant_was_queued) return Decision::kDisplaced;
  return same_class ? Decision::kSlice : Decision::kUndetermined;
}

}  // namespace whylate
