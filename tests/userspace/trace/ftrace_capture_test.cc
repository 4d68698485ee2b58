#include "userspace/trace/ftrace_capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tests/support/made_ftrace.h"

namespace whylate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using F = FtraceField;

class FtraceCaptureTest : public testing::Test {
 protected:
  FtraceCaptureTest() { input_.end_ns = 1'000'000; }

  std::vector<uint8_t> Switch(int32_t prev, int64_t state, int32_t next) {
    return made_.Record("sched_switch", {{F::kTid, prev},
                                         {F::kPriority, 120},
                                         {F::kState, state},
                                         {F::kNextTid, next},
                                         {F::kNextPriority, 120}});
  }
  std::vector<uint8_t> Waking(int32_t wakee, int32_t waker) {
    return made_.Record("sched_waking", {{F::kTid, wakee}}, {.current = waker});
  }
  std::vector<uint8_t> Wakeup(int32_t wakee, int32_t cpu) {
    return made_.Record("sched_wakeup", {{F::kTid, wakee}, {F::kPriority, 120}, {F::kCpu, cpu}});
  }
  void Add(int32_t cpu, const MadePage& page) { store_.Add(CpuId{cpu}, page.Bytes()); }
  BuiltCapture Build() { return BuildFtraceCapture(store_, formats_, input_); }
  static std::vector<int64_t> Times(const BuiltCapture& built) {
    std::vector<int64_t> times;
    for (const SchedEvent& event : built.events) times.push_back(event.time_ns);
    return times;
  }

  MadeFtrace made_;
  FtraceFormats formats_ = made_.Formats();
  FtracePageStore store_{FtracePageLayout(), int64_t{16} << 20};
  FtraceCaptureInput input_;
};

TEST_F(FtraceCaptureTest, PagesOfTheCpusAreMergedByTime) {
  Add(1, MadePage(100).Add(0, Switch(0, 0, 7)).Add(50, Switch(7, 1, 0)));
  Add(0, MadePage(120).Add(0, Switch(0, 0, 8)));
  Add(0, MadePage(150).Add(0, Switch(8, 1, 0)));
  const BuiltCapture built = Build();
  EXPECT_THAT(Times(built), ElementsAre(100, 120, 150, 150));
  EXPECT_EQ(built.events[2].cpu, CpuId{0});
  EXPECT_EQ(built.record_count, 4U);
  EXPECT_EQ(built.lost_count, 0U);
  EXPECT_THAT(built.losses, IsEmpty());
  EXPECT_THAT(built.omitted, IsEmpty());
}

TEST_F(FtraceCaptureTest, OverwrittenRecordsAreALoss) {
  Add(0, MadePage(100).Add(0, Switch(0, 0, 7)));
  Add(0, MadePage(500).Missed(12).Add(20, Switch(8, 1, 0)));
  const BuiltCapture built = Build();
  EXPECT_THAT(built.losses, ElementsAre(LossInterval{CpuId{0}, 100, 520, 12}));
  EXPECT_EQ(built.lost_count, 12U);
  EXPECT_EQ(built.events.back().sequence, built.events.front().sequence + 13);
}

TEST_F(FtraceCaptureTest, ALossBeforeTheFirstRecordIsFromTheBegin) {
  Add(0, MadePage(500).Missed(3).Add(0, Switch(8, 1, 0)));
  EXPECT_THAT(Build().losses, ElementsAre(LossInterval{CpuId{0}, 0, 500, 3}));
}

TEST_F(FtraceCaptureTest, HowManyWereLostComesFromTheBuffersCount) {
  Add(0, MadePage(100).Add(0, Switch(0, 0, 7)));
  Add(0, MadePage(500).Missed(std::nullopt).Add(0, Switch(8, 1, 0)));
  input_.lost = {{CpuId{0}, 40}};
  const BuiltCapture built = Build();
  EXPECT_THAT(built.losses, ElementsAre(LossInterval{CpuId{0}, 100, 500, 40}));
  EXPECT_EQ(built.lost_count, 40U);
}

TEST_F(FtraceCaptureTest, WhatNoPageToldIsLostSomewhere) {
  Add(1, MadePage(100).Add(0, Switch(0, 0, 7)));
  input_.lost = {{CpuId{1}, 2}};
  EXPECT_THAT(Build().losses, ElementsAre(LossInterval{CpuId{1}, 0, 1'000'000, 2}));
}

TEST_F(FtraceCaptureTest, APageThatCannotBeReadIsALoss) {
  Add(0, MadePage(100).Add(0, Switch(0, 0, 7)));
  std::vector<uint8_t> broken = MadePage(200).Add(0, Switch(7, 1, 0)).Bytes();
  broken[8] = 0xff;
  broken[9] = 0xff;  // more data than a page has
  store_.Add(CpuId{0}, broken);
  Add(0, MadePage(300).Add(0, Switch(7, 1, 8)).Word(28));
  Add(0, MadePage(400).Add(0, Switch(8, 1, 0)));
  EXPECT_THAT(Build().losses, ElementsAre(LossInterval{CpuId{0}, 100, 300, 0},
                                          LossInterval{CpuId{0}, 300, 400, 0}));
}

