// What would have been enough: the frame's completion without a subject, or without several.
//
// The saving of a set of subjects is its time from the start of the last absorbing block that is
// not wholly the set's own. Subjects are ordered by saving alone, then time, then name; the first
// one that is enough by itself is the verdict, else the shortest prefix that is, as a joint cause.
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
  // O(subjects * (charges + blocks)).
  Judgement Judge(const Scenario& scenario) const;
  // Of one subject alone, as recorded.
  int64_t SavingNs(size_t subject) const;

 private:
  int64_t SavingOf(const std::vector<bool>& in_set, const Scenario& scenario) const;
  size_t IndexOf(const std::string& name);

  int64_t needed_ns_;  // a saving of so much meets the deadline
  Ask ask_;
  std::vector<std::string> names_;
  std::vector<int64_t> ns_;
  struct Item {
    size_t subject;
    int64_t start_ns;
    int64_t ns;
  };
  std::vector<Item> items_;
  struct Block {
    int64_t start_ns;
    std::vector<size_t> subjects;
  };
  std::vector<Block> blocks_;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_COUNTERFACTUAL_H_
