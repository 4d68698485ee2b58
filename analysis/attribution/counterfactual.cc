#include "analysis/attribution/counterfactual.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace whylate {
namespace {

constexpr int64_t kAlways = std::numeric_limits<int64_t>::min();

struct StartsLater {
  template <typename T>
  bool operator()(const T& a, const T& b) const {
    return a.start_ns > b.start_ns;
  }
};

int64_t BonusNs(const Scenario& scenario, size_t subject) {
  return subject < scenario.bonus_ns.size() ? scenario.bonus_ns[subject] : 0;
}

// What of the recorded time counts in a scenario, whatever the set.
class Counted {
 public:
  Counted(const std::vector<std::string>& names, const Scenario& scenario)
      : from_ns_(names.size() + 1, kAlways) {
    for (const size_t subject : scenario.absorbed) from_ns_[subject] = scenario.from_ns;
    if (!scenario.unknown_given_away) return;
    const auto unknown = std::find(names.begin(), names.end(), kSubjectUnknown);
    if (unknown != names.end()) given_away_ = static_cast<size_t>(unknown - names.begin());
  }

  bool Has(size_t subject, int64_t start_ns) const {
    return start_ns >= from_ns_[subject] && subject != given_away_;
  }

 private:
  std::vector<int64_t> from_ns_;
  std::optional<size_t> given_away_;
};

}  // namespace

// The saving of a set to which subjects are added. The more is in it, the earlier is the last block
// that is not wholly its own, so that each block and each item is passed once.
class Counterfactual::GrowingSet {
 public:
  GrowingSet(const Counterfactual& without, const Scenario& scenario)
      : without_(without),
        scenario_(scenario),
        counted_(without.names_, scenario),
        in_set_(without.names_.size() + 1, false),
        saving_ns_(without.names_.size() + 1, 0) {
    for (const Block& block : without.blocks_) missing_.push_back(block.subjects.size());
    PassItems();
  }

  void Add(size_t subject) {
    in_set_[subject] = true;
    total_ns_ += ShareNs(subject);
    if (subject < without_.blocks_of_.size()) {
      for (const size_t block : without_.blocks_of_[subject]) --missing_[block];
    }
    const size_t before = last_block_;
    while (last_block_ < missing_.size() && missing_[last_block_] == 0) ++last_block_;
    if (last_block_ != before) PassItems();
  }

  int64_t saving_ns() const { return total_ns_; }

 private:
  int64_t ShareNs(size_t subject) const {
    return std::max<int64_t>(0, saving_ns_[subject] + BonusNs(scenario_, subject));
  }

  void PassItems() {
    const int64_t from_ns =
        last_block_ < without_.blocks_.size() ? without_.blocks_[last_block_].start_ns : kAlways;
    for (; next_item_ < without_.items_.size(); ++next_item_) {
      const Item& item = without_.items_[next_item_];
      if (item.start_ns < from_ns) break;
      if (!counted_.Has(item.subject, item.start_ns)) continue;
      const int64_t before_ns = ShareNs(item.subject);
      saving_ns_[item.subject] += item.ns;
      if (in_set_[item.subject]) total_ns_ += ShareNs(item.subject) - before_ns;
    }
  }

  const Counterfactual& without_;
  const Scenario& scenario_;
  const Counted counted_;
  std::vector<bool> in_set_;
  std::vector<size_t> missing_;  // by block: how many of its subjects are not in the set
  size_t last_block_ = 0;        // the first in without_.blocks_ that is not wholly the set's
  size_t next_item_ = 0;
  std::vector<int64_t> saving_ns_;  // by subject, in the set or not
  int64_t total_ns_ = 0;
};

