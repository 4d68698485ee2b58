// What the analysis says of traces that people published, against what is known of each of them.
// Skips where the traces are not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "analysis/attribution/activations.h"
#include "userspace/cli/trace_file.h"

namespace whylate {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

constexpr int64_t kUs = 1'000;
constexpr int64_t kMs = 1'000'000;

class CaseVerdictsTest : public testing::Test {
 protected:
  // The one case whose name begins with `id`; skips the test where it is absent.
  void Open(const std::string& id, const std::string& file) {
    std::error_code ignored;
    for (const auto& entry :
         std::filesystem::directory_iterator(WHYLATE_CASES_DIRECTORY, ignored)) {
      if (entry.path().filename().string().rfind(id + "-", 0) != 0) continue;
      const std::string path = (entry.path() / file).string();
      absl::StatusOr<ImportedTrace> opened = OpenTrace(path);
      ASSERT_TRUE(opened.ok()) << opened.status();
      trace_ = *std::move(opened);
      return;
    }
    GTEST_SKIP() << "no case " << id << " in " << WHYLATE_CASES_DIRECTORY;
  }

  Analysis Analyze(const std::string& task = "", size_t worst = 10) const {
    ActivationOptions options;
    options.task = task;
    options.worst = worst;
    return AnalyzeActivations(trace_.recording, options);
  }

