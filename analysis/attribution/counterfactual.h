// What would have been enough: the frame's completion without a subject, or without several.
//
// The saving of a set of subjects is its time from the start of the last absorbing block that is
// not wholly the set's own. Subjects are ordered by saving alone, then time, then name; the first
// one that is enough by itself is the verdict, else the shortest prefix that is, as a joint cause.
//
// Building one takes O(charges * log(charges)) and as much for the blocks' subjects.
//
//   Counterfactual without(delay, completion_ns, deadline_ns);
//   without.Judge(Scenario()).subjects;   // indexes in without.names()
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_COUNTERFACTUAL_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_COUNTERFACTUAL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/delay.h"

namespace whylate {

// What else might be true, for asking whether a judgement would survive it.
struct Scenario {
  // The time charged to "unknown" is somebody's: it counts by `bonus_ns` alone.
  bool unknown_given_away = false;
  // Added to a subject's saving (never below 0), by index; missing ones get nothing. The index
  // names().size() is a subject of which the recording has nothing.
  std::vector<int64_t> bonus_ns;
  // Time of these subjects counts in segments that begin at `from_ns` or later only: what they
  // saved before it may have been lost in a sleep that nobody saw.
  std::vector<size_t> absorbed;
  int64_t from_ns = 0;
};

struct Judgement {
  std::vector<size_t> subjects;  // more than one: joint
  bool sufficient = false;
  int64_t saving_ns = 0;
};

// What is asked for: the shortest prefix that is enough, or the first subject, enough or not.
enum class Ask : uint8_t { kEnough, kLargest };

class Counterfactual {
 public:
  Counterfactual(const FrameDelay& delay, int64_t completion_ns, int64_t deadline_ns,
                 Ask ask = Ask::kEnough);

  const std::vector<std::string>& names() const { return names_; }
  // Time charged to each subject.
  const std::vector<int64_t>& ns() const { return ns_; }
  // O(charges + blocks' subjects + subjects * log(subjects)).
  Judgement Judge(const Scenario& scenario) const;
  // Of one subject alone, as recorded. O(1).
  int64_t SavingNs(size_t subject) const { return alone_ns_[subject]; }

 private:
  struct Item {
    size_t subject;
    int64_t start_ns;
    int64_t ns;
  };
  struct Block {
    int64_t start_ns;
    std::vector<size_t> subjects;  // each once
  };
  class GrowingSet;

  void FindAbsorption();
  // By index, for each subject and the one that nobody saw.
  std::vector<int64_t> SavingsAlone(const Scenario& scenario) const;
  std::vector<size_t> OrderBySaving(const std::vector<int64_t>& alone_ns) const;

  int64_t needed_ns_;  // a saving of so much meets the deadline
  Ask ask_;
  std::vector<std::string> names_;
  std::vector<int64_t> ns_;
  std::vector<Item> items_;  // latest start first
  std::vector<Block>
      blocks_;  // latest start first; those of no subject absorb nothing and are gone
  std::vector<std::vector<size_t>> blocks_of_;  // by subject, indexes in blocks_
  // What a subject alone saves counts from the start of the last block that is not wholly its own:
  // the last of all, but for the subject whose own that is.
  int64_t last_block_ns_;
  std::optional<size_t> last_block_owner_;
  int64_t last_block_of_others_ns_;
  std::vector<int64_t> alone_ns_;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_COUNTERFACTUAL_H_