Counterfactual::Counterfactual(const FrameDelay& delay, int64_t completion_ns, int64_t deadline_ns,
                               Ask ask)
    : needed_ns_(completion_ns - deadline_ns), ask_(ask) {
  absl::flat_hash_map<absl::string_view, size_t> index;
  const auto index_of = [&](const std::string& name) {
    const auto [found, is_new] = index.try_emplace(name, names_.size());
    if (is_new) {
      names_.push_back(name);
      ns_.push_back(0);
    }
    return found->second;
  };
  items_.reserve(delay.charges.size());
  for (const Charge& charge : delay.charges) {
    const size_t subject = index_of(charge.subject);
    ns_[subject] += charge.ns;
    items_.push_back({subject, charge.segment_start_ns, charge.ns});
  }
  for (const AbsorbingBlock& block : delay.blocks) {
    Block own{block.start_ns, {}};
    for (const std::string& name : block.subjects) own.subjects.push_back(index_of(name));
    std::sort(own.subjects.begin(), own.subjects.end());
    own.subjects.erase(std::unique(own.subjects.begin(), own.subjects.end()), own.subjects.end());
    if (!own.subjects.empty()) blocks_.push_back(std::move(own));
  }
  FindAbsorption();
  alone_ns_ = SavingsAlone(Scenario());
}

void Counterfactual::FindAbsorption() {
  std::stable_sort(items_.begin(), items_.end(), StartsLater());
  std::stable_sort(blocks_.begin(), blocks_.end(), StartsLater());
  blocks_of_.resize(names_.size());
  for (size_t i = 0; i < blocks_.size(); ++i) {
    for (const size_t subject : blocks_[i].subjects) blocks_of_[subject].push_back(i);
  }
  last_block_ns_ = blocks_.empty() ? kAlways : blocks_.front().start_ns;
  last_block_of_others_ns_ = last_block_ns_;
  if (blocks_.empty() || blocks_.front().subjects.size() > 1) return;
  last_block_owner_ = blocks_.front().subjects.front();
  const auto of_others = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& block) {
    return block.subjects.size() > 1 || block.subjects.front() != *last_block_owner_;
  });
  last_block_of_others_ns_ = of_others == blocks_.end() ? kAlways : of_others->start_ns;
}

std::vector<int64_t> Counterfactual::SavingsAlone(const Scenario& scenario) const {
  std::vector<int64_t> alone_ns(names_.size() + 1, 0);
  const Counted counted(names_, scenario);
  for (const Item& item : items_) {
    const bool owns = item.subject == last_block_owner_;
    if (item.start_ns < (owns ? last_block_of_others_ns_ : last_block_ns_)) continue;
    if (counted.Has(item.subject, item.start_ns)) alone_ns[item.subject] += item.ns;
  }
  for (size_t i = 0; i < alone_ns.size(); ++i) {
    alone_ns[i] = std::max<int64_t>(0, alone_ns[i] + BonusNs(scenario, i));
  }
  return alone_ns;
}

std::vector<size_t> Counterfactual::OrderBySaving(const std::vector<int64_t>& alone_ns) const {
  std::vector<size_t> order(alone_ns.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Nothing is recorded of the last one, not even a name.
  const auto ns = [&](size_t i) { return i == names_.size() ? 0 : ns_[i]; };
  const auto name = [&](size_t i) {
    return i == names_.size() ? absl::string_view() : absl::string_view(names_[i]);
  };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (alone_ns[a] != alone_ns[b]) return alone_ns[a] > alone_ns[b];
    if (ns(a) != ns(b)) return ns(a) > ns(b);
    return name(a) < name(b);
  });
  return order;
}

Judgement Counterfactual::Judge(const Scenario& scenario) const {
  const std::vector<int64_t> alone_ns = SavingsAlone(scenario);
  GrowingSet set(*this, scenario);
  Judgement judgement;
  for (const size_t subject : OrderBySaving(alone_ns)) {
    // Nobody else is left, and nobody is what remains.
    if (subject == names_.size() && alone_ns[subject] == 0) continue;
    judgement.subjects.push_back(subject);
    set.Add(subject);
    judgement.saving_ns = set.saving_ns();
    judgement.sufficient = judgement.saving_ns >= needed_ns_;
    if (judgement.sufficient || ask_ == Ask::kLargest) break;
  }
  return judgement;
}

}  // namespace whylate
