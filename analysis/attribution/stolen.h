// Time that interrupts and the hypervisor took from a stay on a CPU.
//
// Counters are cumulative, so they give amounts and not positions: a cut stint gets its share by
// length, marked as prorated.
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_STOLEN_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_STOLEN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/attribution/explanation.h"
#include "analysis/timeline/cpu_occupancy.h"
#include "analysis/timeline/interval.h"
#include "analysis/timeline/timeline.h"

namespace whylate {

// The share of `amount` that falls on [begin, end) of something `whole` long. Adjoining shares sum
// to the amount: ShareOf(a, 0, x, w) + ShareOf(a, x, w, w) == a. 0 <= begin <= end <= whole.
int64_t ShareOf(int64_t amount, int64_t begin, int64_t end, int64_t whole);

// Who is charged for it: the source of an interrupt, else its kind.
std::string SubjectOf(const Part& part);

// What was taken from `stint` within `cut`, in the order nmi, irq, softirq, steal, by source where
// that is recorded;
// together no more than the cut's length. Where an end of the stint
// has no record, its share of what was taken between the nearest switches that have; empty where none
// has.
std::vector<Part> StolenParts(const Timeline& timeline, const Stint& stint, const Interval& cut);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_STOLEN_H_
