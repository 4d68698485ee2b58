#include "analysis/import/perfetto_foreign.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "analysis/import/perfetto.h"
#include "analysis/model/perfetto_fields.h"
#include "analysis/timeline/timeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/analysis/import/foreign_trace.h"
#include "tests/support/made_perfetto.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

using perfetto::FtraceEvent;
using protozero::pbf_writer;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

TEST(PerfettoForeignTest, SwitchesHaveTheirFields) {
  const ImportedTrace trace = Import(MadeBundle(3).Switch(50, kSeven, 2, kEight).Packet());
  EXPECT_EQ(trace.format, "perfetto");
  EXPECT_FALSE(trace.has_frames);
  const std::vector<SwitchEvent> switches = EventsOf<SwitchEvent>(trace);
  ASSERT_THAT(switches, SizeIs(1));
  EXPECT_EQ(switches[0].prev, Tid{7});
  EXPECT_EQ(switches[0].out, SwitchOut::kBlocked);
  EXPECT_EQ(switches[0].prev_state, 2u);
  EXPECT_EQ(switches[0].prev_standing, (TaskStanding{SchedClass::kFair, {}, 0}));
  EXPECT_EQ(switches[0].next_standing, (TaskStanding{SchedClass::kRealTime, 1, {}}));
  const std::vector<TaskNameEvent> names = EventsOf<TaskNameEvent>(trace);
  ASSERT_THAT(names, SizeIs(2));
  EXPECT_EQ(names[0].name, "seven");
}

TEST(PerfettoForeignTest, BundlesOfSeveralCpusAreInOrder) {
  const ImportedTrace trace =
      Import(MadeBundle(1).Switch(50, kIdle, 0, kSeven).Switch(70, kSeven, 1, kIdle).Packet() +
             MadeBundle(0).Switch(60, kIdle, 0, kEight).Packet());
  std::vector<int64_t> times;
  for (const SchedEvent& event : trace.recording.events) {
    if (std::holds_alternative<SwitchEvent>(event.body)) times.push_back(event.time_ns);
  }
  EXPECT_THAT(times, ElementsAre(50, 60, 70));
}

TEST(PerfettoForeignTest, FlagsTellTheContextOfAWaking) {
  const ImportedTrace trace = Import(MadeBundle(0)
                                         .Waking(1, 8, kSeven, 0)
                                         .Waking(2, 8, kSeven, 0x08)
                                         .Waking(3, 8, kSeven, 0x10)
                                         .Waking(4, 8, kSeven)
                                         .Packet());
  std::vector<WakerContext> contexts;
  for (const WakingEvent& waking : EventsOf<WakingEvent>(trace)) {
    EXPECT_EQ(waking.waker, Tid{8});
    contexts.push_back(waking.context);
  }
  EXPECT_THAT(contexts, ElementsAre(WakerContext::kTask, WakerContext::kHardIrq,
                                    WakerContext::kSoftIrq, WakerContext::kUnknown));
}

TEST(PerfettoForeignTest, InterruptEventsTellWhoWoke) {
  const ImportedTrace trace =
      Import(MadeBundle(0)
                 .Event(1, 8, FtraceEvent::kIrqHandlerEntry,
                        [](pbf_writer& body) {
                          body.add_int32(perfetto::IrqHandlerEntry::kIrq, 42);
                          body.add_string(perfetto::IrqHandlerEntry::kName, "eth0");
                        })
                 .Waking(2, 8, kSeven)
                 .Event(3, 8, FtraceEvent::kIrqHandlerExit,
                        [](pbf_writer& body) { body.add_int32(1, 42); })
                 .Event(4, 8, FtraceEvent::kSoftirqEntry,
                        [](pbf_writer& body) { body.add_uint32(perfetto::SoftirqEntry::kVec, 3); })
                 .Waking(5, 8, kSeven)
                 .Packet());
  const std::vector<WakingEvent> wakings = EventsOf<WakingEvent>(trace);
  ASSERT_THAT(wakings, SizeIs(2));
  EXPECT_EQ(wakings[0].context, WakerContext::kHardIrq);
  EXPECT_EQ(wakings[0].irq, 42);
  EXPECT_EQ(wakings[0].source_name, "eth0");
  EXPECT_EQ(wakings[1].context, WakerContext::kSoftIrq);
  EXPECT_EQ(wakings[1].source_name, "NET_RX");
}

