#include "analysis/attribution/counterfactual.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace whylate {

Counterfactual::Counterfactual(const FrameDelay& delay, int64_t completion_ns, int64_t deadline_ns,
                               Ask ask)
    : needed_ns_(completion_ns - deadline_ns), ask_(ask) {
  for (const Charge& charge : delay.charges) {
    const size_t subject = IndexOf(charge.subject);
    ns_[subject] += charge.ns;
    items_.push_back({subject, charge.segment_start_ns, charge.ns});
  }
  for (const AbsorbingBlock& block : delay.blocks) {
    Block own{block.start_ns, {}};
    for (const std::string& name : block.subjects) own.subjects.push_back(IndexOf(name));
    blocks_.push_back(std::move(own));
  }
}

size_t Counterfactual::IndexOf(const std::string& name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<size_t>(found - names_.begin());
  names_.push_back(name);
  ns_.push_back(0);
  return names_.size() - 1;
}

int64_t Counterfactual::SavingOf(const std::vector<bool>& in_set, const Scenario& scenario) const {
  int64_t from_ns = std::numeric_limits<int64_t>::min();
  for (const Block& block : blocks_) {
    const bool wholly_in = std::all_of(block.subjects.begin(), block.subjects.end(),
                                       [&](size_t subject) { return in_set[subject]; });
    if (!wholly_in) from_ns = std::max(from_ns, block.start_ns);
  }
  std::vector<int64_t> starts(in_set.size(), from_ns);
  for (const size_t subject : scenario.absorbed) {
    starts[subject] = std::max(from_ns, scenario.from_ns);
  }
  std::vector<int64_t> saving(in_set.size(), 0);
  for (const Item& item : items_) {
    if (!in_set[item.subject] || item.start_ns < starts[item.subject]) continue;
    if (scenario.unknown_given_away && names_[item.subject] == kSubjectUnknown) continue;
    saving[item.subject] += item.ns;
  }
  int64_t total_ns = 0;
  for (size_t i = 0; i < in_set.size(); ++i) {
    if (!in_set[i]) continue;
    const int64_t bonus_ns = i < scenario.bonus_ns.size() ? scenario.bonus_ns[i] : 0;
    total_ns += std::max<int64_t>(0, saving[i] + bonus_ns);
  }
  return total_ns;
}

int64_t Counterfactual::SavingNs(size_t subject) const {
  std::vector<bool> in_set(names_.size() + 1, false);
  in_set[subject] = true;
  return SavingOf(in_set, Scenario());
}

Judgement Counterfactual::Judge(const Scenario& scenario) const {
  // The last one is the subject that nobody saw.
  const size_t count = names_.size() + 1;
  std::vector<int64_t> alone_ns(count);
  std::vector<bool> in_set(count, false);
  for (size_t i = 0; i < count; ++i) {
    in_set[i] = true;
    alone_ns[i] = SavingOf(in_set, scenario);
    in_set[i] = false;
  }
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  auto key = [&](size_t i) {
    const bool hidden = i == names_.size();
    return std::tuple(-alone_ns[i], hidden ? int64_t{0} : -ns_[i],
                      hidden ? std::string() : names_[i]);
  };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  Judgement judgement;
  for (const size_t subject : order) {
    // Nobody else is left, and nobody is what remains.
    if (subject == names_.size() && alone_ns[subject] == 0) continue;
    judgement.subjects.push_back(subject);
    in_set[subject] = true;
    judgement.saving_ns = SavingOf(in_set, scenario);
    judgement.sufficient = judgement.saving_ns >= needed_ns_;
    if (judgement.sufficient || ask_ == Ask::kLargest) break;
  }
  return judgement;
}

}  // namespace whylate
