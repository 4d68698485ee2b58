// Holds explanations against what was really done: the injectors' own accounts.
//
//   Score score;
//   score.Add(run, proof);      // each run of a scenario
//   score.wrong;                // empty, or what is wrong
//   score.Unproven(proof);      // empty, or what else the scenario's proof lacks
//
// Pure: no clock, no machine.
#ifndef WHYLATE_USERSPACE_SELFTEST_SCORE_H_
#define WHYLATE_USERSPACE_SELFTEST_SCORE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/explanation.h"
#include "userspace/selftest/scenario.h"

namespace whylate {

// So much of each stroke of an injection need not be named.
inline constexpr int64_t kAllButNs = 300'000;

// Who must be named, and as what.
struct Expectation {
  std::string injection;            // by its name
  std::vector<std::string> kinds;   // a verdict that names it has one of these
  std::vector<Decision> decisions;  // one of these has most of its time; empty: any
  std::string stage = "";           // of a chain: which of them it must say was held up
};

// What the runs of a scenario must show.
struct Proof {
  std::vector<Expectation> expected;
  // Where nobody is to be named: the kind of every complete verdict; "" for any.
  std::string only_kind;
  bool needs_late_frames = true;
  bool needs_losses = false;  // of events
  // That another CPU could have been used is known; that none could.
  bool some_avoidable = false;
  bool none_avoidable = false;
  // What throttled a late frame is charged this exactly, and so is what came after; unset: see
  // short_named.
  std::optional<int64_t> split_ns;
  // Without this subject alone no frame would have been in time.
  std::string saves_nothing;
};

// Of the runs of one scenario.
struct Score {
  int64_t runs = 0;
  int64_t late = 0;
  int64_t dropped = 0;
  int64_t complete = 0;    // verdicts
  int64_t incomplete = 0;  // verdicts
  uint64_t lost = 0;       // events
  uint64_t breaks = 0;     // of chains, by hidden tasks
  // Over all late windows: what the expected ones did by their own accounts, how often, and what of it
  // was charged to them.
  int64_t injections = 0;
  int64_t injected_ns = 0;
  int64_t named_ns = 0;
  // Late windows where less than 97 % of it was, and more than 300 us an injection were not.
  std::vector<std::string> short_named;
  // Late windows that are split, and those whose split is not as exact as the proof asks.
  int64_t splits = 0;
  int64_t far_splits = 0;  // of these, off by more than 300 us
  std::vector<std::string> badly_split;
  // Late frames that an expected one alone made late, by its own account; and of these, those whose
  // verdict names it.
  int64_t caused = 0;
  int64_t recalled = 0;
  std::map<std::string, int64_t> named_ns_of;  // the same by injection
  int64_t blamed = 0;  // late frames with a complete verdict that names an expected one
  int64_t delay_ns = 0;
  int64_t unknown_ns = 0;
  int64_t avoidable_ns = 0;
  // Of what was charged to each injection, by decision, else by kind.
  std::map<std::string, std::map<std::string, int64_t>> decision_ns;
  // Late frames and the releases that they skipped, by the subject of a complete verdict.
  std::map<std::string, int64_t> confusion;
  int64_t incomplete_frames = 0;  // the same of incomplete ones
  int64_t saved_by_nothing = 0;   // frames, by Proof::saves_nothing
  // Complete verdicts that name a subject whose time in the window, by its account, is smaller than
  // the overrun, or that was not there, or as something else than the proof says; or that what was
  // lost in the window could have changed.
  std::vector<std::string> wrong;

  void Add(const ScenarioRun& run, const Proof& proof);

  // Where the machine is not quiet, what takes a CPU that is idle, or nobody else on one, is not asked
  // for.
  std::vector<std::string> Unproven(const Proof& proof, bool quiet) const;

  // Of what was injected less than 97 % is named, and more than 300 us an injection are not.
  bool IsShort() const;
  double NamedShare() const;     // 1 where nothing was injected
  double CompleteShare() const;  // 1 where no frame was late
  double UnknownShare() const;
  // The decision with most ns of what was charged to the injection; "" without any.
  std::string MainDecision(const std::string& injection) const;
  // One line of `key=value` fields.
  std::string ToString() const;
};

// What an explanation charged to an injection within one late frame.
int64_t NamedNs(const Miss& miss, const Injection& injection);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SELFTEST_SCORE_H_