TEST(PerfettoForeignTest, WakeupsMigrationsForksAndExits) {
  const ImportedTrace trace = Import(
      MadeBundle(0)
          .Wakeup(1, kSeven, 1)
          .Event(2, 8, FtraceEvent::kSchedMigrateTask,
                 [](pbf_writer& body) {
                   body.add_int32(perfetto::SchedMigrateTask::kPid, 7);
                   body.add_int32(perfetto::SchedMigrateTask::kOrigCpu, 1);
                   body.add_int32(perfetto::SchedMigrateTask::kDestCpu, 0);
                 })
          .Event(3, 8, FtraceEvent::kTaskNewtask,
                 [](pbf_writer& body) {
                   body.add_int32(perfetto::TaskNewtask::kPid, 9);
                   body.add_string(perfetto::TaskNewtask::kComm, "eight");
                 })
          .Event(4, 9, FtraceEvent::kTaskRename,
                 [](pbf_writer& body) {
                   body.add_int32(perfetto::TaskRename::kPid, 9);
                   body.add_string(perfetto::TaskRename::kNewcomm, "nine");
                 })
          .Event(5, 9, FtraceEvent::kSchedProcessExit,
                 [](pbf_writer& body) { body.add_int32(perfetto::SchedProcessExit::kPid, 9); })
          .Packet());
  EXPECT_EQ(EventsOf<WakeupEvent>(trace)[0].target, CpuId{1});
  EXPECT_THAT(EventsOf<MigrateEvent>(trace), ElementsAre(MigrateEvent{Tid{7}, CpuId{1}, CpuId{0}}));
  EXPECT_EQ(EventsOf<ForkEvent>(trace)[0].parent, Tid{8});
  EXPECT_EQ(EventsOf<ForkEvent>(trace)[0].child, Tid{9});
  EXPECT_THAT(EventsOf<ExitEvent>(trace), ElementsAre(ExitEvent{Tid{9}}));
  EXPECT_EQ(EventsOf<TaskNameEvent>(trace).back().name, "nine");
}

MadeBundle::Compact Columns() {
  MadeBundle::Compact compact;
  compact.names = {"seven", "eight", "swapper"};
  compact.switch_deltas = {100, 10, 20};
  compact.switch_states = {0, 2, 1};
  compact.switch_tids = {7, 8, 0};
  compact.switch_priorities = {120, 98, 120};
  compact.switch_names = {0, 1, 2};
  compact.waking_deltas = {105, 25};
  compact.waking_tids = {8, 7};
  compact.waking_targets = {0, 0};
  compact.waking_names = {1, 0};
  compact.waking_flags = {0, 8};
  return compact;
}

TEST(PerfettoForeignTest, CompactSwitchesGetTheirPrevFromTheOneBefore) {
  const ImportedTrace trace = Import(MadeBundle(0).Columns(Columns()).Packet());
  const std::vector<SwitchEvent> switches = EventsOf<SwitchEvent>(trace);
  // Who left at the first one is not known.
  ASSERT_THAT(switches, SizeIs(2));
  EXPECT_EQ(switches[0].prev, Tid{7});
  EXPECT_EQ(switches[0].next, Tid{8});
  EXPECT_EQ(switches[0].out, SwitchOut::kBlocked);
  EXPECT_EQ(switches[1].prev, Tid{8});
  EXPECT_EQ(switches[1].prev_standing, (TaskStanding{SchedClass::kRealTime, 1, {}}));
  EXPECT_THAT(trace.notes, Contains(HasSubstr("who came onto it before")));
}

TEST(PerfettoForeignTest, CompactWakingsAreAmongTheSwitches) {
  const ImportedTrace trace = Import(MadeBundle(0).Columns(Columns()).Packet());
  const std::vector<WakingEvent> wakings = EventsOf<WakingEvent>(trace);
  ASSERT_THAT(wakings, SizeIs(2));
  EXPECT_EQ(wakings[0].waker, Tid{7});
  EXPECT_EQ(wakings[0].context, WakerContext::kTask);
  EXPECT_EQ(wakings[1].waker, Tid{8});
  EXPECT_EQ(wakings[1].context, WakerContext::kHardIrq);
}

TEST(PerfettoForeignTest, AfterALossPrevIsNotTakenFromBeforeIt) {
  const ImportedTrace trace = Import(MadeBundle(0).Columns(Columns()).Packet() +
                                     MadeBundle(0).Lost().Switch(900, kSeven, 1, kIdle).Packet());
  ASSERT_THAT(trace.recording.losses, SizeIs(1));
  EXPECT_EQ(trace.recording.losses[0].begin_ns, 130);
  EXPECT_EQ(trace.recording.losses[0].end_ns, 900);
}

