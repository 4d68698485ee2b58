#include "userspace/trace/ftrace_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <time.h>

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "tests/support/made_ftrace.h"

namespace whylate {
namespace {

using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;
using F = FtraceField;

constexpr uint8_t kInHardIrq = 0x08;
constexpr uint8_t kInSoftIrq = 0x10;
constexpr uint8_t kInNmi = 0x40;

class FtraceDecoderTest : public testing::Test {
 protected:
  FtraceDecoderTest() {
    options_.watched = {Tgid{100}};
    options_.tasks = {{Tid{100}, Tgid{100}, "video", false, SCHED_OTHER, false},
                      {Tid{101}, Tgid{100}, "video-2", false, SCHED_OTHER, false},
                      {Tid{50}, Tgid{50}, "limited", false, SCHED_OTHER, true},
                      {Tid{60}, Tgid{60}, "batch", false, SCHED_IDLE, false}};
  }

  // The events of one record at `time_ns` on CPU 1.
  std::vector<SchedEvent> At(int64_t time_ns, const std::string& event,
                             const MadeFtrace::Values& values,
                             const MadeFtrace::Common& common = {}) {
    if (!decoder_.has_value()) decoder_.emplace(&formats_, options_);
    const std::vector<uint8_t> bytes = made_.Record(event, values, common);
    std::vector<SchedEvent> events;
    decoder_->Decode({time_ns, bytes}, CpuId{1}, 9, &events);
    return events;
  }
  // The last body of a record's events, which must be a T.
  template <typename T>
  T Last(int64_t time_ns, const std::string& event, const MadeFtrace::Values& values,
         const MadeFtrace::Common& common = {}) {
    return std::get<T>(At(time_ns, event, values, common).back().body);
  }
  SwitchEvent Switch(int64_t time_ns, int32_t prev, int64_t state, int32_t next) {
    return Last<SwitchEvent>(time_ns, "sched_switch",
                             {{F::kTid, prev},
                              {F::kPriority, 120},
                              {F::kState, state},
                              {F::kNextTid, next},
                              {F::kNextPriority, 120}});
  }

  MadeFtrace made_;
  FtraceFormats formats_ = made_.Formats();
  FtraceDecoderOptions options_;
  std::optional<FtraceDecoder> decoder_;
};

TEST_F(FtraceDecoderTest, ASwitchIsWhatItsFieldsSay) {
  const std::vector<SchedEvent> events = At(1000, "sched_switch",
                                            {{F::kName, "video"},
                                             {F::kTid, 100},
                                             {F::kPriority, 89},
                                             {F::kState, 2},
                                             {F::kNextName, "swapper/1"},
                                             {F::kNextTid, 0},
                                             {F::kNextPriority, 120}});
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].time_ns, 1000);
  EXPECT_EQ(events[0].cpu, CpuId{1});
  EXPECT_EQ(events[0].sequence, 9U);
  const auto& body = std::get<SwitchEvent>(events[0].body);
  EXPECT_EQ(body.prev, Tid{100});
  EXPECT_EQ(body.next, Tid{0});
  EXPECT_EQ(body.out, SwitchOut::kBlocked);
  EXPECT_EQ(body.prev_state, 2U);
  EXPECT_EQ(body.prev_standing.sched_class, SchedClass::kRealTime);
  EXPECT_EQ(body.next_standing.sched_class, SchedClass::kIdle);
  EXPECT_THAT(body.preempt, Optional(false));
  EXPECT_EQ(body.stolen.steal_ns, std::nullopt);
  EXPECT_EQ(body.prev_arrival_ns, std::nullopt);
}

