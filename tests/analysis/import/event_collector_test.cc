#include "analysis/import/event_collector.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "analysis/attribution/activations.h"
#include "analysis/timeline/timeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr CpuId kCpu0{0};
constexpr CpuId kCpu1{1};

TracedTask Task(int32_t tid, absl::string_view name, std::optional<int32_t> priority = 120) {
  return {.tid = Tid{tid}, .name = name, .priority = priority};
}
TracedTask Idle() { return Task(0, "swapper/0"); }

// The bindings of a recording, in order: "time tid name".
std::vector<std::string> Names(const Recording& recording) {
  std::vector<std::string> names;
  for (const SchedEvent& event : recording.events) {
    const auto* name = std::get_if<TaskNameEvent>(&event.body);
    if (name == nullptr) continue;
    names.push_back(std::to_string(event.time_ns) + " " + std::to_string(name->task.value) + " " +
                    name->name);
  }
  return names;
}

template <typename Event>
std::vector<const Event*> All(const Recording& recording) {
  std::vector<const Event*> all;
  for (const SchedEvent& event : recording.events) {
    if (const auto* body = std::get_if<Event>(&event.body)) all.push_back(body);
  }
  return all;
}

// The states that a task is in, one letter each: Running, Queued, Waking, Blocked, Throttled,
// eXited, ? unknown.
std::string States(const Recording& recording, int32_t tid) {
  const Timeline timeline(recording);
  std::string states;
  for (const TaskSpan& span : timeline.spans().Spans(timeline.TaskAt(Tid{tid}, 0))) {
    states += "?RQWBTX"[static_cast<size_t>(span.state)];
  }
  return states;
}

TEST(EventCollector, OrdersEventsAndNumbersEachCpuWithoutHoles) {
  EventCollector collector("made", ImportLimits());
  collector.Switch(30, kCpu1, Task(2, ""), SwitchOut::kBlocked, 1, Idle());
  collector.Switch(10, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, ""));
  collector.Switch(20, kCpu0, Task(1, ""), SwitchOut::kBlocked, 1, Idle());
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  const std::vector<SchedEvent>& events = trace->recording.events;
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_TRUE(std::is_sorted(events.begin(), events.end(), Before));
  EXPECT_EQ(events[0].sequence, 1u);
  EXPECT_EQ(events[1].sequence, 2u);
  EXPECT_EQ(events[2].sequence, 1u);
  EXPECT_EQ(trace->recording.begin_ns, 10);
  EXPECT_EQ(trace->recording.end_ns, 31);
  EXPECT_EQ(trace->recording.trace->events, 3u);
  EXPECT_EQ(trace->recording.trace->source, "made");
  EXPECT_THAT(trace->recording.cpus, SizeIs(2));
  EXPECT_THAT(trace->notes, Not(Contains(HasSubstr("order"))));
}

// By its priority alone it were FIFO 99.
TEST(EventCollector, AStopperIsKnownByItsName) {
  EventCollector collector("x", ImportLimits());
  collector.Switch(10, kCpu0, Task(13, "migration/0", 0), SwitchOut::kBlocked, 1, Task(5, "a", 0));
  collector.Wakeup(20, kCpu0, Task(13, "migration/0", 0), kCpu0, false);
  collector.Switch(20, kCpu0, Task(5, "a", 0), SwitchOut::kRunnable, 0, Task(13, "migration/0", 0));
  const ImportedTrace trace = *collector.Finish();
  const auto switches = All<SwitchEvent>(trace.recording);
  ASSERT_THAT(switches, SizeIs(2));
  EXPECT_EQ(switches[0]->prev_standing.sched_class, SchedClass::kStop);
  EXPECT_EQ(switches[0]->next_standing.rt_priority, 99);
  EXPECT_EQ(switches[1]->next_standing.sched_class, SchedClass::kStop);
  EXPECT_EQ(All<WakeupEvent>(trace.recording)[0]->standing.sched_class, SchedClass::kStop);
}

TEST(EventCollector, SortsWhatIsOutOfOrderStablyAndSaysSoOnce) {
  EventCollector collector("made", ImportLimits());
  collector.Switch(20, kCpu0, Task(1, ""), SwitchOut::kRunnable, 0, Task(2, ""));
  collector.Switch(10, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, ""));
  collector.Switch(20, kCpu0, Task(2, ""), SwitchOut::kBlocked, 1, Task(3, ""));
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  const auto switches = All<SwitchEvent>(trace->recording);
  ASSERT_THAT(switches, SizeIs(3));
  EXPECT_EQ(switches[0]->next, Tid{1});
  EXPECT_EQ(switches[1]->next, Tid{2});
  EXPECT_EQ(switches[2]->next, Tid{3});
  EXPECT_THAT(trace->notes, Contains("1 events were out of time order: sorted"));
}