//        100      130 .. 900
// CPU 0  seven ..
// CPU 1                  eight      who was on it before 900 is not known
TEST(PerfettoForeignTest, BeforeTheFirstCompactSwitchNobodyRan) {
  MadeBundle::Compact late;
  late.names = {"eight"};
  late.switch_deltas = {900};
  late.switch_states = {0};
  late.switch_tids = {8};
  late.switch_priorities = {98};
  late.switch_names = {0};
  const ImportedTrace trace =
      Import(MadeBundle(0).Columns(Columns()).Packet() + MadeBundle(1).Columns(late).Packet());
  const std::vector<CpuSeedEvent> seeds = EventsOf<CpuSeedEvent>(trace);
  ASSERT_THAT(seeds, SizeIs(2));
  EXPECT_EQ(seeds[1].current, Tid{8});
  EXPECT_EQ(seeds[1].standing, (TaskStanding{SchedClass::kRealTime, 1, {}}));
  EXPECT_THAT(trace.recording.losses, ElementsAre(LossInterval{CpuId{1}, 100, 900, 0}));
  EXPECT_THAT(trace.notes, Not(Contains(HasSubstr("lost"))));
  const Timeline timeline(trace.recording);
  EXPECT_EQ(timeline.cpus().StintAt(CpuId{1}, 500)->task, kNoTask);
  EXPECT_EQ(timeline.cpus().StintAt(CpuId{1}, 900)->task, timeline.TaskAt(Tid{8}, 900));
  EXPECT_EQ(timeline.cpus().StintAt(CpuId{0}, 100)->task, timeline.TaskAt(Tid{7}, 100));
}

TEST(PerfettoForeignTest, AfterALossTheFirstCompactSwitchDoesNotTellWhoRan) {
  MadeBundle::Compact late = Columns();
  late.switch_deltas = {900, 10, 20};
  late.waking_deltas = {700, 200};
  const ImportedTrace trace = Import(MadeBundle(0).Columns(Columns()).Packet() +
                                     MadeBundle(0).Lost().Columns(late).Packet());
  EXPECT_THAT(trace.recording.losses, ElementsAre(LossInterval{CpuId{0}, 130, 700, 0},
                                                  LossInterval{CpuId{0}, 700, 900, 0}));
  EXPECT_THAT(EventsOf<CpuSeedEvent>(trace), SizeIs(2));
}

TEST(PerfettoForeignTest, AStateThatIsNotThereIsUnknown) {
  const ImportedTrace trace =
      Import(MadeBundle(0)
                 .Event(50, 7, FtraceEvent::kSchedSwitch,
                        [](pbf_writer& body) {
                          body.add_int32(perfetto::SchedSwitch::kPrevPid, 7);
                          body.add_int32(perfetto::SchedSwitch::kNextPid, 8);
                        })
                 .Packet());
  EXPECT_EQ(EventsOf<SwitchEvent>(trace)[0].out, SwitchOut::kUnknown);
  EXPECT_THAT(trace.notes, Contains(HasSubstr("do not tell in which state")));
}

TEST(PerfettoForeignTest, CloneFlagsTellThreadsFromProcesses) {
  const auto child = [](int32_t tid, uint64_t flags) {
    return [=](pbf_writer& body) {
      body.add_int32(perfetto::TaskNewtask::kPid, tid);
      body.add_uint64(perfetto::TaskNewtask::kCloneFlags, flags);
    };
  };
  const ImportedTrace trace =
      Import(MadeBundle(0)
                 .Switch(1, kIdle, 0, kSeven)
                 .Event(2, 7, FtraceEvent::kTaskNewtask,
                        child(20, perfetto::TaskNewtask::kCloneThread | 0x100))
                 .Event(3, 7, FtraceEvent::kTaskNewtask, child(21, 0x100))
                 .Packet());
  const std::vector<ForkEvent> forks = EventsOf<ForkEvent>(trace);
  ASSERT_THAT(forks, SizeIs(2));
  EXPECT_EQ(forks[0].child_tgid, Tgid{7});
  EXPECT_EQ(forks[1].child_tgid, Tgid{21});
}

TEST(PerfettoForeignTest, ColumnsOfUnequalLengthEndWithTheShortest) {
  MadeBundle::Compact compact = Columns();
  compact.switch_tids.pop_back();
  const ImportedTrace trace = Import(MadeBundle(0).Columns(compact).Packet());
  EXPECT_THAT(EventsOf<SwitchEvent>(trace), SizeIs(1));
  EXPECT_THAT(trace.notes, Contains(HasSubstr("broken")));
}

TEST(PerfettoForeignTest, HugeDifferencesOfTimeAreLeftOut) {
  MadeBundle::Compact compact = Columns();
  compact.switch_deltas = {100, 10, std::numeric_limits<uint64_t>::max() / 2};
  const ImportedTrace trace = Import(MadeBundle(0).Columns(compact).Packet());
  EXPECT_THAT(EventsOf<SwitchEvent>(trace), SizeIs(1));
}

TEST(PerfettoForeignTest, CompressedPacketsAreRead) {
  const std::string plain = MadeBundle(0).Switch(50, kSeven, 1, kIdle).Packet();
  EXPECT_THAT(EventsOf<SwitchEvent>(Import(MadeCompressedPacket(plain + plain))), SizeIs(2));
}