  // The activation of `tid` woken at `us`, in microseconds of the trace's clock.
  std::optional<Activation> WokenAt(int32_t tid, int64_t us) const {
    for (const Activation& activation : Analyze(absl::StrCat(tid), 100'000).activations) {
      if (activation.waking_ns && *activation.waking_ns / kUs == us) return activation;
    }
    return std::nullopt;
  }

  // The activation of `tid` that runs first at `us`, without a waking.
  std::optional<Activation> RanAt(int32_t tid, int64_t us) const {
    for (const Activation& activation : Analyze(absl::StrCat(tid), 100'000).activations) {
      if (activation.running_ns && *activation.running_ns / kUs == us) return activation;
    }
    return std::nullopt;
  }

  // Those of a task where it is switched in.
  std::set<SchedClass> ClassesOf(int32_t tid) const {
    std::set<SchedClass> classes;
    for (const SchedEvent& event : trace_.recording.events) {
      const auto* switched = std::get_if<SwitchEvent>(&event.body);
      if (switched != nullptr && switched->next == Tid{tid}) {
        classes.insert(switched->next_standing.sched_class);
      }
    }
    return classes;
  }
  static std::set<SchedClass> Stop() { return {SchedClass::kStop}; }

  ImportedTrace trace_;
};

Segment LongestWait(const Activation& activation) {
  Segment longest;
  for (const Segment& segment : activation.segments) {
    if (segment.kind == SegmentKind::kRunning) continue;
    if (segment.end_ns - segment.start_ns > longest.end_ns - longest.start_ns) longest = segment;
  }
  return longest;
}

auto WithoutAVerdict() {
  return AllOf(Field(&Activation::verdict, std::nullopt), Field(&Activation::wait_ns, 0),
               Field(&Activation::wait_known, false));
}

// A task's time among the occupants of the waits of an activation.
int64_t BehindNs(const Activation& activation, int32_t tid) {
  int64_t ns = 0;
  for (const Segment& segment : activation.segments) {
    for (const Occupant& occupant : segment.occupants) {
      if (occupant.tid == Tid{tid}) ns += occupant.end_ns - occupant.start_ns;
    }
  }
  return ns;
}

// From the waking to the first switch-in, in whole microseconds.
int64_t LatencyUs(const Activation& activation) {
  return (*activation.running_ns - *activation.waking_ns) / kUs;
}

// As the reports of these traces print them.
int64_t RoundedUs(int64_t ns) { return (ns + kUs / 2) / kUs; }

int64_t PossiblyAvoidableNs(const Activation& activation) {
  int64_t ns = 0;
  for (const Segment& segment : activation.segments) ns += segment.possibly_avoidable_ns;
  return ns;
}

// A real-time shell ran without a switch; two late wake-ups are its doing.
TEST_F(CaseVerdictsTest, T01) {
  ASSERT_NO_FATAL_FAILURE(Open("T01", "trace.dat"));
  if (IsSkipped()) return;
  const Analysis analysis = Analyze();
  ASSERT_GE(analysis.activations.size(), 2u);
  EXPECT_EQ(analysis.activations[0].tid, Tid{9});
  EXPECT_EQ(analysis.activations[1].tid, Tid{8});
  EXPECT_NEAR(static_cast<double>(LatencyUs(analysis.activations[0])), 23'916, 1);
  EXPECT_NEAR(static_cast<double>(LatencyUs(analysis.activations[1])), 23'898, 1);
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(analysis.activations[i].verdict.has_value());
    EXPECT_EQ(analysis.activations[i].verdict->subject, "bash");
    EXPECT_EQ(analysis.activations[i].verdict->decision, Decision::kHigherClass);
    const Occupant& occupant = analysis.activations[i].segments[0].occupants[0];
    EXPECT_EQ(occupant.tid, Tid{1181});
    EXPECT_EQ(occupant.standing.rt_priority, 30);
    EXPECT_EQ(analysis.activations[i].segments[0].standing.sched_class, SchedClass::kFair);
  }
}

TEST_F(CaseVerdictsTest, T02) {
  ASSERT_NO_FATAL_FAILURE(Open("T02", "trace.dat"));
  if (IsSkipped()) return;
  EXPECT_THAT(trace_.notes, Contains(HasSubstr("no wake-up events")));
  int64_t longest_ns = 0;
  const Segment* longest = nullptr;
  const Analysis analysis = Analyze("", 100'000);
  for (const Activation& activation : analysis.activations) {
    EXPECT_FALSE(activation.waking_ns.has_value());
    for (const Segment& segment : activation.segments) {
      if (segment.kind != SegmentKind::kPreempted) continue;
      if (segment.end_ns - segment.start_ns <= longest_ns) continue;
      longest_ns = segment.end_ns - segment.start_ns;
      longest = &segment;
    }
  }
  ASSERT_NE(longest, nullptr);
  EXPECT_EQ(longest_ns / kUs, 1293);
  EXPECT_EQ(longest->start_ns / kUs, 852'655'303'157);
}

TEST_F(CaseVerdictsTest, T04) {
  ASSERT_NO_FATAL_FAILURE(Open("T04", "trace.dat"));
  if (IsSkipped()) return;
  EXPECT_THAT(trace_.notes, Contains(HasSubstr("no wake-up events")));
  const Analysis analysis = Analyze();
  ASSERT_GE(analysis.activations.size(), 2u);
  EXPECT_EQ(analysis.activations[0].tid, Tid{91});
  EXPECT_EQ(analysis.activations[0].wait_ns / kUs, 526);
  EXPECT_LE(analysis.activations[1].wait_ns, 1);  // switched out by the last event
}

// Pushed away from below the stopper, which displaced it. No record says when it was moved, so that
// nobody knows behind whom it was.
TEST_F(CaseVerdictsTest, T05) {
  ASSERT_NO_FATAL_FAILURE(Open("T05", "trace.dat"));
  if (IsSkipped()) return;
  EXPECT_EQ(ClassesOf(13), Stop());
  const std::optional<Activation> pulled = RanAt(6984, 259'447'136'567);
  ASSERT_TRUE(pulled.has_value());
  EXPECT_FALSE(pulled->wait_known);
  const Segment wait = LongestWait(*pulled);
  EXPECT_EQ(wait.kind, SegmentKind::kPreempted);
  EXPECT_EQ(RoundedUs(wait.start_ns), 259'447'136'615);
  EXPECT_EQ(RoundedUs(wait.end_ns - wait.start_ns), 335);
  EXPECT_EQ(wait.waker, "migration/1");
  EXPECT_EQ(pulled->wait_ns, wait.end_ns - wait.start_ns);
  EXPECT_EQ(pulled->verdict->subject, "unknown");
  EXPECT_EQ(pulled->verdict->confidence, Confidence::kIncomplete);
}

TEST_F(CaseVerdictsTest, T07) {
  ASSERT_NO_FATAL_FAILURE(Open("T07", "raw_trace.dat"));
  if (IsSkipped()) return;
  EXPECT_EQ(ClassesOf(18), Stop());
  const Activation moved = Analyze().activations.at(0);
  EXPECT_EQ(moved.tid, Tid{4734});
  const Segment wait = LongestWait(moved);
  EXPECT_EQ(wait.kind, SegmentKind::kPreempted);
  EXPECT_EQ(RoundedUs(wait.end_ns - wait.start_ns), 206);
  EXPECT_EQ(wait.waker, "migration/2");
  EXPECT_EQ(moved.verdict->subject, "unknown");
  EXPECT_EQ(moved.verdict->confidence, Confidence::kIncomplete);

  ASSERT_NO_FATAL_FAILURE(Open("T07", "trace_idle.dat"));
  const Activation sudo = Analyze().activations.at(0);
  EXPECT_EQ(sudo.tid, Tid{6240});
  EXPECT_EQ(RoundedUs(sudo.wait_ns), 467);
  EXPECT_EQ(BehindNs(sudo, 5965) + BehindNs(sudo, 6039), sudo.wait_ns);
  EXPECT_GT(BehindNs(sudo, 5965), 0);
  EXPECT_EQ(LongestWait(sudo).kind, SegmentKind::kPreempted);
  EXPECT_EQ(sudo.verdict->subject, "bash");
  EXPECT_EQ(sudo.verdict->decision, Decision::kUndetermined);
}

TEST_F(CaseVerdictsTest, T10) {
  ASSERT_NO_FATAL_FAILURE(Open("T10", "input-trace.txt"));
  if (IsSkipped()) return;
  const Analysis disk = Analyze("jbd2/sda2-8");
  ASSERT_FALSE(disk.activations.empty());
  EXPECT_EQ(disk.activations[0].tid, Tid{1383});
  EXPECT_EQ(LatencyUs(disk.activations[0]), 397);
  EXPECT_EQ(disk.activations[0].verdict->subject, "wakeup");
  EXPECT_EQ(disk.activations[0].verdict->decision, Decision::kIdleExit);
  const Analysis rcu = Analyze("rcu_preempt");
  ASSERT_GE(rcu.activations.size(), 2u);
  EXPECT_EQ(LatencyUs(rcu.activations[0]), 319);
  EXPECT_EQ(rcu.activations[0].verdict->subject, "sshd");
  EXPECT_GT(BehindNs(rcu.activations[0], 1585), 300 * kUs);
  EXPECT_EQ(LatencyUs(rcu.activations[1]), 222);
  EXPECT_GT(BehindNs(rcu.activations[1], 1715), 0);
}

TEST_F(CaseVerdictsTest, T12) {
  ASSERT_NO_FATAL_FAILURE(Open("T12", "trace.html"));
  if (IsSkipped()) return;
  const Activation rcu = Analyze("rcu_preempt").activations.at(0);
  EXPECT_EQ(LatencyUs(rcu), 4542);
  EXPECT_EQ(rcu.verdict->subject, "mdss_fb0");
  EXPECT_GT(BehindNs(rcu, 3660), 4 * kMs);
  EXPECT_GT(BehindNs(rcu, 87), 0);
  const Activation rcuop = Analyze("10").activations.at(0);
  EXPECT_EQ(LatencyUs(rcuop), 2650);
  EXPECT_GT(BehindNs(rcuop, 2074), 2 * kMs);
  EXPECT_GT(BehindNs(rcuop, 627), 0);
  const Activation binder = Analyze("2074").activations.at(0);
  EXPECT_EQ(binder.verdict->subject, "RenderThread");
  const Segment* longest = &binder.segments.front();
  for (const Segment& segment : binder.segments) {
    if (segment.end_ns - segment.start_ns > longest->end_ns - longest->start_ns) longest = &segment;
  }
  EXPECT_EQ(longest->kind, SegmentKind::kPreempted);
  EXPECT_EQ((longest->end_ns - longest->start_ns) / kUs, 3165);
  EXPECT_EQ(longest->cpu, CpuId{5});
  // Idle CPUs were about, and nobody knows whether it was allowed to use them.
  EXPECT_EQ(longest->avoidable_ns, 0);
  EXPECT_GT(PossiblyAvoidableNs(binder), 3 * kMs);
}

// Nothing tells that anybody waited, nor that nobody did.
TEST_F(CaseVerdictsTest, T13) {
  ASSERT_NO_FATAL_FAILURE(Open("T13", "sched_blocked.systrace"));
  if (IsSkipped()) return;
  const Analysis blocked = Analyze();
  EXPECT_THAT(blocked.activations,
              ElementsAre(Field(&Activation::tid, Tid{269}), Field(&Activation::tid, Tid{2172})));
  EXPECT_THAT(blocked.activations, Each(Field(&Activation::finished, true)));
  EXPECT_THAT(blocked.activations, Each(WithoutAVerdict()));
  ASSERT_NO_FATAL_FAILURE(Open("T13", "unknown_thread_name.systrace"));
  EXPECT_THAT(Analyze().activations, ElementsAre(Field(&Activation::task, "real_name")));
  EXPECT_THAT(Analyze().activations, Each(WithoutAVerdict()));
}

TEST_F(CaseVerdictsTest, T14) {
  ASSERT_NO_FATAL_FAILURE(Open("T14", "perf.sched.script"));
  if (IsSkipped()) return;
  const Analysis analysis = Analyze();
  EXPECT_THAT(analysis.activations, ElementsAre(Field(&Activation::tid, Tid{2001})));
  EXPECT_EQ(analysis.activations[0].running_ns, 120);
  EXPECT_FALSE(analysis.activations[0].finished);
  EXPECT_THAT(analysis.activations, Each(WithoutAVerdict()));
}

TEST_F(CaseVerdictsTest, T18) {
  ASSERT_NO_FATAL_FAILURE(Open("T18", "input.txt"));
  if (IsSkipped()) return;
  const std::optional<Activation> rcuc = WokenAt(53, 46'299'705);
  ASSERT_TRUE(rcuc.has_value());
  EXPECT_EQ(LatencyUs(*rcuc), 23);
  EXPECT_EQ(rcuc->verdict->decision, Decision::kIdleExit);
  const std::optional<Activation> rcu = WokenAt(11, 46'299'750);
  ASSERT_TRUE(rcu.has_value());
  EXPECT_EQ(LatencyUs(*rcu), 10);
  EXPECT_EQ(rcu->verdict->subject, "ksoftirqd/7");
}

// Times are those of the text, placed from 1 s and 3 s on.
TEST_F(CaseVerdictsTest, T21) {
  ASSERT_NO_FATAL_FAILURE(Open("T21", "input.txt"));
  if (IsSkipped()) return;
  EXPECT_THAT(trace_.notes, Contains(AllOf(HasSubstr("1969 us"), HasSubstr("cyclictest-250"),
                                           HasSubstr("migrate_enable <- rt_spin_unlock <- "
                                                     "madvise_cold_or_pageout_pte_range"))));
  EXPECT_THAT(trace_.notes, Contains(AllOf(HasSubstr("879 us"), HasSubstr("cyclictest-212"),
                                           HasSubstr("free_unref_page_list"))));
  const std::optional<Activation> first = WokenAt(250, 1'000'001);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(LatencyUs(*first), 1955);
  EXPECT_EQ(BehindNs(*first, 264) / kUs, 1955);
  EXPECT_EQ(first->segments[0].cpu, CpuId{1});
  EXPECT_EQ(first->segments[0].standing.rt_priority, 99);
  ASSERT_TRUE(first->verdict.has_value());
  EXPECT_EQ(first->verdict->subject, "stress-n");
  EXPECT_EQ(first->verdict->decision, Decision::kNotPreemptible);
  const std::optional<Activation> second = WokenAt(212, 3'000'001);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(LatencyUs(*second), 855);
  EXPECT_EQ(second->verdict->decision, Decision::kNotPreemptible);
}

// Its switch was cut from the mail: the header tells when it was.
TEST_F(CaseVerdictsTest, T23) {
  ASSERT_NO_FATAL_FAILURE(Open("T23", "input.txt"));
  if (IsSkipped()) return;
  const std::optional<Activation> task = WokenAt(8238, 1'000'000);
  ASSERT_TRUE(task.has_value());
  EXPECT_EQ(LatencyUs(*task), 55'060);
  EXPECT_EQ(BehindNs(*task, 88) / kUs, 54'986);
  ASSERT_TRUE(task->verdict.has_value());
  EXPECT_EQ(task->verdict->decision, Decision::kNotPreemptible);
  EXPECT_THAT(
      trace_.notes,
      Contains(AllOf(HasSubstr("55060 us"), HasSubstr("cyclictest-8238"),
                     HasSubstr("54973 us, after isolate_lru_folios <- shrink_inactive_list"),
                     HasSubstr("with interrupts off"))));
  EXPECT_THAT(trace_.notes, Contains(AllOf(HasSubstr("interrupts off for 49040 us by kswapd0-91"),
                                           HasSubstr("from _raw_spin_lock_irq"),
                                           HasSubstr("to shrink_inactive_list"))));
}

TEST_F(CaseVerdictsTest, T26) {
  ASSERT_NO_FATAL_FAILURE(Open("T26", "input.txt"));
  if (IsSkipped()) return;
  EXPECT_THAT(trace_.notes, Contains(HasSubstr("10 rows: 10 stays")));
  const struct {
    const char* tid;
    int64_t delay_us;
    const char* other_queue;
  } kWaits[] = {
      {"28773", 60'237, "60.197"},
      {"28762", 42'839, "39.867"},
      {"28812", 43'817, "40.866"},
      {"28779", 23'465, ""},
  };
  for (const auto& wait : kWaits) {
    const Activation task = Analyze(wait.tid).activations.at(0);
    EXPECT_EQ(task.wait_ns / kUs, wait.delay_us) << wait.tid;
    if (*wait.other_queue == '\0') continue;
    EXPECT_THAT(trace_.notes, Contains(AllOf(HasSubstr(absl::StrCat("(tid ", wait.tid, ")")),
                                             HasSubstr(wait.other_queue))));
  }
}

TEST_F(CaseVerdictsTest, T27) {
  ASSERT_NO_FATAL_FAILURE(Open("T27", "input.txt"));
  if (IsSkipped()) return;
  EXPECT_THAT(trace_.notes, Contains("7 rows: 4 stays on a CPU, 2 wake-ups, 1 migrations"));
  const Activation perf = Analyze("14570").activations.at(0);
  EXPECT_EQ(perf.task, "perf");
  EXPECT_EQ((perf.end_ns - *perf.running_ns) / kUs, 108);
}

// Two tasks of one name: the tid tells who waited behind whom.
TEST_F(CaseVerdictsTest, T19) {
  ASSERT_NO_FATAL_FAILURE(Open("T19", "input.txt"));
  if (IsSkipped()) return;
  const std::optional<Activation> task = WokenAt(535, 403'401'633);
  ASSERT_TRUE(task.has_value());
  EXPECT_EQ(LatencyUs(*task), 780);
  EXPECT_EQ(BehindNs(*task, 538) / kUs, 773);
  EXPECT_EQ(task->verdict->subject, "big-task");
  EXPECT_EQ(task->verdict->decision, Decision::kNoPreempt);
}

// Not preempted by the idle task, and not without a wait.
TEST_F(CaseVerdictsTest, T20) {
  ASSERT_NO_FATAL_FAILURE(Open("T20", "input.txt"));
  if (IsSkipped()) return;
  const std::optional<Activation> grep = WokenAt(1677, 103'010'411);
  ASSERT_TRUE(grep.has_value());
  EXPECT_GE(grep->wait_ns, 19 * kUs);
  EXPECT_EQ(grep->verdict->subject, "wakeup");
  EXPECT_THAT(grep->segments, Each(Field(&Segment::kind, testing::Ne(SegmentKind::kPreempted))));
}

TEST_F(CaseVerdictsTest, T29) {
  ASSERT_NO_FATAL_FAILURE(Open("T29", "input.txt"));
  if (IsSkipped()) return;
  EXPECT_THAT(trace_.notes, Contains(HasSubstr("no wake-up events")));
  const Activation journal = Analyze("systemd-journal").activations.at(0);
  EXPECT_EQ(journal.wait_ns / kUs, 122);
  EXPECT_EQ(journal.verdict->subject, "in:imuxsock");
  EXPECT_EQ(journal.verdict->decision, Decision::kUndetermined);
  EXPECT_EQ(Analyze("5229").activations.at(0).wait_ns / kUs, 10);
  const Activation rsyslog = Analyze("rs:main Q:Reg").activations.at(0);
  EXPECT_EQ(rsyslog.tid, Tid{945});
  EXPECT_EQ((rsyslog.end_ns - rsyslog.start_ns) / kUs, 103);
}

TEST_F(CaseVerdictsTest, T31) {
  ASSERT_NO_FATAL_FAILURE(Open("T31", "input.txt"));
  if (IsSkipped()) return;
  const std::optional<Activation> task = WokenAt(1127, 2'772'154'381);
  ASSERT_TRUE(task.has_value());
  EXPECT_EQ(LatencyUs(*task), 41);
  EXPECT_EQ(task->verdict->subject, "kworker/u8:0");
  EXPECT_EQ(BehindNs(*task, 1119) / kUs, 41);
}

}  // namespace
}  // namespace whylate