TEST_F(FtraceDecoderTest, HowATaskLeft) {
  EXPECT_EQ(Switch(1, 100, 0, 7).out, SwitchOut::kRunnable);
  const SwitchEvent preempted = Switch(2, 100, 0x100, 7);
  EXPECT_EQ(preempted.out, SwitchOut::kRunnable);
  EXPECT_EQ(preempted.prev_state, 0U);
  EXPECT_THAT(preempted.preempt, Optional(true));
  EXPECT_EQ(Switch(3, 100, 1, 7).out, SwitchOut::kBlocked);
  EXPECT_EQ(Switch(4, 100, 0x20, 7).out, SwitchOut::kExited);
}

TEST_F(FtraceDecoderTest, UnderAQuotaPreemptionAndThrottlingLookTheSame) {
  EXPECT_EQ(Switch(1, 50, 0, 7).out, SwitchOut::kUnknown);
  EXPECT_EQ(Switch(2, 50, 1, 7).out, SwitchOut::kBlocked);
  // What follows from later events is not decided here.
  EXPECT_EQ(Switch(3, 50, 0, 0).out, SwitchOut::kRunnable);
  // A child is in its parent's group.
  At(4, "sched_process_fork", {{F::kTid, 50}, {F::kNextTid, 51}, {F::kNextName, "limited"}});
  EXPECT_EQ(Switch(5, 51, 0, 7).out, SwitchOut::kUnknown);
}

TEST_F(FtraceDecoderTest, PoliciesThatPrioritiesDoNotShow) {
  EXPECT_EQ(Switch(1, 60, 1, 100).prev_standing.sched_class, SchedClass::kIdlePolicy);
  EXPECT_EQ(Switch(2, 100, 1, 60).next_standing.sched_class, SchedClass::kIdlePolicy);
  options_.ext_takes_fair = true;
  decoder_.reset();
  EXPECT_EQ(Switch(3, 100, 1, 60).prev_standing.sched_class, SchedClass::kExt);
}

TEST_F(FtraceDecoderTest, AWakingNamesTheInterruptThatTheCpuIsIn) {
  const MadeFtrace::Values wakee = {{F::kTid, 100}, {F::kName, "video"}};
  WakingEvent body = Last<WakingEvent>(1, "sched_waking", wakee, {.current = 7});
  EXPECT_EQ(body.waker, Tid{7});
  EXPECT_EQ(body.context, WakerContext::kTask);
  EXPECT_EQ(body.source_name, "");
  EXPECT_EQ(body.wakee_on_rq, std::nullopt);

  At(2, "irq_handler_entry", {{F::kIrq, 24}, {F::kName, "virtio2-req.0"}});
  body = Last<WakingEvent>(3, "sched_waking", wakee, {.current = 7, .flags = kInHardIrq});
  EXPECT_EQ(body.context, WakerContext::kHardIrq);
  EXPECT_THAT(body.irq, Optional(24));
  EXPECT_EQ(body.source_name, "virtio2-req.0");
  At(4, "irq_handler_exit", {});

  At(5, "local_timer_entry", {});
  body = Last<WakingEvent>(6, "sched_waking", wakee, {.flags = kInHardIrq});
  EXPECT_EQ(body.irq, std::nullopt);
  EXPECT_EQ(body.source_name, "local_timer");
  At(7, "local_timer_exit", {});

  At(8, "softirq_entry", {{F::kVector, 3}});
  body = Last<WakingEvent>(9, "sched_waking", wakee, {.flags = kInSoftIrq});
  EXPECT_EQ(body.context, WakerContext::kSoftIrq);
  EXPECT_EQ(body.source_name, "NET_RX");
  EXPECT_EQ(Last<WakingEvent>(10, "sched_waking", wakee, {.flags = kInNmi}).context,
            WakerContext::kNmi);
}

TEST_F(FtraceDecoderTest, AnInterruptWithoutEventsHasNoName) {
  const WakingEvent body = Last<WakingEvent>(
      1, "sched_waking", {{F::kTid, 100}, {F::kName, "video"}}, {.flags = kInHardIrq});
  EXPECT_EQ(body.context, WakerContext::kHardIrq);
  EXPECT_EQ(body.source_name, "");
}