TEST(EventCollector, BindsANameOnlyWhereItChanges) {
  EventCollector collector("made", ImportLimits());
  collector.Switch(10, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "sh"));
  collector.Switch(20, kCpu0, Task(1, "sh"), SwitchOut::kBlocked, 1, Idle());
  collector.Switch(30, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "<...>"));
  collector.Switch(40, kCpu0, Task(1, "cc1"), SwitchOut::kBlocked, 1, Idle());
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  EXPECT_THAT(Names(trace->recording), ElementsAre("10 1 sh", "40 1 cc1"));
}

TEST(EventCollector, BindsNamesRightWhenOneCpuComesAfterTheOther) {
  EventCollector collector("made", ImportLimits());
  collector.Switch(10, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "sh"));
  collector.Switch(40, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "cc1"));
  collector.Switch(20, kCpu1, Idle(), SwitchOut::kRunnable, 0, Task(1, "sh"));
  collector.Switch(50, kCpu1, Idle(), SwitchOut::kRunnable, 0, Task(1, "cc1"));
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  EXPECT_THAT(Names(trace->recording), ElementsAre("10 1 sh", "40 1 cc1"));
}

TEST(EventCollector, NamesTheNextLifeOfATid) {
  EventCollector collector("made", ImportLimits());
  collector.Switch(10, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "sh"));
  collector.Switch(20, kCpu0, Task(1, "sh"), SwitchOut::kExited, 32, Idle());
  collector.Wakeup(30, kCpu0, Task(1, "sh"), kCpu0, /*is_new=*/true);
  collector.Switch(40, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "sh"));
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  EXPECT_THAT(Names(trace->recording), ElementsAre("10 1 sh", "30 1 sh"));
  const Timeline timeline(trace->recording);
  EXPECT_EQ(timeline.tasks().NameAt(timeline.TaskAt(Tid{1}, 40), 40), "sh");
}

TEST(EventCollector, KeepsWhatAnEarlierNameToldOfTheTask) {
  EventCollector collector("made", ImportLimits());
  collector.Name(0, kCpu0, Task(2, "kthreadd"), Tgid{2}, /*is_kernel_thread=*/true);
  collector.Switch(10, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(2, "kthreadd"));
  collector.Switch(20, kCpu1, Idle(), SwitchOut::kRunnable, 0, Task(2, "kthreadd"));
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  const auto names = All<TaskNameEvent>(trace->recording);
  ASSERT_THAT(names, SizeIs(1));
  EXPECT_EQ(names[0]->tgid, Tgid{2});
  EXPECT_TRUE(names[0]->is_kernel_thread);
}

//        0   10       40      60
// CPU 0  T---i--------------- T      waking at 10 - 5, wakeup at 40: T slept at 10
TEST(EventCollector, ARunnableTaskDoesNotLeaveForIdle) {
  EventCollector collector("made", ImportLimits());
  collector.Switch(0, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "t"));
  collector.Waking(5, kCpu1, Task(1, "t"), {.tid = Tid{9}});
  collector.Switch(10, kCpu0, Task(1, "t"), SwitchOut::kRunnable, 0, Idle());
  collector.Wakeup(40, kCpu0, Task(1, "t"), kCpu0, false);
  collector.Switch(60, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "t"));
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(All<SwitchEvent>(trace->recording)[1]->out, SwitchOut::kBlocked);
  EXPECT_EQ(States(trace->recording, 1), "RWQR");
}

//        0   10       60
// CPU 0  T---i--------T      no wake-up, though the trace has those of others
TEST(EventCollector, ARunnableTaskThatLeftForIdleAndCameBackUnwokenWasThrottled) {
  EventCollector collector("made", ImportLimits());
  collector.Switch(0, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "t"));
  collector.Switch(10, kCpu0, Task(1, "t"), SwitchOut::kRunnable, 0x100, Idle());
  collector.Wakeup(40, kCpu0, Task(2, "u"), kCpu1, false);
  collector.Switch(60, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "t"));
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(All<SwitchEvent>(trace->recording)[1]->out, SwitchOut::kThrottled);
  EXPECT_THAT(trace->notes, Contains(HasSubstr("throttled")));
}

