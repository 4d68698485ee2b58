// What must hold of every explanation, whatever happened: times tile, and sums are conserved.
#ifndef WHYLATE_TESTS_SUPPORT_EXPLANATION_CHECKS_H_
#define WHYLATE_TESTS_SUPPORT_EXPLANATION_CHECKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/attribution/explanation.h"
#include "analysis/model/frame.h"

namespace whylate {

// One line for each thing that does not hold; empty for none. `explanation` is of a cell with a
// trace.
//
//   segments tile [release, completion) of each late frame; occupants tile each wait; parts and
//   avoidable time fit into what they are of; frames and frames_incomplete over the causes, and over
//   the subjects, add up to late + dropped; and ns to the sum of
//   completion - release - min(ran, demand).
std::vector<std::string> BrokenInvariants(const CellFrames& frames, const Explanation& explanation);

// Time in the segments of one kind.
int64_t SegmentNs(const Miss& miss, SegmentKind kind);
// Time in waits that occupants of `role` had ("load:burn").
int64_t OccupantNs(const Miss& miss, const std::string& role);

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_EXPLANATION_CHECKS_H_