//  ns 10     20      25    35     60
//     softirq[ NET_RX             ]       softirq 50 - 10
//             [ timer     ]               irq     10
TEST_F(FtraceDecoderTest, InterruptTimeOfAStint) {
  Switch(5, 0, 0, 100);
  At(10, "softirq_entry", {{F::kVector, 3}});
  At(25, "local_timer_entry", {});
  At(35, "local_timer_exit", {});
  At(60, "softirq_exit", {});
  const std::vector<SchedEvent> events =
      At(70, "sched_switch",
         {{F::kTid, 100}, {F::kState, 1}, {F::kNextTid, 0}, {F::kNextPriority, 120}});
  ASSERT_THAT(events, SizeIs(3));
  InterruptTimeEvent timer{WakerContext::kHardIrq, std::nullopt, "local_timer", 10, 1};
  InterruptTimeEvent net{WakerContext::kSoftIrq, std::nullopt, "NET_RX", 40, 1};
  EXPECT_EQ(std::get<InterruptTimeEvent>(events[0].body), timer);
  EXPECT_EQ(std::get<InterruptTimeEvent>(events[1].body), net);
  const auto& body = std::get<SwitchEvent>(events[2].body);
  EXPECT_THAT(body.stolen.irq_ns, Optional(10));
  EXPECT_THAT(body.stolen.softirq_ns, Optional(40));
  EXPECT_THAT(Switch(90, 0, 0, 100).stolen.irq_ns, Optional(10));
}

TEST_F(FtraceDecoderTest, AnInterruptDoesNotLastAcrossALossOrASwitch) {
  Switch(5, 0, 0, 100);
  At(10, "local_timer_entry", {});
  decoder_->Lost(CpuId{1});
  At(500, "local_timer_exit", {});
  At(510, "local_timer_entry", {});
  EXPECT_THAT(Switch(600, 100, 1, 7).stolen.irq_ns, Optional(0));
  At(700, "local_timer_exit", {});
  EXPECT_THAT(Switch(800, 7, 1, 0).stolen.irq_ns, Optional(0));
}

TEST_F(FtraceDecoderTest, LivesAndNames) {
  // A thread, then a process: only the event before the fork tells.
  At(1, "task_newtask", {{F::kTid, 200}, {F::kCloneFlags, CLONE_VM | CLONE_THREAD}});
  std::vector<SchedEvent> events =
      At(2, "sched_process_fork", {{F::kTid, 100}, {F::kNextTid, 200}, {F::kNextName, "video"}});
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(std::get<ForkEvent>(events[0].body), (ForkEvent{Tid{100}, Tid{200}, Tgid{100}}));
  EXPECT_EQ(std::get<TaskNameEvent>(events[1].body),
            (TaskNameEvent{Tid{200}, Tgid{100}, "video", false}));
  EXPECT_EQ(Last<TaskNameEvent>(3, "sched_process_fork", {{F::kTid, 100}, {F::kNextTid, 300}}).tgid,
            Tgid{300});
  // kthreadd's children are kernel threads, until they execute a program.
  EXPECT_TRUE(Last<TaskNameEvent>(4, "sched_process_fork", {{F::kTid, 2}, {F::kNextTid, 400}})
                  .is_kernel_thread);
  EXPECT_FALSE(Last<TaskNameEvent>(5, "sched_process_exec", {{F::kTid, 400}, {F::kOldTid, 400}})
                   .is_kernel_thread);
  EXPECT_EQ(Last<TaskNameEvent>(6, "task_rename", {{F::kTid, 100}, {F::kName, "renamed"}}),
            (TaskNameEvent{Tid{100}, Tgid{100}, "renamed", false}));
  EXPECT_EQ(Last<ExitEvent>(7, "sched_process_exit", {{F::kTid, 100}}).task, Tid{100});
}

