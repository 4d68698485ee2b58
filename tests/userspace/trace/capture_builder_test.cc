#include "userspace/trace/capture_builder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "analysis/model/recording.h"
#include "analysis/model/sched_event.h"
#include "bpf/sched_event.h"

namespace whylate {
namespace {

template <typename T>
T Record(uint8_t type, uint16_t cpu, uint32_t sequence, uint64_t time_ns) {
  T record = {};
  record.header.time_ns = time_ns;
  record.header.sequence = sequence;
  record.header.cpu = cpu;
  record.header.type = type;
  return record;
}

class CaptureBuilderTest : public testing::Test {
 protected:
  CaptureBuilderTest() {
    input_.begin_ns = 0;
    input_.end_ns = 1000;
    input_.decoder.abi_version = WHYLATE_ABI_VERSION;
    input_.decoder.possible_cpus = 2;
  }

  template <typename T>
  void Add(const T& record) {
    ASSERT_TRUE(store_.Append(&record, sizeof(record)));
  }
  void AddSwitch(uint16_t cpu, uint32_t sequence, uint64_t time_ns) {
    Add(Record<whylate_switch>(WHYLATE_SWITCH, cpu, sequence, time_ns));
  }
  void AddWaking(uint16_t cpu, uint32_t sequence, uint64_t time_ns) {
    Add(Record<whylate_waking>(WHYLATE_WAKING, cpu, sequence, time_ns));
  }

  BuiltCapture Build() { return BuildCapture(store_, input_).value(); }
  std::vector<int64_t> Times() {
    std::vector<int64_t> times;
    for (const SchedEvent& event : Build().events) times.push_back(event.time_ns);
    return times;
  }

  RecordStore store_{int64_t{1} << 20};
  CaptureInput input_;
};

TEST_F(CaptureBuilderTest, OrderIsTimeThenCpuThenSequence) {
  AddSwitch(1, 1, 20);
  AddSwitch(0, 2, 20);
  AddSwitch(0, 1, 20);
  AddSwitch(1, 2, 10);
  const BuiltCapture built = Build();
  ASSERT_EQ(built.events.size(), 4u);
  EXPECT_EQ(built.events[0].time_ns, 10);
  EXPECT_EQ(built.events[1].sequence, 1u);
  EXPECT_EQ(built.events[2].sequence, 2u);
  EXPECT_EQ(built.events[3].cpu, CpuId{1});
  EXPECT_EQ(built.lost_count, 0u);
}

//  cpu 0   1 . . 4 5          2 and 3 never came
//  cpu 1   1 2 3 . .          4 and 5 were counted, and never came
TEST_F(CaptureBuilderTest, FindsLossesOfEachCpu) {
  AddSwitch(0, 1, 100);
  AddSwitch(0, 4, 400);
  AddSwitch(0, 5, 500);
  for (uint32_t i = 1; i <= 3; ++i) AddSwitch(1, i, 100 * i);
  input_.attempts = {5, 5};
  const BuiltCapture built = Build();
  EXPECT_EQ(built.record_count, 6u);
  EXPECT_EQ(built.lost_count, 4u);
  EXPECT_EQ(built.losses,
            (std::vector<LossInterval>{{CpuId{0}, 100, 400, 2}, {CpuId{1}, 300, 1000, 2}}));
}

TEST_F(CaptureBuilderTest, ACpuWhoseEveryRecordWasLostHasALoss) {
  AddSwitch(0, 1, 100);
  input_.attempts = {1, 3};
  EXPECT_EQ(Build().losses, (std::vector<LossInterval>{{CpuId{1}, 0, 1000, 3}}));
}

//            [window)
//  cpu 0  s10  s20  w25 | s30 w35 | s40 w45
//  cpu 1  s12            |         | s60
TEST_F(CaptureBuilderTest, KeepsWindowsAndTheLastSwitchBeforeThem) {
  AddSwitch(0, 1, 10);
  AddSwitch(0, 2, 20);
  AddWaking(0, 3, 25);
  AddSwitch(0, 4, 30);
  AddWaking(0, 5, 35);
  AddSwitch(0, 6, 40);
  AddWaking(0, 7, 45);
  AddSwitch(1, 1, 12);
  AddSwitch(1, 2, 60);
  input_.keep = KeepAround({{30, 40}}, 0);
  EXPECT_EQ(Times(), (std::vector<int64_t>{12, 20, 30, 35}));
}

TEST_F(CaptureBuilderTest, TheMarginWidensWindowsAndMergesThem) {
  for (uint32_t i = 1; i <= 9; ++i) AddWaking(0, i, 10 * i);
  input_.keep = KeepAround({{50, 51}, {30, 31}}, 9);
  EXPECT_EQ(Times(), (std::vector<int64_t>{30, 50}));
  input_.keep.margin_ns = 10;
  EXPECT_EQ(Times(), (std::vector<int64_t>{20, 30, 40, 50, 60}));
}

TEST_F(CaptureBuilderTest, SaysWhatLiesBetweenTheKeptWindows) {
  input_.keep = KeepAround({{700, 800}, {200, 250}, {260, 300}}, 50);
  EXPECT_EQ(Build().omitted, (std::vector<OmittedInterval>{{0, 150}, {350, 650}, {850, 1000}}));
}

TEST_F(CaptureBuilderTest, WindowsPastTheRecordingLeaveNothingOutOfIt) {
  input_.keep = KeepAround({{-100, 400}, {900, 2000}, {3000, 4000}}, 10);
  EXPECT_EQ(Build().omitted, (std::vector<OmittedInterval>{{410, 890}}));
}

TEST_F(CaptureBuilderTest, WhereAllIsKeptNothingIsOmitted) { EXPECT_TRUE(Build().omitted.empty()); }

TEST_F(CaptureBuilderTest, AlwaysKeepsNamesForksExitsAndSeeds) {
  Add(Record<whylate_fork>(WHYLATE_FORK, 0, 1, 10));
  Add(Record<whylate_exit>(WHYLATE_EXIT, 0, 2, 20));
  Add(Record<whylate_name>(WHYLATE_NAME, 0, 3, 30));
  Add(Record<whylate_task_seed>(WHYLATE_TASK_SEED, 0, 0, 40));
  AddWaking(0, 4, 50);
  input_.keep = KeepAround({}, 0);
  EXPECT_EQ(Times(), (std::vector<int64_t>{10, 10, 20, 30, 40, 40}));
}

TEST_F(CaptureBuilderTest, WhatIsLeftOutIsNotLost) {
  for (uint32_t i = 1; i <= 9; ++i) AddWaking(0, i, 10 * i);
  input_.keep = KeepAround({}, 0);
  input_.attempts = {9};
  const BuiltCapture built = Build();
  EXPECT_TRUE(built.events.empty());
  EXPECT_EQ(built.record_count, 9u);
  EXPECT_EQ(built.lost_count, 0u);
}

TEST_F(CaptureBuilderTest, EventsOutsideTheRecordingAreLeftOut) {
  AddSwitch(0, 1, 10);
  AddSwitch(0, 2, 20);
  AddSwitch(0, 3, 30);
  input_.begin_ns = 15;
  input_.end_ns = 25;
  EXPECT_EQ(Times(), (std::vector<int64_t>{20}));
}

TEST_F(CaptureBuilderTest, ADamagedRecordIsAnError) {
  const uint8_t bytes[20] = {};
  ASSERT_TRUE(store_.Append(bytes, sizeof(bytes)));
  EXPECT_EQ(BuildCapture(store_, input_).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace whylate
