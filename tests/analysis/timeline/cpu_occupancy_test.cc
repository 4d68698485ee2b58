// Tiny times, in ns where nothing is said, in ms where a repair's bound of 1 ms matters.
#include "analysis/timeline/cpu_occupancy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/trace_builder.h"
#include "tests/support/trace_timeline_text.h"

namespace whylate {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kMs = 1'000'000;

std::string Stints(const TraceBuilder& builder, int32_t cpu = 0) {
  const Recording recording = builder.Build();
  return StintsText(Timeline(recording), cpu, builder.unit_ns());
}

TEST(CpuOccupancyTest, BackToTheBeginAndOnToTheEnd) {
  EXPECT_EQ(Stints(TraceBuilder(1).Preempt(3, 0, 10, 0).Preempt(8, 0, 0, 11).End(10)),
            "10 0-3 | idle 3-8 | 11 8-10");
}

TEST(CpuOccupancyTest, ACpuWithoutSwitchOrSeedIsUnknown) {
  EXPECT_EQ(Stints(TraceBuilder(2).Preempt(3, 0, 10, 0).Wakeup(4, 1, 12).End(10), 1),
            "? 0-10 (never seen on this CPU)");
}

TEST(CpuOccupancyTest, ASeedIsEnough) {
  EXPECT_EQ(Stints(TraceBuilder(1).CpuSeed(2, 0, 0).End(10)), "idle 0-10");
}

// 10 runs from 3; records lost in [5, 8); the first switch after it is 11 -> 12 at 9.
TEST(CpuOccupancyTest, AfterALossTheNextSwitchTellsWhoWasThere) {
  EXPECT_EQ(Stints(TraceBuilder(1)
                       .Preempt(3, 0, 0, 10)
                       .Waking(5, 0, 20, 10)
                       .Loss(0, 5, 8)
                       .Waking(8, 0, 21, 11)
                       .Preempt(9, 0, 11, 12)
                       .End(10)),
            "idle 0-3 | 10 3-5 | ? 5-8 (events lost) | 11 8-9 | 12 9-10");
}

TEST(CpuOccupancyTest, ALossToTheEnd) {
  EXPECT_EQ(Stints(TraceBuilder(1).Preempt(3, 0, 0, 10).Loss(0, 3, 10).End(10)),
            "idle 0-3 | ? 3-10 (events lost)");
}

TEST(CpuOccupancyTest, ALossAndNoSwitchAfterIt) {
  EXPECT_EQ(Stints(TraceBuilder(1).Preempt(3, 0, 0, 10).Loss(0, 3, 6).Waking(6, 0, 20, 0).End(10)),
            "idle 0-3 | ? 3-6 (events lost) | ? 6-10 (events lost)");
}

// A gap of another CPU changes nothing here.
TEST(CpuOccupancyTest, LossesArePerCpu) {
  EXPECT_EQ(Stints(TraceBuilder(2).Preempt(3, 0, 0, 10).Loss(1, 4, 6).End(10)),
            "idle 0-3 | 10 3-10");
}

TEST(CpuOccupancyTest, WhatWasNotKeptIsNoBreak) {
  const Recording recording =
      TraceBuilder(1).Preempt(3, 0, 0, 10).Omitted(4, 7).Preempt(8, 0, 11, 12).End(10).Build();
  const Timeline timeline(recording);
  EXPECT_EQ(StintsText(timeline, 0), "idle 0-3 | 10 3-4 | ? 4-7 (not kept) | 11 7-8 | 12 8-10");
  EXPECT_EQ(timeline.cpus().breaks(), 0u);
}

// ms: 10 comes at 3; at 9 it is 11 that leaves, and says that it came at 5.
TEST(CpuOccupancyTest, AChainBreakIsRepairedByTheArrival) {
  const Recording recording =
      TraceBuilder(1, kMs)
          .Preempt(3, 0, 0, 10)
          .Waking(4, 0, 20, 10)
          .Preempt(9, 0, 11, 12)
          .With<SwitchEvent>([](SwitchEvent& e) { e.prev_arrival_ns = 5 * kMs; })
          .End(10)
          .Build();
  const Timeline timeline(recording);
  EXPECT_EQ(StintsText(timeline, 0, kMs), "idle 0-3 | 10 3-5* | 11 5-9* | 12 9-10");
  EXPECT_EQ(timeline.cpus().breaks(), 1u);
  // From the last record that names 10 to the arrival and its bound.
  EXPECT_THAT(timeline.cpus().Repairs(CpuId{0}), ElementsAre(Interval{4 * kMs, 6 * kMs}));
}

// The bound ends at the next record.
TEST(CpuOccupancyTest, ARepairsBoundIsClipped) {
  const Recording recording =
      TraceBuilder(1, kMs / 10)
          .Preempt(30, 0, 0, 10)
          .Preempt(35, 0, 11, 12)
          .With<SwitchEvent>([](SwitchEvent& e) { e.prev_arrival_ns = 34 * kMs / 10; })
          .End(100)
          .Build();
  EXPECT_THAT(Timeline(recording).cpus().Repairs(CpuId{0}),
              ElementsAre(Interval{30 * kMs / 10, 35 * kMs / 10}));
}

TEST(CpuOccupancyTest, AChainBreakWithoutArrivalIsUnknownSinceTheLastRecord) {
  EXPECT_EQ(
      Stints(
          TraceBuilder(1).Preempt(3, 0, 0, 10).Waking(4, 0, 20, 10).Preempt(9, 0, 11, 12).End(10)),
      "idle 0-3 | 10 3-4 | ? 4-9 (hidden task) | 12 9-10");
}

// An arrival of 2 ms before 10 came itself is none.
TEST(CpuOccupancyTest, AnIncredibleArrivalIsNotBelieved) {
  EXPECT_EQ(Stints(TraceBuilder(1, kMs)
                       .Preempt(3, 0, 0, 10)
                       .Preempt(9, 0, 11, 12)
                       .With<SwitchEvent>([](SwitchEvent& e) { e.prev_arrival_ns = 1 * kMs; })
                       .End(10)),
            "idle 0-3 | ? 3-9 (hidden task) | 12 9-10");
}

TEST(CpuOccupancyTest, StintsInIsHalfOpen) {
  const Recording recording =
      TraceBuilder(1).Preempt(3, 0, 10, 0).Preempt(8, 0, 0, 11).End(10).Build();
  const Timeline timeline(recording);
  EXPECT_EQ(timeline.cpus().StintsIn(CpuId{0}, {3, 8}).size(), 1u);
  EXPECT_EQ(timeline.cpus().StintsIn(CpuId{0}, {2, 9}).size(), 3u);
  EXPECT_TRUE(timeline.cpus().StintsIn(CpuId{7}, {0, 9}).empty());
  EXPECT_EQ(timeline.cpus().StintAt(CpuId{0}, 3)->task, kIdleTask);
}

// Delivered in any order, the same.
TEST(CpuOccupancyTest, TheOrderOfDeliveryDoesNotMatter) {
  TraceBuilder builder(2);
  builder.Preempt(3, 0, 0, 10)
      .Preempt(4, 1, 0, 11)
      .Preempt(5, 0, 10, 12)
      .Preempt(6, 1, 11, 0)
      .End(9);
  Recording recording = builder.Build();
  std::swap(recording.events[0], recording.events[3]);
  std::swap(recording.events[1], recording.events[2]);
  EXPECT_EQ(StintsText(Timeline(recording), 0), "idle 0-3 | 10 3-5 | 12 5-9");
  EXPECT_EQ(StintsText(Timeline(recording), 1), "idle 0-4 | 11 4-6 | idle 6-9");
}

}  // namespace
}  // namespace whylate