// How the switch at 10 left, of a task of `priority` that comes back at 60.
SwitchOut LeftForIdle(int32_t priority, bool wakings, bool wakeups,
                      std::optional<std::pair<int64_t, int64_t>> lost = std::nullopt,
                      std::vector<std::string>* notes = nullptr) {
  EventCollector collector("made", ImportLimits());
  collector.Switch(0, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "t", priority));
  collector.Switch(10, kCpu0, Task(1, "t", priority), SwitchOut::kRunnable, 0, Idle());
  if (wakings) collector.Waking(40, kCpu0, Task(2, "u"), {.tid = Tid{9}});
  if (wakeups) collector.Wakeup(40, kCpu0, Task(2, "u"), kCpu1, false);
  collector.Switch(60, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "t", priority));
  collector.Seen(100, kCpu1);
  if (lost.has_value()) collector.Lost(kCpu1, lost->first, lost->second, 1);
  auto trace = collector.Finish();
  EXPECT_THAT(trace, IsOk());
  if (!trace.ok()) return SwitchOut::kExited;
  if (notes != nullptr) *notes = trace->notes;
  return All<SwitchEvent>(trace->recording)[1]->out;
}

TEST(EventCollector, WhereEventsAreLostTheWakeUpMayBeAmongThem) {
  using Times = std::pair<int64_t, int64_t>;
  EXPECT_EQ(LeftForIdle(120, true, true, Times{45, 50}), SwitchOut::kUnknown);
  EXPECT_EQ(LeftForIdle(19, true, true, Times{5, 9}), SwitchOut::kUnknown);
  EXPECT_EQ(LeftForIdle(120, true, true, Times{70, 80}), SwitchOut::kThrottled);
  EXPECT_EQ(LeftForIdle(19, true, true, Times{70, 80}), SwitchOut::kRunnable);
}

TEST(EventCollector, ARealTimeTaskThatNobodyWokeCouldRun) {
  std::vector<std::string> notes;
  EXPECT_EQ(LeftForIdle(19, true, true, std::nullopt, &notes), SwitchOut::kRunnable);
  EXPECT_THAT(notes, Contains(HasSubstr("real-time bandwidth")));
  EXPECT_THAT(notes, Not(Contains(HasSubstr("throttled"))));
  EXPECT_EQ(LeftForIdle(19, true, false), SwitchOut::kRunnable);
  EXPECT_EQ(LeftForIdle(19, false, true), SwitchOut::kRunnable);
  EXPECT_EQ(LeftForIdle(-1, true, true), SwitchOut::kRunnable);
}

TEST(EventCollector, WithoutWakeUpsNobodyIsSaidToSleepOrToBeThrottled) {
  std::vector<std::string> notes;
  EXPECT_EQ(LeftForIdle(120, false, false, std::nullopt, &notes), SwitchOut::kUnknown);
  EXPECT_THAT(notes, Contains(HasSubstr("asleep or throttled, the trace does not tell")));
  EXPECT_EQ(LeftForIdle(19, false, false), SwitchOut::kUnknown);
  EXPECT_EQ(LeftForIdle(120, true, false), SwitchOut::kUnknown);
}

//        0   5  10       60
// CPU 0  T------i--------T      woken at 5, by an interrupt, and on its way to sleep
TEST(EventCollector, APendingWakingIsNoThrottle) {
  EventCollector collector("made", ImportLimits());
  collector.Switch(0, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "t"));
  collector.Waking(5, kCpu1, Task(1, "t"), {.tid = Tid{0}});
  collector.Switch(10, kCpu0, Task(1, "t"), SwitchOut::kRunnable, 0, Idle());
  collector.Wakeup(40, kCpu0, Task(2, "u"), kCpu1, false);
  collector.Switch(60, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "t"));
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(All<SwitchEvent>(trace->recording)[1]->out, SwitchOut::kBlocked);
  EXPECT_THAT(trace->notes, Not(Contains(HasSubstr("throttled"))));
}

TEST(EventCollector, AStateNotToldIsNoneOfATaskThatCouldRun) {
  EventCollector collector("made", ImportLimits());
  collector.Switch(0, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "t"));
  collector.Switch(10, kCpu0, Task(1, "t"), SwitchOut::kUnknown, 0, Task(2, "u"));
  collector.Switch(60, kCpu0, Task(2, "u"), SwitchOut::kUnknown, 0, Task(1, "t"));
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(States(trace->recording, 1), "R?R");
}

