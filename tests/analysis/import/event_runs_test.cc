#include "analysis/import/event_runs.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace whylate {
namespace {

using ::testing::ElementsAre;

// `tag` tells events apart that the order does not.
SchedEvent At(int64_t time_ns, int32_t cpu, uint64_t sequence, int32_t tag = 0) {
  return {time_ns, CpuId{cpu}, sequence, ExitEvent{Tid{tag}}};
}

std::vector<SchedEvent> Merged(std::vector<SchedEvent> events) {
  MergeRuns(events);
  return events;
}

TEST(EventRunsTest, MergesTheRunsOfTwoCpus) {
  EXPECT_THAT(Merged({At(1, 0, 1), At(4, 0, 2), At(9, 0, 3), At(2, 1, 1), At(4, 1, 2)}),
              ElementsAre(At(1, 0, 1), At(2, 1, 1), At(4, 0, 2), At(4, 1, 2), At(9, 0, 3)));
}

TEST(EventRunsTest, MergesAnOddNumberOfRuns) {
  EXPECT_THAT(Merged({At(7, 0, 1), At(5, 1, 1), At(3, 2, 1)}),
              ElementsAre(At(3, 2, 1), At(5, 1, 1), At(7, 0, 1)));
}

TEST(EventRunsTest, LeavesWhatIsInOrder) {
  EXPECT_THAT(Merged({At(1, 0, 1), At(1, 0, 2), At(2, 0, 3)}),
              ElementsAre(At(1, 0, 1), At(1, 0, 2), At(2, 0, 3)));
  EXPECT_THAT(Merged({}), ElementsAre());
}

TEST(EventRunsTest, KeepsTheOrderOfEquals) {
  EXPECT_THAT(Merged({At(5, 0, 1, 10), At(9, 0, 1), At(5, 0, 1, 20), At(5, 0, 1, 30)}),
              ElementsAre(At(5, 0, 1, 10), At(5, 0, 1, 20), At(5, 0, 1, 30), At(9, 0, 1)));
}

TEST(EventRunsTest, IsAStableSortWhateverTheRuns) {
  std::mt19937 random(1);
  for (int32_t round = 0; round < 200; ++round) {
    std::vector<SchedEvent> events;
    const auto size = static_cast<int32_t>(random() % 60);
    for (int32_t i = 0; i < size; ++i) {
      events.push_back(At(static_cast<int64_t>(random() % 20), static_cast<int32_t>(random() % 3),
                          random() % 2, i));
    }
    std::vector<SchedEvent> expected = events;
    std::stable_sort(expected.begin(), expected.end(), Before);
    EXPECT_EQ(Merged(events), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace whylate
