// What would have been enough, against the definition itself, set by set.
#include "analysis/attribution/counterfactual.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"

namespace whylate {
namespace {

// The definition, word by word: the saving of each set is computed from nothing.
class Oracle {
 public:
  Oracle(const FrameDelay& delay, const Counterfactual& without, int64_t needed_ns, Ask ask)
      : delay_(delay), names_(without.names()), needed_ns_(needed_ns), ask_(ask) {
    for (const std::string& name : names_) {
      int64_t ns = 0;
      for (const Charge& charge : delay.charges) ns += charge.subject == name ? charge.ns : 0;
      ns_.push_back(ns);
    }
  }

  const std::vector<int64_t>& ns() const { return ns_; }

  int64_t SavingAlone(size_t subject, const Scenario& scenario) const {
    std::vector<bool> in_set(names_.size() + 1, false);
    in_set[subject] = true;
    return SavingOf(in_set, scenario);
  }

  Judgement Judge(const Scenario& scenario) const {
    std::vector<size_t> order(names_.size() + 1);
    std::iota(order.begin(), order.end(), size_t{0});
    const auto key = [&](size_t i) {
      const bool hidden = i == names_.size();
      return std::tuple(-SavingAlone(i, scenario), hidden ? 0 : -ns_[i],
                        hidden ? std::string() : names_[i]);
    };
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
    Judgement judgement;
    std::vector<bool> in_set(names_.size() + 1, false);
    for (const size_t subject : order) {
      if (subject == names_.size() && SavingAlone(subject, scenario) == 0) continue;
      judgement.subjects.push_back(subject);
      in_set[subject] = true;
      judgement.saving_ns = SavingOf(in_set, scenario);
      judgement.sufficient = judgement.saving_ns >= needed_ns_;
      if (judgement.sufficient || ask_ == Ask::kLargest) break;
    }
    return judgement;
  }

 private:
  size_t IndexOf(const std::string& name) const {
    return static_cast<size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
  }

  int64_t SavingOf(const std::vector<bool>& in_set, const Scenario& scenario) const {
    int64_t from_ns = std::numeric_limits<int64_t>::min();
    for (const AbsorbingBlock& block : delay_.blocks) {
      const bool wholly_in =
          std::all_of(block.subjects.begin(), block.subjects.end(),
                      [&](const std::string& name) { return in_set[IndexOf(name)]; });
      if (!wholly_in) from_ns = std::max(from_ns, block.start_ns);
    }
    std::vector<int64_t> starts(in_set.size(), from_ns);
    for (const size_t subject : scenario.absorbed) {
      starts[subject] = std::max(from_ns, scenario.from_ns);
    }
    std::vector<int64_t> saving(in_set.size(), 0);
    for (const Charge& charge : delay_.charges) {
      const size_t subject = IndexOf(charge.subject);
      if (!in_set[subject] || charge.segment_start_ns < starts[subject]) continue;
      if (scenario.unknown_given_away && charge.subject == kSubjectUnknown) continue;
      saving[subject] += charge.ns;
    }
    int64_t total_ns = 0;
    for (size_t i = 0; i < in_set.size(); ++i) {
      if (!in_set[i]) continue;
      const int64_t bonus_ns = i < scenario.bonus_ns.size() ? scenario.bonus_ns[i] : 0;
      total_ns += std::max<int64_t>(0, saving[i] + bonus_ns);
    }
    return total_ns;
  }

  const FrameDelay& delay_;
  const std::vector<std::string>& names_;
  const int64_t needed_ns_;
  const Ask ask_;
  std::vector<int64_t> ns_;
};

class Dice {
 public:
  explicit Dice(uint32_t seed) : engine_(seed) {}
  int64_t Roll(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(engine_);
  }
  bool OneIn(int64_t n) { return Roll(1, n) == 1; }

