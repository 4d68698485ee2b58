#include "userspace/trace/sequence_tracker.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace whylate {
namespace {

using Gap = SequenceTracker::Gap;

TEST(SequenceTrackerTest, NothingMissing) {
  SequenceTracker tracker(0);
  EXPECT_EQ(tracker.Add(1, 10), 1u);
  EXPECT_EQ(tracker.Add(2, 20), 2u);
  tracker.Finish(2, 30);
  EXPECT_TRUE(tracker.gaps().empty());
}

TEST(SequenceTrackerTest, AGapLiesBetweenTheRecordsAroundIt) {
  SequenceTracker tracker(5);
  tracker.Add(1, 10);
  tracker.Add(5, 40);
  tracker.Finish(5, 50);
  EXPECT_EQ(tracker.gaps(), (std::vector<Gap>{{2, 4, 10, 40}}));
}

TEST(SequenceTrackerTest, WhatIsMissingAtTheEndsReachesToTheRecordingsEnds) {
  SequenceTracker tracker(5);
  tracker.Add(3, 10);
  tracker.Finish(7, 50);
  EXPECT_EQ(tracker.gaps(), (std::vector<Gap>{{1, 2, 5, 10}, {4, 7, 10, 50}}));
}

TEST(SequenceTrackerTest, ACpuThatDeliveredNothingLostAll) {
  SequenceTracker tracker(5);
  tracker.Finish(7, 50);
  EXPECT_EQ(tracker.gaps(), (std::vector<Gap>{{1, 7, 5, 50}}));
}

TEST(SequenceTrackerTest, AnOvertakenRecordIsNoLoss) {
  SequenceTracker tracker(0);
  tracker.Add(1, 10);
  tracker.Add(3, 31);
  EXPECT_EQ(tracker.Add(2, 30), 2u);
  tracker.Finish(3, 50);
  EXPECT_TRUE(tracker.gaps().empty());
}

TEST(SequenceTrackerTest, AnOvertakenRecordSplitsAGap) {
  SequenceTracker tracker(0);
  tracker.Add(1, 10);
  tracker.Add(6, 60);
  tracker.Add(4, 40);
  tracker.Finish(6, 70);
  EXPECT_EQ(tracker.gaps(), (std::vector<Gap>{{2, 3, 10, 40}, {5, 5, 40, 60}}));
}

TEST(SequenceTrackerTest, NumbersGoOnPastThirtyTwoBits) {
  SequenceTracker tracker(0);
  tracker.Add(1, 1);
  tracker.Add(0x7fffffff, 2);
  tracker.Add(0xfffffffe, 3);
  EXPECT_EQ(tracker.Add(0xffffffff, 4), 0xffffffffu);
  EXPECT_EQ(tracker.Add(0, 5), uint64_t{1} << 32);
  EXPECT_EQ(tracker.Add(2, 6), (uint64_t{1} << 32) + 2);
  EXPECT_EQ(tracker.gaps().back(), (Gap{(uint64_t{1} << 32) + 1, (uint64_t{1} << 32) + 1, 5, 6}));
}

}  // namespace
}  // namespace whylate