TEST_F(FtraceDecoderTest, ANameThatNobodyToldIsBoundByTheFirstEventThatHasIt) {
  const MadeFtrace::Values wakee = {{F::kTid, 900}, {F::kName, "new"}};
  const std::vector<SchedEvent> events = At(1, "sched_waking", wakee);
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(std::get<TaskNameEvent>(events[0].body),
            (TaskNameEvent{Tid{900}, std::nullopt, "new", false}));
  EXPECT_THAT(At(2, "sched_waking", wakee), SizeIs(1));
}

TEST_F(FtraceDecoderTest, PlacesAndMoves) {
  const auto wakeup =
      Last<WakeupEvent>(1, "sched_wakeup", {{F::kTid, 100}, {F::kPriority, 121}, {F::kCpu, 3}});
  EXPECT_EQ(wakeup.target, CpuId{3});
  EXPECT_FALSE(wakeup.is_new);
  EXPECT_THAT(wakeup.standing.nice, Optional(1));
  EXPECT_TRUE(Last<WakeupEvent>(2, "sched_wakeup_new", {{F::kTid, 5}, {F::kCpu, 0}}).is_new);
  EXPECT_EQ(
      Last<MigrateEvent>(3, "sched_migrate_task", {{F::kTid, 5}, {F::kFromCpu, 0}, {F::kCpu, 2}}),
      (MigrateEvent{Tid{5}, CpuId{0}, CpuId{2}}));
  EXPECT_THAT(At(4, "sched_wakeup", {{F::kTid, 100}, {F::kCpu, -1}}), IsEmpty());
}

TEST_F(FtraceDecoderTest, TheSleepsOfWatchedTasks) {
  const MadeFtrace::Common video = {.current = 100};
  At(1, "hrtimer_setup", {{F::kTimer, 0xabc0}, {F::kClock, CLOCK_MONOTONIC}}, video);
  EXPECT_EQ(Last<TimerStartEvent>(2, "hrtimer_start",
                                  {{F::kTimer, 0xabc0}, {F::kExpires, 5000}, {F::kMode, 0}}, video),
            (TimerStartEvent{Tid{100}, 5000, true}));
  EXPECT_EQ(
      Last<TimerExpireEvent>(3, "hrtimer_expire_entry", {{F::kTimer, 0xabc0}, {F::kNow, 5100}}),
      (TimerExpireEvent{Tid{100}, 5000, 5100}));
  // Once: it is nobody's then.
  EXPECT_THAT(At(4, "hrtimer_expire_entry", {{F::kTimer, 0xabc0}, {F::kNow, 6000}}), IsEmpty());
  // A task that nobody watches takes the address over.
  At(5, "hrtimer_start", {{F::kTimer, 0xabc0}, {F::kExpires, 7000}, {F::kMode, 1}}, video);
  EXPECT_THAT(At(6, "hrtimer_start", {{F::kTimer, 0xabc0}, {F::kExpires, 8000}}, {.current = 7}),
              IsEmpty());
  EXPECT_THAT(At(7, "hrtimer_expire_entry", {{F::kTimer, 0xabc0}, {F::kNow, 8000}}), IsEmpty());
}

TEST_F(FtraceDecoderTest, TimersOfOtherClocks) {
  options_.offsets_ns = {{CLOCK_REALTIME, 1'000'000}};
  const MadeFtrace::Common video = {.current = 101};
  const auto start = [&](int64_t clock, int64_t mode) {
    At(1, "hrtimer_init", {{F::kTimer, 16}, {F::kClock, clock}}, video);
    return At(2, "hrtimer_start", {{F::kTimer, 16}, {F::kExpires, 1'005'000}, {F::kMode, mode}},
              video);
  };
  std::vector<SchedEvent> events = start(CLOCK_REALTIME, 0);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(std::get<TimerStartEvent>(events[0].body), (TimerStartEvent{Tid{101}, 5000, true}));
  // A relative sleep is on the monotonic clock, whichever was named.
  events = start(CLOCK_REALTIME, 1);
  EXPECT_EQ(std::get<TimerStartEvent>(events[0].body),
            (TimerStartEvent{Tid{101}, 1'005'000, false}));
  EXPECT_THAT(start(CLOCK_BOOTTIME, 0), IsEmpty());
  // The timer that was set up is another.
  At(3, "hrtimer_init", {{F::kTimer, 32}, {F::kClock, CLOCK_MONOTONIC}}, video);
  EXPECT_THAT(At(4, "hrtimer_start", {{F::kTimer, 16}, {F::kExpires, 1}}, video), IsEmpty());
}