TEST_F(FtraceCaptureTest, ABrokenLastPageIsALossToTheEnd) {
  Add(0, MadePage(100).Add(0, Switch(0, 0, 7)).Word(28));
  EXPECT_THAT(Build().losses, ElementsAre(LossInterval{CpuId{0}, 100, 1'000'000, 0}));
}

TEST_F(FtraceCaptureTest, PagesThatDoNotFitAreCounted) {
  FtracePageStore small(FtracePageLayout(), 0);
  small.Add(CpuId{0}, MadePage(100).Add(0, Switch(0, 0, 7)).Add(1, Switch(7, 1, 0)).Bytes());
  const BuiltCapture built = BuildFtraceCapture(small, formats_, input_);
  EXPECT_THAT(built.losses, ElementsAre(LossInterval{CpuId{0}, 0, 1'000'000, 2}));
  EXPECT_THAT(built.events, IsEmpty());
}

//  ns    1000  2000  2500  3000  4000  9000
//  CPU 0 0>7         [window     ]     x
//  CPU 1       0>8               x
TEST_F(FtraceCaptureTest, KeepsTheWindowsAndWhoWasThereBefore) {
  Add(0,
      MadePage(500).Add(0, Switch(9, 1, 0)).Add(500, Switch(0, 0, 7)).Add(8000, Switch(7, 1, 0)));
  Add(1, MadePage(2000).Add(0, Switch(0, 0, 8)).Add(100, Waking(9, 8)).Add(900, Switch(8, 1, 0)));
  input_.keep = KeepAround({{2600, 3900}}, 100);
  const BuiltCapture built = Build();
  EXPECT_THAT(Times(built), ElementsAre(1000, 2000, 3000));
  EXPECT_THAT(built.omitted,
              ElementsAre(OmittedInterval{0, 2500}, OmittedInterval{4000, 1'000'000}));
  EXPECT_EQ(built.record_count, 6U);
}

TEST_F(FtraceCaptureTest, AWindowWithoutEventsHasItsOccupants) {
  Add(0, MadePage(1000).Add(0, Switch(0, 0, 7)));
  input_.keep = KeepAround({{5000, 6000}}, 0);
  EXPECT_THAT(Times(Build()), ElementsAre(1000));
}

TEST_F(FtraceCaptureTest, NamesAndLivesAreAlwaysKept) {
  input_.begin_ns = 50;
  input_.decoder.tasks = {{Tid{7}, Tgid{7}, "sh", false, 0, false}};
  Add(0, MadePage(40)
             .Add(0, made_.Record("sched_process_fork",
                                  {{F::kTid, 7}, {F::kNextTid, 8}, {F::kNextName, "sh"}}))
             .Add(1000, made_.Record("sched_process_exit", {{F::kTid, 8}})));
  input_.keep = KeepAround({}, 0);
  input_.others = {{2000, CpuId{0}, 0, AffinityEvent{Tid{7}, CpuSet(), std::nullopt}},
                   {0, CpuId{0}, 0, AffinityEvent{Tid{7}, CpuSet(), std::nullopt}}};
  const BuiltCapture built = Build();
  // What came before the begin holds from it on.
  EXPECT_THAT(Times(built), ElementsAre(50, 50, 50, 50, 1040, 2000));
}

TEST_F(FtraceCaptureTest, EventsOutsideTheRecordingAreLeftOut) {
  input_.begin_ns = 200;
  input_.end_ns = 300;
  Add(0, MadePage(100).Add(0, Switch(0, 0, 7)).Add(150, Switch(7, 0, 8)).Add(100, Switch(8, 1, 0)));
  EXPECT_THAT(Times(Build()), ElementsAre(250));
}

// The decision of what follows from later events is made over the kept ones.
TEST_F(FtraceCaptureTest, LeavingForIdleIsSettled) {
  Add(0, MadePage(100).Add(0, Switch(0, 0, 7)).Add(10, Switch(7, 0, 0)).Add(500, Switch(0, 0, 7)));
  EXPECT_EQ(std::get<SwitchEvent>(Build().events[1].body).out, SwitchOut::kThrottled);
}

TEST_F(FtraceCaptureTest, AWakeeThatWasMovedWasOffTheQueue) {
  Add(0, MadePage(100).Add(0, Switch(7, 1, 8)).Add(10, Waking(7, 8)).Add(1, Wakeup(7, 1)));
  EXPECT_EQ(std::get<WakingEvent>(Build().events[1].body).wakee_on_rq, false);
}

TEST_F(FtraceCaptureTest, WhetherAWakeeWasStillQueuedMayBeUnknown) {
  Add(0, MadePage(100).Add(0, Switch(7, 1, 8)).Add(10, Waking(7, 8)).Add(1, Wakeup(7, 0)));
  EXPECT_EQ(std::get<WakingEvent>(Build().events[1].body).wakee_on_rq, std::nullopt);
  // Kernels before 6.12 take a sleeper off at once.
  input_.delays_dequeue = false;
  EXPECT_EQ(std::get<WakingEvent>(Build().events[1].body).wakee_on_rq, false);
}

