#include "analysis/timeline/interval.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace whylate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(IntervalTest, MergeSortsJoinsAndDropsEmptyOnes) {
  EXPECT_THAT(Merge({{5, 9}, {1, 3}, {8, 12}, {12, 13}, {20, 20}, {30, 25}}),
              ElementsAre(Interval{1, 3}, Interval{5, 13}));
}

TEST(IntervalTest, ClipKeepsWhatIsInside) {
  const IntervalList list{{0, 2}, {4, 6}, {8, 10}};
  EXPECT_THAT(Clip(list, {1, 9}), ElementsAre(Interval{1, 2}, Interval{4, 6}, Interval{8, 9}));
  EXPECT_THAT(Clip(list, {2, 4}), IsEmpty());
}

TEST(IntervalTest, IntersectionOfLists) {
  const IntervalList a{{0, 5}, {7, 9}};
  const IntervalList b{{1, 2}, {4, 8}};
  EXPECT_THAT(Intersection(a, b), ElementsAre(Interval{1, 2}, Interval{4, 5}, Interval{7, 8}));
}

TEST(IntervalTest, DifferenceCutsHoles) {
  const IntervalList a{{0, 10}, {20, 30}};
  const IntervalList b{{2, 3}, {9, 22}, {29, 40}};
  EXPECT_THAT(Difference(a, b), ElementsAre(Interval{0, 2}, Interval{3, 9}, Interval{22, 29}));
  EXPECT_EQ(TotalNs(Difference(a, b)), 15);
}

TEST(IntervalTest, FindContainingIsHalfOpen) {
  const IntervalList list{{0, 2}, {4, 6}};
  EXPECT_EQ(FindContaining(list, 2), nullptr);
  EXPECT_EQ(FindContaining(list, 4), &list[1]);
  EXPECT_EQ(FirstEndingAfter(list, 6), nullptr);
}

}  // namespace
}  // namespace whylate