TEST(PerfettoForeignTest, CompressedPacketsAreBounded) {
  const std::string plain = MadeBundle(0).Switch(50, kSeven, 1, kIdle).Packet();
  std::string many;
  for (int i = 0; i < 1000; ++i) many += plain;
  ImportLimits limits;
  limits.unpacked_bytes = 4096;
  const absl::StatusOr<ImportedTrace> trace = ImportPerfetto(MadeCompressedPacket(many), limits);
  ASSERT_THAT(trace, IsOk());
  EXPECT_LT(EventsOf<SwitchEvent>(*trace).size(), 100u);
  EXPECT_THAT(trace->notes, Contains(HasSubstr("unpack to too much")));
}

TEST(PerfettoForeignTest, NamesOfTheProcessTreeStandFromTheBeginning) {
  const std::string tree = MadePacket([](pbf_writer& packet) {
    pbf_writer message(packet, perfetto::Packet::kProcessTree);
    pbf_writer thread(message, perfetto::ProcessTree::kThreads);
    thread.add_int32(perfetto::Thread::kTid, 7);
    thread.add_int32(perfetto::Thread::kTgid, 5);
    thread.add_string(perfetto::Thread::kName, "seven of five");
  });
  const ImportedTrace trace = Import(MadeBundle(0).Switch(50, {7, ""}, 1, kIdle).Packet() + tree);
  const std::vector<TaskNameEvent> names = EventsOf<TaskNameEvent>(trace);
  ASSERT_THAT(names, SizeIs(1));
  EXPECT_EQ(names[0].name, "seven of five");
  EXPECT_EQ(names[0].tgid, Tgid{5});
}

TEST(PerfettoForeignTest, TheClockIsSaid) {
  EXPECT_THAT(Import(MadeBundle(0).Switch(50, kSeven, 1, kIdle).Packet()).notes,
              Contains("times are of CLOCK_BOOTTIME"));
  const ImportedTrace trace = Import(MadeBundle(0).Clock(2).Switch(50, kSeven, 1, kIdle).Packet() +
                                     MadeBundle(1).Switch(50, kSeven, 1, kIdle).Packet());
  EXPECT_THAT(trace.notes, Contains("times are of ftrace's global clock"));
  EXPECT_THAT(trace.notes, Contains(HasSubstr("do not compare")));
  EXPECT_FALSE(trace.recording.trace->comparable_clocks);
}

TEST(PerfettoForeignTest, TheKernelTellsWhatStatesMean) {
  const std::string info = MadePacket([](pbf_writer& packet) {
    pbf_writer message(packet, perfetto::Packet::kSystemInfo);
    pbf_writer utsname(message, perfetto::SystemInfo::kUtsname);
    utsname.add_string(perfetto::Utsname::kRelease, "4.14.117-perf");
  });
  // There 3 is the index of "stopped", not "interruptible and uninterruptible".
  const ImportedTrace trace = Import(MadeBundle(0).Switch(50, kSeven, 3, kIdle).Packet() + info);
  EXPECT_EQ(EventsOf<SwitchEvent>(trace)[0].prev_state, 4u);
}

TEST(PerfettoForeignTest, OfACutFileThePrefixIsRead) {
  std::string bytes;
  for (uint64_t i = 0; i < 20; ++i) {
    bytes += MadeBundle(0).Switch(100 * i, kSeven, 1, kEight).Columns(Columns()).Packet();
  }
  size_t last = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const absl::StatusOr<ImportedTrace> trace =
        ImportPerfetto(bytes.substr(0, size), ImportLimits());
    if (!trace.ok()) {
      EXPECT_EQ(trace.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(std::string(trace.status().message()), Not(IsEmpty()));
      continue;
    }
    EXPECT_GE(trace->recording.events.size(), last);
    last = trace->recording.events.size();
  }
  EXPECT_THAT(Import(bytes.substr(0, bytes.size() - 1)).notes,
              Contains(HasSubstr("cut off after")));
}

TEST(PerfettoForeignTest, ATraceWithoutSchedulerEventsSaysWhatItHas) {
  const std::string packet = MadePacket([](pbf_writer& writer) { writer.add_uint32(10, 1); });
  EXPECT_THAT(ImportPerfetto(packet + packet, ImportLimits()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2 packets")));
}

TEST(PerfettoForeignTest, UnknownFieldsAreSkipped) {
  const std::string unknown = MadePacket([](pbf_writer& writer) {
    writer.add_string(1500, "extension");
    writer.add_uint64(99, 1);
  });
  const std::string known = MadeBundle(0).Switch(50, kSeven, 1, kIdle).Packet();
  EXPECT_THAT(EventsOf<SwitchEvent>(Import(known + unknown)), SizeIs(1));
}

}  // namespace
}  // namespace whylate
