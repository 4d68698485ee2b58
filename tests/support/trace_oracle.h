// The definitions of an explanation, worked out the slow way: instant by instant, over a complete
// recording with seeds and without losses (see trace_generator.h). Shares no code with the
// analysis.
#ifndef WHYLATE_TESTS_SUPPORT_TRACE_ORACLE_H_
#define WHYLATE_TESTS_SUPPORT_TRACE_ORACLE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/model/recording.h"

namespace whylate {

// One instant (of the given length) of the window.
struct OracleInstant {
  std::string kind;      // of its segment
  std::string occupant;  // name, for waits
  std::string subject;   // "" while running
  std::string decision;  // for waits
  bool avoidable = false;
};

struct OracleFrame {
  std::vector<OracleInstant> instants;
  // Time by "subject/kind/decision", running apart.
  std::map<std::string, int64_t> causes;
  // Time beyond the demand.
  int64_t self_ns = 0;
  // The verdict's subjects in order, and its saving; empty where running beyond the demand leaves
  // the position of a saving open (some of it lies on both sides of an absorbing block).
  std::vector<std::string> subjects;
  int64_t saving_ns = 0;
  bool verdict_known = false;
};

// Of the first frame. All times are multiples of `unit_ns`. O(window / unit * (tasks + CPUs)).
OracleFrame Oracle(const Recording& recording, int64_t unit_ns);

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_TRACE_ORACLE_H_
