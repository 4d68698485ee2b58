// Why a task that could run did not: the scheduler's decision at an instant of a wait.
//
// The table is tested from the top, the first row that matches decides:
//   rt_bandwidth     the waiting task is FIFO/RR, and since it was queued on this CPU the CPU
//                    turned to something below RT; until the task runs (since Linux 6.12 the fair
//                    server, before it RT throttling)
//   idle_exit        the CPU runs its idle task
//   not_preemptible  an occupant of lower class or RT priority that ran when the task was queued
//                    here, and stayed
//   higher_class     an occupant of higher class or RT priority
//   placement        after a wake-up that chose a CPU: an allowed CPU idle then has stayed idle
//   missed_pull      another allowed CPU is idle
//   displaced        preempted; the occupant was not on this runqueue when the task last came onto
//                    it
//   slice            preempted; any other occupant of the same class
//   no_preempt       after a wake-up; an occupant of the same class
//   undetermined     nothing of that, or not known
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_DECISION_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_DECISION_H_

#include <optional>

#include "analysis/attribution/explanation.h"
#include "analysis/model/sched_event.h"

namespace whylate {

// How one task stands to another in the order of classes (enum SchedClass) and RT priorities.
enum class Rank { kLower, kSame, kHigher, kUnknown };
Rank RankOf(const TaskStanding& occupant, const TaskStanding& waiting);

// True below FIFO/RR: fair, ext, SCHED_IDLE and the idle task.
bool IsBelowRealTime(SchedClass sched_class);

// What the table needs to know of an instant. All of it is constant during a stretch, the idleness
// of other CPUs apart.
struct WaitFacts {
  TaskStanding waiting;
  bool after_wakeup = false;  // else preempted
  bool occupant_known = false;
  bool occupant_is_idle = false;
  TaskStanding occupant;
  bool occupant_ran_when_queued = false;  // and has stayed
  bool turned_below_rt = false;           // this CPU, since the task was queued here
  // Whether the occupant was on the runqueue when the waiting task last came onto it.
  std::optional<bool> occupant_was_queued;
};

// Rows 1 to 4; unset where none matches and idle CPUs are to be looked at. The first row holds
// whoever the occupant is; else an unknown occupant or rank is undetermined: it might be a row that
// comes first.
std::optional<Decision> DecideBeforeIdleCpus(const WaitFacts& facts);
// Rows 7 to 10.
Decision DecideAfterIdleCpus(const WaitFacts& facts);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_DECISION_H_
