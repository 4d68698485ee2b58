// What of the watched threads was changed by somebody while a cell ran: a daemon demotes them, a
// script pins them. Such a cell measured two settings.
//
//   for (const Change& change : FindChanges(timeline, cast)) change.what;  // "policy"
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_CHANGES_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_CHANGES_H_

#include <string>
#include <vector>

#include "analysis/attribution/cast.h"
#include "analysis/attribution/explanation.h"
#include "analysis/model/sched_event.h"
#include "analysis/timeline/timeline.h"

namespace whylate {

// "real-time 50", "nice -5", "SCHED_IDLE", "deadline"; "" for a class that is not known. A real-time
// priority is the effective one.
std::string StandingInWords(const TaskStanding& standing);

// Between the first release and the end of the cell's releases, in order of time. What a thread does
// to itself counts too. A change that no system call of the recording explains has nobody's name and
// the time of the first event that shows it; a priority that a lock lent is none. O(n).
std::vector<Change> FindChanges(const Timeline& timeline, const Cast& cast);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_CHANGES_H_