// The bandwidth of a group may be given and taken while a recording runs: who is moved between groups
// that can have one may be throttled from then on.
TEST_F(FtraceDecoderTest, AMoveToAnotherCgroup) {
  options_.cpu_hierarchy = 1;
  const MadeFtrace::Values move = {{F::kTid, 100}, {F::kName, "/user/limited"}, {F::kHierarchy, 6}};
  const CgroupEvent event{Tid{100}, "/user/limited", Tid{7}};
  EXPECT_EQ(Last<CgroupEvent>(1, "cgroup_attach_task", move, {.current = 7}), event);
  EXPECT_EQ(Switch(2, 101, 0, 7).out, SwitchOut::kRunnable);
  At(3, "cgroup_attach_task", {{F::kTid, 100}, {F::kHierarchy, 1}});
  EXPECT_EQ(Switch(4, 101, 0, 7).out, SwitchOut::kUnknown);  // the whole process
  EXPECT_THAT(At(5, "cgroup_attach_task", {{F::kTid, 60}, {F::kHierarchy, 6}}), IsEmpty());
}

TEST_F(FtraceDecoderTest, WhoStopsAWatchedProcess) {
  EXPECT_EQ(Last<StopEvent>(1, "signal_generate", {{F::kTid, 100}}, {.current = 7}),
            (StopEvent{Tid{100}, Tid{7}}));
  EXPECT_THAT(At(2, "signal_generate", {{F::kTid, 60}}, {.current = 7}), IsEmpty());
}

TEST_F(FtraceDecoderTest, ARecordTooShortForItsFormatGivesNothing) {
  decoder_.emplace(&formats_, options_);
  for (const char* event : {"sched_switch", "sched_waking", "sched_wakeup", "sched_process_fork",
                            "hrtimer_start", "irq_handler_entry", "sys_enter"}) {
    const std::vector<uint8_t> whole = made_.Record(event, {});
    for (size_t size = 0; size < whole.size(); ++size) {
      // A copy of its own, so that a read past it is found by a sanitizer.
      const std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
      std::vector<SchedEvent> events;
      decoder_->Decode({1, cut}, CpuId{0}, 1, &events);
      if (size < 8) {
        EXPECT_THAT(events, IsEmpty()) << event << " of " << size;
      }
    }
  }
  std::vector<SchedEvent> events;
  const std::vector<uint8_t> unknown = {0xff, 0xff, 0, 0, 0, 0, 0, 0};
  decoder_->Decode({1, unknown}, CpuId{0}, 1, &events);
  EXPECT_THAT(events, IsEmpty());
}

TEST_F(FtraceDecoderTest, ExtremeTimesDoNotOverflow) {
  options_.offsets_ns = {{CLOCK_REALTIME, 1'000'000}};
  const MadeFtrace::Common video = {.current = 100};
  At(1, "hrtimer_setup", {{F::kTimer, 16}, {F::kClock, CLOCK_REALTIME}}, video);
  const auto start = Last<TimerStartEvent>(
      2, "hrtimer_start", {{F::kTimer, 16}, {F::kExpires, std::numeric_limits<int64_t>::min()}},
      video);
  EXPECT_EQ(start.expires_ns, std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace whylate
