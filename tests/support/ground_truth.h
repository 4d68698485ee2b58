// Holds an explanation against what was really done: the injectors' own accounts.
//
//   Score score;
//   score.Add(run, "hog");
//   EXPECT_THAT(score.wrong, IsEmpty());
#ifndef WHYLATE_TESTS_SUPPORT_GROUND_TRUTH_H_
#define WHYLATE_TESTS_SUPPORT_GROUND_TRUTH_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/model/frame.h"
#include "analysis/model/ids.h"
#include "tests/support/scenario.h"
#include "tests/support/tracefs_witness.h"
#include "userspace/trace/trace_source.h"

namespace whylate {

// Of the runs of one scenario. Where only an injection on the CPU that the workload was queued on
// can delay it, the caller narrows the injections to that time (WhileAtHome) before it adds a run;
// what is injected, caused and wrong is then by the narrowed account.
struct Score {
  int64_t runs = 0;
  int64_t late = 0;
  int64_t dropped = 0;
  int64_t complete = 0;
  int64_t incomplete = 0;
  uint64_t lost = 0;    // events
  uint64_t breaks = 0;  // of chains, by hidden tasks
  // Over all late windows: what the subject did by its own account, and what was charged to it.
  int64_t injected_ns = 0;
  int64_t named_ns = 0;
  // Late windows where less than 97 % of it was, and more than 300 us an injection were not.
  std::vector<std::string> short_named;
  // Late frames that the subject alone made late, by its own account; and of these, those whose
  // verdict names it.
  int64_t caused = 0;
  int64_t recalled = 0;
  // Late frames that have a complete verdict that names it.
  int64_t blamed = 0;
  int64_t delay_ns = 0;
  int64_t unknown_ns = 0;
  int64_t avoidable_ns = 0;
  std::map<std::string, int64_t> decision_ns;  // of what was charged to the subject
  std::map<std::string, int64_t> verdicts;     // late frames by subject
  // Complete verdicts that name a subject whose time in the window, by the injectors' account, is
  // smaller than the overrun; or an injector that was not running.
  std::vector<std::string> wrong;
  std::vector<std::string> broken;  // see BrokenInvariants()

  // `subject` is the name of an injector, or "" where none is to be named.
  void Add(const ScenarioRun& run, const std::string& subject);

  double NamedShare() const;
  double CompleteShare() const;
  double UnknownShare() const;
  // The decision with most ns; "" without any.
  std::string MainDecision() const;
  // One line of `key=value` fields.
  std::string ToString() const;
};

// The same question put to a witness: when `threads` ran on `cpu`, by its account.
std::vector<TimeWindow> RunTimes(const WitnessRecording& witness, CpuId cpu,
                                 const std::set<Tid>& threads);

// Of `times`, what passed while `workload` was on the runqueue of `home`, by the account of a witness:
// each time it is woken it begins there, and it is away while it was moved or switched in elsewhere
// last. The witness does not record where a wake-up placed it: this is exact only where `workload`
// may use nothing but `home` whenever it is woken, as in the scenario whose helper narrows its mask
// to `home` while it sleeps and widens it when it runs.
std::vector<TimeWindow> WhileAtHome(const std::vector<TimeWindow>& times,
                                    const WitnessRecording& witness, CpuId home, Tid workload);

// Of `times`, what passed while `stage` of a chain (not the first one) held a frame, by the stages' own
// clocks.
std::vector<TimeWindow> WhileStageHolds(const std::vector<TimeWindow>& times,
                                        const CellFrames& frames, size_t stage);

// The part of [begin, end) that `intervals` (disjoint) cover.
int64_t OverlapNs(const std::vector<TimeWindow>& intervals, int64_t begin_ns, int64_t end_ns);

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_GROUND_TRUTH_H_
