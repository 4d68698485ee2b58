// Real traces, where they are installed beside the checkout: what each is known to hold. They skip
// elsewhere; small texts of the same situations are in the readers' own tests.
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "analysis/import/ftrace_text.h"
#include "analysis/import/perf_script.h"
#include "analysis/import/perfetto_textproto.h"
#include "analysis/import/trace_dat.h"
#include "analysis/timeline/timeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/imported_waits.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr int64_t kUs = 1000;

class Cases : public testing::Test {
 protected:
  // The file `name` of the case whose directory begins with `prefix`; "" and a skip without it.
  static std::string Find(const std::string& prefix, const std::string& name) {
    std::error_code ignored;
    for (const auto& entry :
         std::filesystem::directory_iterator(WHYLATE_CASES_DIRECTORY, ignored)) {
      const std::string directory = entry.path().filename().string();
      if (directory.rfind(prefix + "-", 0) == 0) return (entry.path() / name).string();
    }
    return "";
  }
  static std::string Read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  bool Load(const std::string& prefix, const std::string& name) {
    path_ = Find(prefix, name);
    if (path_.empty()) return false;
    absl::StatusOr<ImportedTrace> trace = name.size() > 4 && name.substr(name.size() - 4) == ".dat"
                                              ? ImportTraceDat(path_, ImportLimits())
                                          : name == "perf.sched.script"
                                              ? ImportPerfScript(Read(path_), ImportLimits())
                                              : ImportFtraceText(Read(path_), ImportLimits());
    EXPECT_THAT(trace, IsOk());
    if (trace.ok()) trace_ = *std::move(trace);
    return true;
  }

  const Recording& recording() const { return trace_.recording; }

  // Between the first and the last event.
  int64_t SpanNs() const { return recording().end_ns - 1 - recording().begin_ns; }

  // The wait of `tid` that ends at `end_us`, microseconds of the trace's clock; the nearest.
  ImportedWait WaitOf(int32_t tid, double end_s) const {
    ImportedWait best;
    double nearest = 1;
    for (const ImportedWait& wait : LongestWaits(recording(), SIZE_MAX)) {
      const double distance = std::abs(static_cast<double>(wait.end_ns) / 1e9 - end_s);
      if (wait.tid != Tid{tid} || distance >= nearest) continue;
      nearest = distance;
      best = wait;
    }
    EXPECT_LT(nearest, 2e-6) << "no wait of " << tid << " ends at " << end_s;
    return best;
  }
  // In microseconds, rounded, from the waking or else the wake-up or the preemption.
  static int64_t Us(const ImportedWait& wait) {
    return (wait.end_ns - wait.start_ns + kUs / 2) / kUs;
  }
  static int64_t UsFromQueued(const ImportedWait& wait) {
    return (wait.end_ns - wait.queued_ns + kUs / 2) / kUs;
  }
  std::string NameOf(int32_t tid) const {
    const Timeline timeline(recording());
    return std::string(timeline.tasks().NameAt(timeline.TaskAt(Tid{tid}, 0), INT64_MAX));
  }
  // Who was on `cpu` then.
  Tid RunningAt(int32_t cpu, double time_s) const {
    const Timeline timeline(recording());
    const Stint* stint = timeline.cpus().StintAt(CpuId{cpu}, static_cast<int64_t>(time_s * 1e9));
    if (stint == nullptr || stint->task == kNoTask) return Tid{-1};
    return timeline.tasks().info(stint->task).key.tid;
  }
  size_t PreemptedWaits() const {
    size_t count = 0;
    for (const ImportedWait& wait : LongestWaits(recording(), SIZE_MAX)) {
      count += wait.by == QueuedBy::kSwitchOut ? 1 : 0;
    }
    return count;
  }
  std::vector<const SwitchEvent*> Switches() const {
    std::vector<const SwitchEvent*> switches;
    for (const SchedEvent& event : recording().events) {
      if (const auto* body = std::get_if<SwitchEvent>(&event.body)) switches.push_back(body);
    }
    return switches;
  }

  std::string path_;
  ImportedTrace trace_;
};

#define LOAD_OR_SKIP(prefix, name) \
  if (!Load(prefix, name)) GTEST_SKIP() << "no cases beside the checkout"

constexpr char kIndicesNote[] = "states of a 4.14 kernel are indices";

