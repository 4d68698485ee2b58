#include "userspace/selftest/stamps.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "userspace/platform/clock.h"

namespace whylate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(StampLogTest, HoldsStretches) {
  StampLog log = StampLog::Create().value();
  EXPECT_THAT(log.Stretches(), IsEmpty());
  log.Add(1, 3);
  log.Add(Stamp{{5, 8}, CpuId{2}, CpuId{3}});
  EXPECT_THAT(log.Stretches(), ElementsAre(TimeWindow{1, 3}, TimeWindow{5, 8}));
  EXPECT_EQ(log.Stamps().back().from, CpuId{2});
  EXPECT_EQ(log.Stamps().back().to, CpuId{3});
}

TEST(StampLogTest, AStretchIsThereWhileItGrows) {
  StampLog log = StampLog::Create().value();
  log.Begin(1);
  EXPECT_THAT(log.Stretches(), IsEmpty());
  log.Extend(4);
  EXPECT_THAT(log.Stretches(), ElementsAre(TimeWindow{1, 4}));
  log.Extend(6);
  log.End();
  EXPECT_THAT(log.Stretches(), ElementsAre(TimeWindow{1, 6}));
}

TEST(StampLogTest, WhatWasNotSeenIsOfTheTimeBeforeAStretch) {
  StampLog log = StampLog::Create().value();
  log.Add(1, 3);
  log.Begin(6, 2);  // and lost again at once
  log.End();
  log.Begin(9, 1);
  log.Extend(10);
  EXPECT_THAT(log.Stretches(), ElementsAre(TimeWindow{1, 3}, TimeWindow{9, 10}));
  EXPECT_EQ(log.Stamps().back().unseen_ns, 3);
}

TEST(StampLogTest, WhenItIsFullTheLastOneIsOverwritten) {
  StampLog log = StampLog::Create().value();
  for (int64_t i = 0; i < 70000; ++i) log.Add(2 * i, 2 * i + 1);
  const std::vector<TimeWindow> stretches = log.Stretches();
  EXPECT_THAT(stretches, SizeIs(65536));
  EXPECT_EQ(stretches.front().begin_ns, 0);
  EXPECT_EQ(stretches.back().begin_ns, 2 * 69999);
}

TEST(FrameAmountsTest, AddUpByFrame) {
  FrameAmounts amounts = FrameAmounts::Create(4).value();
  amounts.Add(1, 5);
  amounts.Add(1, 2);
  amounts.Add(3, 1);
  for (const int64_t beyond : {-1, 4}) amounts.Add(beyond, 9);
  EXPECT_THAT(amounts.All(), ElementsAre(Pair(1, 7), Pair(3, 1)));
}

TEST(SpinTest, StampsTimeThatItHad) {
  StampLog busy = StampLog::Create().value();
  const int64_t begin_ns = MonotonicNs();
  SpinUntil(begin_ns + 2 * kNsPerMs, busy);
  SpinFor(kNsPerMs, busy);
  const int64_t end_ns = MonotonicNs();
  const std::vector<TimeWindow> stretches = busy.Stretches();
  ASSERT_FALSE(stretches.empty());
  EXPECT_GE(stretches.front().begin_ns, begin_ns);
  EXPECT_LE(stretches.back().end_ns, end_ns);
  for (size_t i = 1; i < stretches.size(); ++i) {
    EXPECT_GE(stretches[i].begin_ns, stretches[i - 1].end_ns);
  }
}

TEST(WorkWatchedTest, WatchesAllOfIt) {
  Losses losses = Losses::Create().value();
  WorkWatched(100, 7, kNsPerSecond, losses);
  EXPECT_THAT(losses.watched.Stretches(), SizeIs(1));
  EXPECT_THAT(losses.away.Stretches(), IsEmpty());
  EXPECT_THAT(losses.interrupted.Stretches(), IsEmpty());
}

// a:  ===   ====   ==
// b:   =  = ==  ==
TEST(IntersectionTest, IsWhatBothCover) {
  EXPECT_THAT(Intersection({{0, 3}, {6, 10}, {13, 15}}, {{1, 2}, {4, 5}, {6, 8}, {9, 12}}),
              ElementsAre(TimeWindow{1, 2}, TimeWindow{6, 8}, TimeWindow{9, 10}));
  EXPECT_THAT(Intersection({}, {{1, 2}}), IsEmpty());
}

TEST(IntersectionTest, OneMayCoverSeveral) {
  EXPECT_THAT(Intersection({{0, 2}, {3, 5}}, {{1, 9}}),
              ElementsAre(TimeWindow{1, 2}, TimeWindow{3, 5}));
}

TEST(OnSameCpuTest, IsNotSureOfWhatCameOrLeft) {
  const std::vector<Stamp> busy = {{{0, 10}, CpuId{0}, CpuId{0}}};
  const OnSameCpu found = FindOnSameCpu(busy, {{{1, 2}, CpuId{0}, CpuId{1}},
                                               {{3, 4}, CpuId{1}, CpuId{1}},
                                               {{5, 6}, CpuId{1}, CpuId{0}},
                                               {{8, 12}, CpuId{0}, CpuId{0}}});
  EXPECT_THAT(found.sure, ElementsAre(TimeWindow{8, 10}));
  EXPECT_THAT(found.unsure, ElementsAre(TimeWindow{1, 2}, TimeWindow{5, 6}));
}

TEST(OverlapTest, IsClippedToTheWindow) {
  EXPECT_EQ(OverlapNs({{0, 3}, {6, 10}}, 2, 8), 3);
  EXPECT_EQ(OverlapNs({{0, 3}}, 3, 8), 0);
}

}  // namespace
}  // namespace whylate