 private:
  std::mt19937 engine_;
};

std::string AnyName(Dice* dice, int64_t subjects) {
  if (dice->OneIn(8)) return kSubjectUnknown;
  return absl::StrCat("s", dice->Roll(1, subjects));
}

// Small numbers, so that savings tie.
FrameDelay AnyDelay(Dice* dice) {
  FrameDelay delay;
  const int64_t subjects = dice->Roll(1, 7);
  const int64_t charges = dice->Roll(0, 14);
  int64_t start_ns = dice->Roll(-5, 5);
  for (int64_t i = 0; i < charges; ++i) {
    start_ns += dice->Roll(0, 4);
    delay.charges.push_back({AnyName(dice, subjects), SegmentKind::kRunqueueWait, std::nullopt,
                             start_ns, dice->Roll(0, 6)});
    if (!dice->OneIn(3)) continue;
    AbsorbingBlock block{start_ns, {}};
    for (int64_t named = dice->Roll(0, 3); named > 0; --named) {
      block.subjects.push_back(AnyName(dice, subjects));
    }
    delay.blocks.push_back(std::move(block));
  }
  return delay;
}

Scenario AnyScenario(Dice* dice, size_t subjects) {
  Scenario scenario;
  scenario.unknown_given_away = dice->OneIn(2);
  const int64_t bonuses = dice->Roll(0, static_cast<int64_t>(subjects) + 1);
  for (int64_t i = 0; i < bonuses; ++i) {
    scenario.bonus_ns.push_back(dice->OneIn(2) ? dice->Roll(-8, 8) : 0);
  }
  for (size_t i = 0; i < subjects; ++i) {
    if (dice->OneIn(4)) scenario.absorbed.push_back(i);
  }
  scenario.from_ns = dice->Roll(-5, 40);
  return scenario;
}

TEST(CounterfactualTest, JudgesAsTheDefinitionDoes) {
  for (uint32_t seed = 0; seed < 20'000; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const FrameDelay delay = AnyDelay(&dice);
    const int64_t needed_ns = dice.Roll(-2, 30);
    const Ask ask = dice.OneIn(4) ? Ask::kLargest : Ask::kEnough;
    const Counterfactual without(delay, 1'000 + needed_ns, 1'000, ask);
    const Oracle oracle(delay, without, needed_ns, ask);
    ASSERT_EQ(without.ns(), oracle.ns());
    for (size_t i = 0; i < without.names().size(); ++i) {
      ASSERT_EQ(without.SavingNs(i), oracle.SavingAlone(i, Scenario()));
    }
    for (int round = 0; round < 4; ++round) {
      const Scenario scenario =
          round == 0 ? Scenario() : AnyScenario(&dice, without.names().size());
      const Judgement judged = without.Judge(scenario);
      const Judgement expected = oracle.Judge(scenario);
      ASSERT_EQ(judged.subjects, expected.subjects);
      ASSERT_EQ(judged.sufficient, expected.sufficient);
      ASSERT_EQ(judged.saving_ns, expected.saving_ns);
    }
  }
}

// All of them together are not enough. Set by set this would take minutes.
TEST(CounterfactualTest, ManySubjectsAndBlocks) {
  constexpr int64_t kSubjects = 100'000;
  FrameDelay delay;
  for (int64_t i = 0; i < kSubjects; ++i) {
    delay.charges.push_back(
        {absl::StrCat("s", i), SegmentKind::kRunqueueWait, std::nullopt, i, 1 + i % 3});
    delay.blocks.push_back({i, {absl::StrCat("s", i)}});
  }
  const Counterfactual without(delay, 10 * kSubjects, 0);
  const Judgement judgement = without.Judge(Scenario());
  EXPECT_EQ(judgement.subjects.size(), static_cast<size_t>(kSubjects));
  EXPECT_FALSE(judgement.sufficient);
  EXPECT_EQ(judgement.saving_ns,
            std::accumulate(without.ns().begin(), without.ns().end(), int64_t{0}));
}

}  // namespace
}  // namespace whylate