TEST_F(Cases, T01LateWakeUpsBehindARealTimeTask) {
  LOAD_OR_SKIP("T01", "trace.dat");
  EXPECT_EQ(trace_.format, "trace.dat v6");
  EXPECT_EQ(CountOf<SwitchEvent>(recording()), 251u);
  EXPECT_EQ(CountOf<WakeupEvent>(recording()), 144u);
  EXPECT_EQ(SpanNs() / kUs, 9'430'147);
  EXPECT_EQ(recording().trace->lost, 0u);
  EXPECT_THAT(recording().losses, SizeIs(0));
  const ImportedWait first = WaitOf(8, 1464.205311);
  EXPECT_EQ(first.name, "rcu_preempt");
  EXPECT_EQ(Us(first), 23'898);
  const ImportedWait second = WaitOf(9, 1464.205375);
  EXPECT_EQ(second.name, "rcu_sched");
  EXPECT_NEAR(static_cast<double>(Us(second)), 23'916, 1);
  EXPECT_NEAR(static_cast<double>(Us(WaitOf(1180, 1469.297112))), 438, 1);
  EXPECT_EQ(RunningAt(0, 1464.19), Tid{1181});
  EXPECT_EQ(NameOf(1181), "bash");
  EXPECT_THAT(trace_.notes, Contains(kIndicesNote));
  const auto switches = Switches();
  EXPECT_EQ(switches.front()->prev, Tid{1181});
  EXPECT_EQ(switches.front()->prev_standing.rt_priority, 30);
  for (const SwitchEvent* event : switches) EXPECT_NE(event->prev_state, 0x8u);  // none traced
}

TEST_F(Cases, T02SwitchesAlone) {
  LOAD_OR_SKIP("T02", "trace.dat");
  EXPECT_EQ(CountOf<SwitchEvent>(recording()), 4427u);
  EXPECT_EQ(CountOf<WakeupEvent>(recording()) + CountOf<WakingEvent>(recording()), 0u);
  EXPECT_EQ((SpanNs() + kUs / 2) / kUs, 18'591'421);
  EXPECT_THAT(recording().cpus, SizeIs(4));
  EXPECT_THAT(trace_.notes, Contains(HasSubstr("no wake-up events")));
  EXPECT_THAT(trace_.notes, Contains(kIndicesNote));
  const ImportedWait longest = WaitOf(425, 852655.304450);
  EXPECT_EQ(longest.name, "Xorg");
  EXPECT_EQ(Us(longest), 1293);
  EXPECT_EQ(RunningAt(longest.cpu.value, 852655.3040), Tid{636});
  EXPECT_EQ(Us(LongestWaits(recording(), 2)[1]), 1293);  // 1292.6
  EXPECT_EQ(PreemptedWaits(), 115u);
  EXPECT_EQ(recording().trace->lost, 9u);  // 0, 1, 1 and 7 left unread
}

TEST_F(Cases, T04NothingLate) {
  LOAD_OR_SKIP("T04", "trace.dat");
  EXPECT_EQ(CountOf<SwitchEvent>(recording()), 293u);
  EXPECT_EQ(SpanNs() / kUs, 14'950'636);
  EXPECT_THAT(recording().cpus, SizeIs(1));
  EXPECT_EQ(PreemptedWaits(), 1u);
  EXPECT_EQ(Us(LongestWaits(recording(), 1)[0]), 526);
  EXPECT_EQ(LongestWaits(recording(), 1)[0].tid, Tid{91});
  EXPECT_THAT(trace_.notes, Contains(HasSubstr("no wake-up events")));
}

TEST_F(Cases, T05NamesThatEndLikeAPid) {
  LOAD_OR_SKIP("T05", "trace.dat");
  EXPECT_EQ(CountOf<SwitchEvent>(recording()), 1552u);
  EXPECT_EQ((SpanNs() + kUs / 2) / kUs, 9'303'175);
  EXPECT_EQ(NameOf(6984), "task_r20_5-60");
  const ImportedWait pulled = WaitOf(6984, 259447.136950);
  EXPECT_EQ(Us(pulled), 335);
}

TEST_F(Cases, T07TwoSmallOnes) {
  LOAD_OR_SKIP("T07", "raw_trace.dat");
  EXPECT_EQ(CountOf<SwitchEvent>(recording()), 755u);
  EXPECT_EQ((SpanNs() + kUs / 2) / kUs, 3'793);
  EXPECT_THAT(recording().cpus, SizeIs(4));  // 3 and 4 are empty
  EXPECT_EQ(Us(LongestWaits(recording(), 1)[0]), 206);
  EXPECT_EQ(LongestWaits(recording(), 1)[0].tid, Tid{4734});

  LOAD_OR_SKIP("T07", "trace_idle.dat");
  EXPECT_EQ(CountOf<SwitchEvent>(recording()), 23u);
  EXPECT_EQ(CountOf<MigrateEvent>(recording()), 3u);
  EXPECT_EQ((SpanNs() + kUs / 2) / kUs, 5'278);
  EXPECT_EQ(Us(LongestWaits(recording(), 1)[0]), 467);
  EXPECT_EQ(LongestWaits(recording(), 1)[0].tid, Tid{6240});
}

TEST_F(Cases, T09NoTraces) {
  const std::string apple = Find("T09", "appledouble-trace.dat");
  if (apple.empty()) GTEST_SKIP() << "no cases beside the checkout";
  EXPECT_THAT(ImportTraceDat(apple, ImportLimits()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\\x00\\x05\\x16\\x07")));
  EXPECT_THAT(ImportTraceDat(Find("T09", "cpu-simulator-trace.dat"), ImportLimits()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("flw    f6,32(x2)")));
  EXPECT_THAT(ImportTraceDat(Find("T09", "symlink-text-trace.dat"), ImportLimits()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("../../../doc")));
}

TEST_F(Cases, T10RawStates) {
  LOAD_OR_SKIP("T10", "input-trace.txt");
  EXPECT_EQ(CountOf<SwitchEvent>(recording()), 1856u);
  EXPECT_EQ(CountOf<WakeupEvent>(recording()), 1068u);
  EXPECT_EQ(SpanNs() / kUs, 6'676'497);
  EXPECT_THAT(recording().cpus, SizeIs(6));
  EXPECT_EQ(NameOf(1383), "jbd2/sda2-8");
  const ImportedWait idle = WaitOf(1383, 82.240112);
  EXPECT_EQ(Us(idle), 397);
  EXPECT_EQ(idle.cpu, CpuId{2});
  EXPECT_EQ(Us(WaitOf(8, 81.230372)), 319);
  EXPECT_EQ(Us(WaitOf(8, 82.566293)), 222);
  // 64 is how a task exits, 4096 a preempted one.
  EXPECT_EQ(Switches().front()->prev, Tid{1701});
  EXPECT_EQ(Switches().front()->out, SwitchOut::kExited);
}

TEST_F(Cases, T12SystracePage) {
  LOAD_OR_SKIP("T12", "trace.html");
  EXPECT_EQ(trace_.format, "systrace HTML");
  EXPECT_EQ(CountOf<SwitchEvent>(recording()), 715u);
  EXPECT_EQ(CountOf<WakeupEvent>(recording()), 421u);
  EXPECT_EQ(SpanNs() / kUs, 738'070);
  const ImportedWait rcu = LongestWaits(recording(), 1)[0];
  EXPECT_EQ(rcu.tid, Tid{7});
  EXPECT_EQ(Us(rcu), 4'542);
  EXPECT_EQ(rcu.start_ns / kUs, 538'786'763);
  EXPECT_EQ(Us(WaitOf(10, 538.743243)), 2'650);
  const ImportedWait binder = WaitOf(2074, 538.760317);
  EXPECT_EQ(Us(binder), 3'165);
  EXPECT_EQ(binder.by, QueuedBy::kSwitchOut);
  EXPECT_EQ(binder.cpu, CpuId{5});
  EXPECT_EQ(RunningAt(5, 538.7590), Tid{7591});
  EXPECT_THAT(trace_.notes, Contains(HasSubstr("no affinity")));
}

TEST_F(Cases, T13FieldsWinAndNamesComeFromElsewhere) {
  LOAD_OR_SKIP("T13", "sched_blocked.systrace");
  EXPECT_EQ(CountOf<SwitchEvent>(recording()), 4u);
  EXPECT_EQ(Switches()[3]->prev, Tid{2172});
  EXPECT_EQ(Switches()[3]->out, SwitchOut::kBlocked);
  EXPECT_EQ(Switches()[0]->prev, Tid{0});
  EXPECT_EQ(Switches()[0]->out, SwitchOut::kRunnable);  // its "D" means nothing
  LOAD_OR_SKIP("T13", "unknown_thread_name.systrace");
  EXPECT_EQ(NameOf(19999), "real_name");
}

TEST_F(Cases, T13PerfettoInText) {
  path_ = Find("T13", "sched_blocked.textproto");
  if (path_.empty()) GTEST_SKIP() << "no cases beside the checkout";
  auto trace = ImportPerfettoText(Read(path_), ImportLimits());
  ASSERT_THAT(trace, IsOk());
  trace_ = *std::move(trace);
  EXPECT_EQ(CountOf<SwitchEvent>(recording()), 10u);
  EXPECT_THAT(recording().cpus, SizeIs(3));
  EXPECT_EQ(RunningAt(1, 0.0005), Tid{100});
  EXPECT_EQ(RunningAt(1, 0.0010005), Tid{101});
  EXPECT_EQ(RunningAt(2, 0.0010005), Tid{103});
  EXPECT_EQ(NameOf(105), "105");
  for (const SwitchEvent* event : Switches()) {
    EXPECT_EQ(event->out, event->prev == Tid{0} ? SwitchOut::kRunnable : SwitchOut::kBlocked);
  }
}

TEST_F(Cases, T14PerfScript) {
  LOAD_OR_SKIP("T14", "perf.sched.script");
  EXPECT_EQ(CountOf<SwitchEvent>(recording()), 1u);
  EXPECT_EQ(recording().trace->events, 1u);
  for (const SchedEvent& event : recording().events) {
    if (std::holds_alternative<SwitchEvent>(event.body)) {
      EXPECT_EQ(event.time_ns, 120);
    }
  }
  EXPECT_EQ(recording().begin_ns, 50);
  EXPECT_EQ(recording().end_ns, 301);
  EXPECT_THAT(trace_.notes, Contains(HasSubstr("out of time order")));
}

TEST_F(Cases, T18PriorityInheritance) {
  LOAD_OR_SKIP("T18", "input.txt");
  EXPECT_THAT(recording().cpus, SizeIs(1));
  EXPECT_EQ(recording().cpus[0].cpu, CpuId{7});
  EXPECT_EQ(Us(WaitOf(53, 46.299728)), 23);
  EXPECT_EQ(Us(WaitOf(11, 46.299760)), 10);
  EXPECT_EQ(RunningAt(7, 46.2997550), Tid{54});
  EXPECT_EQ(CountOf<WakingEvent>(recording()), 2u);
  // Boosted, it leaves the CPU and comes back as what it was.
  const auto switches = Switches();
  EXPECT_EQ(switches[3]->prev, Tid{11});
  EXPECT_EQ(switches[3]->out, SwitchOut::kRunnable);
  EXPECT_EQ(switches[3]->next_standing.sched_class, SchedClass::kRealTime);
  EXPECT_EQ(switches[4]->prev_standing.sched_class, SchedClass::kFair);
}

TEST_F(Cases, T19TwoTasksOfOneName) {
  LOAD_OR_SKIP("T19", "input.txt");
  const ImportedWait wait = WaitOf(535, 403.402413);
  EXPECT_EQ(Us(wait), 780);
  EXPECT_EQ(UsFromQueued(wait), 773);
  EXPECT_EQ(wait.cpu, CpuId{7});
  EXPECT_EQ(RunningAt(7, 403.4020), Tid{538});
  EXPECT_EQ(NameOf(535), NameOf(538));
  EXPECT_EQ(Switches()[0]->next_standing.rt_priority, 10);
}

TEST_F(Cases, T20ARunnableTaskIsNotPreemptedByIdle) {
  LOAD_OR_SKIP("T20", "input.txt");
  EXPECT_EQ(Switches()[0]->out, SwitchOut::kBlocked);
  EXPECT_EQ(Switches()[0]->prev, Tid{1677});
  EXPECT_EQ(PreemptedWaits(), 0u);
  const Timeline timeline(recording());
  const auto spans = timeline.spans().Spans(timeline.TaskAt(Tid{1677}, 103'010'411'000));
  ASSERT_THAT(spans, SizeIs(3));
  EXPECT_EQ(spans[1].state, TaskState::kWaking);  // woken while it ran, so never queued by itself
  EXPECT_EQ(spans[1].start_ns, 103'010'440'000);
  EXPECT_EQ(spans[2].state, TaskState::kQueued);
  EXPECT_EQ(spans[2].start_ns, 103'010'459'000);
}

TEST_F(Cases, T29NamesWithBlanks) {
  LOAD_OR_SKIP("T29", "input.txt");
  EXPECT_EQ(CountOf<SwitchEvent>(recording()), 27u);
  EXPECT_THAT(recording().cpus, SizeIs(4));
  EXPECT_EQ(NameOf(945), "rs:main Q:Reg");
  EXPECT_EQ(NameOf(5231), "sh");
  EXPECT_EQ(RunningAt(2, 17001.4345), Tid{945});
  EXPECT_EQ(RunningAt(2, 17001.4346), Tid{0});
  EXPECT_EQ(Us(WaitOf(544, 17001.434372)), 122);
  EXPECT_EQ(Us(WaitOf(5229, 17001.435426)), 10);
  EXPECT_THAT(trace_.notes, Contains(HasSubstr("no wake-up events")));
}

TEST_F(Cases, T31StacksBetweenTheEvents) {
  LOAD_OR_SKIP("T31", "input.txt");
  const ImportedWait wait = WaitOf(1127, 2772.154422);
  EXPECT_EQ(Us(wait), 41);
  EXPECT_EQ(wait.cpu, CpuId{1});
  EXPECT_EQ(Switches()[0]->prev, Tid{1119});
  EXPECT_EQ(Switches()[0]->out, SwitchOut::kRunnable);
}

}  // namespace
}  // namespace whylate