TEST(EventCollector, TheIdleTasksOwnStateMeansNothing) {
  EventCollector collector("made", ImportLimits());
  collector.Switch(10, kCpu0, Idle(), SwitchOut::kBlocked, 2, Task(1, "t"));
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(All<SwitchEvent>(trace->recording)[0]->out, SwitchOut::kRunnable);
}

TEST(EventCollector, WhomTheLastEventBringsOntoACpuIsSeenToRun) {
  EventCollector collector("made", ImportLimits());
  collector.Wakeup(10, kCpu0, Task(1, "t"), kCpu0, false);
  collector.Switch(20, kCpu0, Task(2, "u"), SwitchOut::kRunnable, 0, Task(1, "t"));
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(States(trace->recording, 1), "QR");
}

TEST(EventCollector, LossesWithoutBoundsReachToTheEnds) {
  EventCollector collector("made", ImportLimits());
  collector.Seen(5, kCpu0);
  collector.Switch(1'000'000, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "t"));
  collector.Lost(kCpu0, std::nullopt, 7, 3);
  collector.Lost(kCpu1, 9, std::nullopt, 0);
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  EXPECT_THAT(trace->recording.losses,
              ElementsAre(LossInterval{kCpu0, 5, 7, 3}, LossInterval{kCpu1, 9, 1'000'001, 0}));
  EXPECT_EQ(trace->recording.trace->lost, 3u);
  EXPECT_THAT(trace->notes, Contains("events lost on CPU 0 between 0.000000 s and 0.000000 s: 3"));
  EXPECT_THAT(trace->notes, Contains("events lost on CPU 1 between 0.000000 s and 0.001000 s"));
}