TEST_F(FtraceCaptureTest, AnIdleCpuHasNoSleeperInItsQueue) {
  Add(0, MadePage(100)
             .Add(0, Switch(7, 1, 8))
             .Add(5, Switch(8, 1, 0))
             .Add(5, Waking(7, 0))
             .Add(1, Wakeup(7, 0)));
  EXPECT_EQ(std::get<WakingEvent>(Build().events[2].body).wakee_on_rq, false);
}

// Some kernels hide the switch by which an idle CPU takes a task.
TEST_F(FtraceCaptureTest, ATaskComesToAnIdleCpuWhenItIsQueued) {
  Add(0, MadePage(100)
             .Add(0, Switch(7, 1, 0))
             .Add(10, Waking(7, 0))
             .Add(1, Wakeup(7, 0))
             .Add(90, Switch(7, 1, 0)));
  EXPECT_EQ(std::get<SwitchEvent>(Build().events[3].body).prev_arrival_ns, 111);
}

TEST_F(FtraceCaptureTest, WhenATaskCameThatWasQueuedElsewhereIsNotKnown) {
  Add(0, MadePage(100).Add(0, Switch(7, 1, 0)).Add(10, Waking(7, 0)).Add(1, Wakeup(7, 1)));
  Add(0, MadePage(200).Add(0, Switch(7, 1, 0)));
  EXPECT_EQ(std::get<SwitchEvent>(Build().events[3].body).prev_arrival_ns, std::nullopt);
}

TEST_F(FtraceCaptureTest, WhenATaskCameIsNotKnownWhereRecordsAreLost) {
  Add(0, MadePage(100).Add(0, Switch(7, 1, 0)).Add(10, Waking(7, 0)).Add(1, Wakeup(7, 0)));
  Add(0, MadePage(200).Missed(1).Add(0, Switch(7, 1, 0)));
  EXPECT_EQ(std::get<SwitchEvent>(Build().events[3].body).prev_arrival_ns, std::nullopt);
}

TEST_F(FtraceCaptureTest, AWakeUpBeforeTheCpuWentIdleTellsNoArrival) {
  Add(0, MadePage(100)
             .Add(0, Switch(8, 1, 7))
             .Add(5, Wakeup(8, 0))
             .Add(5, Switch(7, 1, 8))
             .Add(5, Switch(8, 1, 0))
             .Add(50, Switch(8, 1, 0)));
  EXPECT_EQ(std::get<SwitchEvent>(Build().events[4].body).prev_arrival_ns, std::nullopt);
}

// Some kernels show the wake-ups of a task and hide how it leaves: it would be queued for ever.
TEST_F(FtraceCaptureTest, AWakeeThatIsGoneAndNeverLeavesIsLeftOut) {
  Add(0, MadePage(100)
             .Add(0, Waking(9, 7))
             .Add(1, Wakeup(9, 0))
             .Add(10, Switch(7, 0, 9))
             .Add(10, Waking(9, 7))
             .Add(1, Wakeup(9, 0))
             .Add(10, Switch(7, 1, 0)));
  EXPECT_THAT(Times(Build()), ElementsAre(100, 101, 111, 132));
}

TEST_F(FtraceCaptureTest, AWakeeThatStaysOnItsCpuIsKept) {
  Add(0, MadePage(100).Add(0, Waking(9, 7)).Add(1, Wakeup(9, 0)).Add(10, Switch(7, 1, 9)));
  EXPECT_THAT(Times(Build()), ElementsAre(100, 101, 111));
}

TEST_F(FtraceCaptureTest, AWakeeThatNoSwitchShowsIsLeftOut) {
  Add(0, MadePage(100)
             .Add(0, Switch(0, 0, 7))
             .Add(10, Waking(9, 7))
             .Add(1, Wakeup(9, 0))
             .Add(5, Waking(8, 7))
             .Add(1, Wakeup(8, 0))
             .Add(10, Switch(7, 1, 8)));
  EXPECT_THAT(Times(Build()), ElementsAre(100, 116, 117, 127));
}

TEST_F(FtraceCaptureTest, WhereRecordsAreLostAHiddenWakeeStays) {
  Add(0, MadePage(100).Add(0, Switch(0, 0, 7)).Add(10, Waking(9, 7)).Add(1, Wakeup(9, 0)));
  Add(0, MadePage(200).Missed(1).Add(0, Switch(7, 1, 0)));
  EXPECT_THAT(Times(Build()), ElementsAre(100, 110, 111, 200));
}

TEST_F(FtraceCaptureTest, ASleepWithALossInItTellsNothingOfTheQueue) {
  Add(0, MadePage(100).Add(0, Switch(7, 1, 8)));
  Add(0, MadePage(200).Missed(5).Add(0, Waking(7, 8)).Add(1, Wakeup(7, 1)));
  EXPECT_EQ(std::get<WakingEvent>(Build().events[1].body).wakee_on_rq, std::nullopt);
}

}  // namespace
}  // namespace whylate