TEST(EventCollector, ALossPastTheirLimitWidensTheLastOfItsCpu) {
  EventCollector collector("made", ImportLimits());
  collector.Switch(0, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "t"));
  collector.Seen(1'000'000, kCpu0);
  for (int i = 0; i < 60'000; ++i) collector.Lost(kCpu0, i, i + 1, 1);
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  ASSERT_THAT(trace->recording.losses, SizeIs(50'000));
  EXPECT_EQ(trace->recording.losses.back(), (LossInterval{kCpu0, 49'999, 60'000, 10'001}));
  EXPECT_EQ(trace->recording.trace->lost, 60'000u);
}

TEST(EventCollector, SaysOnceWhatTheTraceCannotTell) {
  EventCollector collector("made", ImportLimits());
  collector.Note("states of a 4.14 kernel are indices");
  collector.Note("states of a 4.14 kernel are indices");
  collector.Switch(10, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "t"));
  collector.Switch(10, kCpu1, Idle(), SwitchOut::kRunnable, 0, Task(2, "u"));
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  EXPECT_THAT(
      trace->notes,
      UnorderedElementsAre("states of a 4.14 kernel are indices",
                           "no wake-up events: when a sleeping task became runnable is not known",
                           "no affinity: idle CPUs make a wait possibly avoidable",
                           "scheduling classes follow from the priorities"));
}

TEST(EventCollector, WithoutPrioritiesThereAreNoClasses) {
  EventCollector collector("made", ImportLimits());
  collector.Switch(10, kCpu0, Task(2, "u", {}), SwitchOut::kBlocked, 1, Task(1, "t", {}));
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(All<SwitchEvent>(trace->recording)[0]->next_standing, TaskStanding());
  EXPECT_THAT(trace->notes, Contains("no priorities: scheduling classes are not known"));
}

TEST(EventCollector, ATraceWithoutSchedulerEventsIsNoTrace) {
  EventCollector collector("made", ImportLimits());
  collector.Seen(10, kCpu0);
  collector.Name(10, kCpu0, Task(1, "t"), std::nullopt, false);
  EXPECT_THAT(collector.Finish(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no sched_switch")));
}

TEST(EventCollector, StopsKeepingAtTheLimitAndSaysSo) {
  EventCollector collector("made", {.events = 2, .names = 10, .unpacked_bytes = 10});
  for (int i = 0; i < 5; ++i) {
    collector.Switch(i, kCpu0, Task(1, ""), SwitchOut::kBlocked, 1, Task(2, ""));
  }
  EXPECT_TRUE(collector.full());
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  EXPECT_THAT(trace->recording.events, SizeIs(2));
  EXPECT_THAT(trace->notes, Contains("too many events: the first 2 are kept, 3 are not"));
  EXPECT_EQ(trace->recording.begin_ns, 0);
  EXPECT_EQ(trace->recording.end_ns, 5);
  EXPECT_THAT(trace->recording.omitted, ElementsAre(OmittedInterval{2, 5}));
}

//        0   10   20 (not kept)        1000
// CPU 0  U---------T------------------ |      T is woken at 10
TEST(EventCollector, AWaitDoesNotLastThroughWhatIsNotKept) {
  EventCollector collector("made", {.events = 2, .names = 10, .unpacked_bytes = 10});
  collector.Switch(0, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(2, ""));
  collector.Wakeup(10, kCpu0, Task(1, ""), kCpu0, false);
  collector.Switch(20, kCpu0, Task(2, ""), SwitchOut::kBlocked, 1, Task(1, ""));
  collector.Name(0, kCpu0, Task(1, "t"), std::nullopt, false);
  collector.Seen(1000, kCpu0);
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  EXPECT_THAT(trace->recording.omitted, ElementsAre(OmittedInterval{20, 1001}));
  const Timeline timeline(trace->recording);
  const auto spans = timeline.spans().Spans(timeline.TaskAt(Tid{1}, 10));
  ASSERT_FALSE(spans.empty());
  EXPECT_EQ(spans.back().state, TaskState::kUnknown);
  EXPECT_EQ(spans.back().start_ns, 20);
  const Analysis analysis = AnalyzeActivations(trace->recording, ActivationOptions());
  for (const Activation& activation : analysis.activations) {
    if (!activation.verdict.has_value()) continue;
    EXPECT_EQ(activation.verdict->confidence, Confidence::kIncomplete) << activation.task;
  }
}

TEST(EventCollector, AForkedThreadIsOfItsParentsProcess) {
  EventCollector collector("made", ImportLimits());
  collector.Switch(0, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(11, "worker"));
  collector.Name(0, kCpu0, Task(11, "worker"), Tgid{10}, false);
  collector.Fork(1, kCpu0, Task(11, "worker"), Task(12, "thread"), /*is_thread=*/true);
  collector.Fork(2, kCpu0, Task(12, "thread"), Task(13, "thread"), /*is_thread=*/true);
  collector.Fork(3, kCpu0, Task(11, "worker"), Task(14, "process"));
  collector.Fork(4, kCpu0, Task(11, "worker"), Task(15, "told"));
  collector.ForkedInto(Tid{15}, Tgid{10});
  collector.Fork(5, kCpu0, Task(20, "other"), Task(21, "thread"), /*is_thread=*/true);
  auto trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  std::vector<int32_t> tgids;
  for (const ForkEvent* fork : All<ForkEvent>(trace->recording)) {
    tgids.push_back(fork->child_tgid.value);
  }
  EXPECT_THAT(tgids, ElementsAre(10, 10, 14, 10, 20));
}

TEST(EventCollector, LeavesOutWhatNoTraceCanHold) {
  EventCollector collector("made", ImportLimits());
  collector.Switch(-1, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "t"));
  collector.Switch(1, CpuId{8192}, Idle(), SwitchOut::kRunnable, 0, Task(1, "t"));
  collector.Switch(1, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(-5, "t"));
  collector.Wakeup(1, kCpu0, Task(1, "t"), CpuId{-2}, false);
  EXPECT_THAT(collector.Finish(), Not(IsOk()));

  EventCollector other("made", ImportLimits());
  other.Switch(INT64_MAX, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "t"));
  other.Switch(1, kCpu0, Idle(), SwitchOut::kRunnable, 0, Task(1, "t"));
  auto trace = other.Finish();
  ASSERT_THAT(trace, IsOk());
  EXPECT_THAT(trace->recording.cpus, SizeIs(1));
  EXPECT_THAT(trace->notes, Contains(HasSubstr("1 events with an impossible time")));
}

TEST(EventCollector, ANameMakesTheTraceNoLonger) {
  EventCollector collector("made", ImportLimits());
  collector.Name(0, CpuId{0}, {.tid = Tid{9}, .name = "gamma"}, std::nullopt, false);
  collector.Wakeup(10, CpuId{0}, {.tid = Tid{9}, .name = "gamma", .priority = 120}, CpuId{0},
                   false);
  collector.Name(99, CpuId{0}, {.tid = Tid{9}, .name = "delta"}, std::nullopt, false);
  const absl::StatusOr<ImportedTrace> trace = collector.Finish();
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(trace->recording.begin_ns, 10);
  EXPECT_EQ(trace->recording.end_ns, 11);
  for (const SchedEvent& event : trace->recording.events) EXPECT_EQ(event.time_ns, 10);
}

}  // namespace
}  // namespace whylate
