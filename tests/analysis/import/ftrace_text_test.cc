#include "analysis/import/ftrace_text.h"

#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "analysis/attribution/activations.h"
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

constexpr char kSwitchIn[] =
    "  <idle>-0  [000] d..2  1.000100: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 "
    "prev_state=R ==> next_comm=alpha next_pid=7 next_prio=120\n";

ImportedTrace Import(absl::string_view text) {
  absl::StatusOr<ImportedTrace> trace = ImportFtraceText(text, ImportLimits());
  EXPECT_THAT(trace, IsOk());
  return trace.ok() ? *std::move(trace) : ImportedTrace();
}

template <typename Event>
Event First(const Recording& recording) {
  for (const SchedEvent& event : recording.events) {
    if (const auto* body = std::get_if<Event>(&event.body)) return *body;
  }
  ADD_FAILURE() << "no such event";
  return Event();
}

std::string NameOf(const Recording& recording, int32_t tid) {
  const Timeline timeline(recording);
  return std::string(timeline.tasks().NameAt(timeline.TaskAt(Tid{tid}, 0), 0));
}

TEST(FtraceText, AWakeUpFromAnInterruptToTheSwitch) {
  const ImportedTrace trace = Import(
      "# tracer: nop\n"
      " beta-8 [000] d.h.  1.000010: irq_handler_entry: irq=19 name=eth0\n"
      " beta-8 [000] d.h2  1.000020: sched_waking: comm=alpha pid=7 prio=98 target_cpu=000\n"
      " beta-8 [000] d.h3  1.000025: sched_wakeup: comm=alpha pid=7 prio=98 target_cpu=000\n"
      " => some_function+0x10/0x20\n"
      " beta-8 [000] d..2  1.000100: sched_switch: prev_comm=beta prev_pid=8 prev_prio=120 "
      "prev_state=R+ ==> next_comm=alpha next_pid=7 next_prio=98\n");
  const auto waking = First<WakingEvent>(trace.recording);
  EXPECT_EQ(waking.context, WakerContext::kHardIrq);
  EXPECT_EQ(waking.irq, 19);
  EXPECT_EQ(waking.source_name, "eth0");
  EXPECT_EQ(waking.waker, Tid{8});
  EXPECT_EQ(First<SwitchEvent>(trace.recording).next_standing.rt_priority, 1);
  const auto waits = LongestWaits(trace.recording, 9);
  ASSERT_THAT(waits, SizeIs(1));
  EXPECT_EQ(waits[0].end_ns - waits[0].start_ns, 80'000);
  EXPECT_EQ(waits[0].end_ns - waits[0].queued_ns, 75'000);
}

//        1.0              1.95 2.0
// CPU 0  spin-------------i----spin----    FIFO, out of its 950 ms of each second
TEST(FtraceText, ARealTimeTaskOutOfItsBandwidthWaitsForTheQuota) {
  const ImportedTrace trace = Import(
      " make-7 [000] d..2 0.950000: sched_waking: comm=other pid=8 prio=120 target_cpu=001\n"
      " make-7 [000] d..2 0.950010: sched_wakeup: comm=other pid=8 prio=120 target_cpu=001\n"
      " make-7 [000] d..2 0.999998: sched_waking: comm=spin pid=9 prio=19 target_cpu=000\n"
      " make-7 [000] d..2 0.999999: sched_wakeup: comm=spin pid=9 prio=19 target_cpu=000\n"
      " make-7 [000] d..2 1.000000: sched_switch: prev_comm=make prev_pid=7 prev_prio=120 "
      "prev_state=S ==> next_comm=spin next_pid=9 next_prio=19\n"
      " spin-9 [000] d..2 1.950000: sched_switch: prev_comm=spin prev_pid=9 prev_prio=19 "
      "prev_state=R ==> next_comm=swapper/0 next_pid=0 next_prio=120\n"
      " <idle>-0 [000] d..2 2.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 "
      "prev_state=R ==> next_comm=spin next_pid=9 next_prio=19\n"
      " spin-9 [000] d..2 2.100000: sched_switch: prev_comm=spin prev_pid=9 prev_prio=19 "
      "prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n");
  ActivationOptions options;
  options.task = "spin";
  const Analysis analysis = AnalyzeActivations(trace.recording, options);
  ASSERT_FALSE(analysis.activations.empty());
  const Activation& spin = analysis.activations.front();
  EXPECT_EQ(spin.wait_ns, 50'002'000);
  ASSERT_TRUE(spin.verdict.has_value());
  EXPECT_EQ(spin.verdict->decision, Decision::kRtBandwidth);
  EXPECT_EQ(spin.verdict->subject, "quota");
}

// The state of a task that leaves is not told: whether it waited from 1.01 to 1.05 is not known.
TEST(FtraceText, AStateNotToldIsNoPreemption) {
  const ImportedTrace trace = Import(
      " w-5 [000] d..2 1.010000: sched_switch: prev_comm=w prev_pid=5 prev_prio=120 prev_state=? "
      "==> next_comm=b next_pid=6 next_prio=120\n"
      " b-6 [000] d..2 1.050000: sched_switch: prev_comm=b prev_pid=6 prev_prio=120 prev_state=? "
      "==> next_comm=w next_pid=5 next_prio=120\n"
      " w-5 [000] d..2 1.060000: sched_switch: prev_comm=w prev_pid=5 prev_prio=120 prev_state=S "
      "==> next_comm=b next_pid=6 next_prio=120\n");
  EXPECT_THAT(LongestWaits(trace.recording, 9), SizeIs(0));
  const Timeline timeline(trace.recording);
  EXPECT_EQ(timeline.spans().SpanAt(timeline.TaskAt(Tid{5}, 0), 1'020'000'000)->state,
            TaskState::kUnknown);
}

TEST(FtraceText, TheFieldsWinOverTheFirstColumn) {
  const ImportedTrace trace = Import(
      " gamma-7 [000] d..2  1.0: sched_switch: prev_comm=alpha prev_pid=9 prev_prio=120 "
      "prev_state=S ==> next_comm=beta next_pid=8 next_prio=120\n");
  EXPECT_EQ(First<SwitchEvent>(trace.recording).prev, Tid{9});
  EXPECT_EQ(NameOf(trace.recording, 9), "alpha");
}

TEST(FtraceText, NamesAndProcessesComeFromTheFirstColumnWhereNoFieldHasThem) {
  const ImportedTrace trace = Import(
      " gamma-7 ( 5) [000] d..2  1.0: sched_waking: comm=alpha pid=9 prio=120 target_cpu=000\n"
      " <...>-9 ( 4) [000] d..2  2.0: sched_switch: prev_comm=alpha prev_pid=9 prev_prio=120 "
      "prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n");
  EXPECT_EQ(NameOf(trace.recording, 7), "gamma");
  const Timeline timeline(trace.recording);
  EXPECT_EQ(timeline.tasks().info(timeline.TaskAt(Tid{9}, 0)).tgid, Tgid{4});
}

TEST(FtraceText, TheProcessOfAForkedThreadIsInItsColumn) {
  const ImportedTrace trace = Import(
      " main-10 (   10) [000] d..2 1.000000: sched_process_fork: comm=main pid=10 "
      "child_comm=main child_pid=11\n"
      " main-11 (   10) [000] d..2 1.000100: sched_switch: prev_comm=main prev_pid=11 "
      "prev_prio=120 prev_state=S ==> next_comm=main next_pid=10 next_prio=120\n");
  EXPECT_EQ(First<ForkEvent>(trace.recording).child_tgid, Tgid{10});
}

TEST(FtraceText, LinesOfOneMicrosecondKeepTheirOrder) {
  // Leaves CPU 1 and comes onto CPU 0 in the same microsecond.
  const ImportedTrace trace = Import(
      " alpha-7 [001] d..2  1.000100: sched_switch: prev_comm=alpha prev_pid=7 prev_prio=120 "
      "prev_state=R ==> next_comm=migration/1 next_pid=9 next_prio=0\n"
      " beta-8 [000] d..2  1.000100: sched_switch: prev_comm=beta prev_pid=8 prev_prio=120 "
      "prev_state=S ==> next_comm=alpha next_pid=7 next_prio=120\n"
      " alpha-7 [000] d..2  1.000200: sched_switch: prev_comm=alpha prev_pid=7 prev_prio=120 "
      "prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n");
  const Timeline timeline(trace.recording);
  const TaskSpan* span =
      timeline.spans().SpanAt(timeline.TaskAt(Tid{7}, 1'000'150'000), 1'000'150'000);
  ASSERT_NE(span, nullptr);
  EXPECT_EQ(span->state, TaskState::kRunning);
  EXPECT_EQ(span->cpu, CpuId{0});
}

TEST(FtraceText, LossesLieBetweenTheLinesOfTheirCpu) {
  const ImportedTrace trace = Import(absl::StrCat(
      kSwitchIn, "CPU:0 [LOST 12 EVENTS]\n",
      " beta-8 [001] d..2  1.000150: sched_wakeup: comm=alpha pid=7 prio=120 target_cpu=001\n",
      " beta-8 [000] d..2  1.000200: sched_waking: comm=gamma pid=9 prio=120 target_cpu=000\n",
      "CPU:1 [EVENTS DROPPED]\n"));
  EXPECT_THAT(
      trace.recording.losses,
      ::testing::ElementsAre(LossInterval{CpuId{0}, 1'000'100'000, 1'000'200'000, 12},
                             LossInterval{CpuId{1}, 1'000'150'000, trace.recording.end_ns, 0}));
  EXPECT_EQ(trace.recording.trace->lost, 12u);
}

TEST(FtraceText, WhatWasOverwrittenBeforeABufferStartedIsUnknown) {
  const std::string header = "# entries-in-buffer/entries-written: 2/9   #P:2\n";
  const std::string rest = absl::StrCat(
      kSwitchIn, "##### CPU 1 buffer started ####\n",
      " beta-8 [001] d..2  1.000200: sched_switch: prev_comm=beta prev_pid=8 prev_prio=120 "
      "prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120\n");
  const ImportedTrace trace = Import(header + rest);
  EXPECT_THAT(trace.recording.losses,
              ::testing::ElementsAre(LossInterval{CpuId{1}, 1'000'100'000, 1'000'200'000, 0}));
  EXPECT_THAT(trace.notes, Contains(HasSubstr("oldest 7 entries were overwritten")));
  EXPECT_THAT(Import("# entries-in-buffer/entries-written: 2/2   #P:2\n" + rest).recording.losses,
              SizeIs(0));
}

TEST(FtraceText, TheTraceOfAPageIsInItsScriptElements) {
  const std::string page = absl::StrCat(
      "<!DOCTYPE html>\n<html><body>\n<script>\nvar a = '<b>';\n</script>\n",
      "<script class=\"trace-data\" type=\"application/text\">\n# tracer: nop\n", kSwitchIn,
      "</script>\n<script class=\"trace-data\" "
      "type=\"application/text\">\n{}\n</script>\n</html>\n");
  const ImportedTrace trace = Import(page);
  EXPECT_EQ(trace.format, "systrace HTML");
  EXPECT_EQ(CountOf<SwitchEvent>(trace.recording), 1u);
  EXPECT_THAT(ImportFtraceText("<!DOCTYPE html>\n<html>news</html>\n", ImportLimits()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("web page")));
}

TEST(FtraceText, IndicesOfA414KernelAreSaid) {
  constexpr char kNote[] = "states of a 4.14 kernel are indices";
  EXPECT_THAT(Import(" kworker/0:1-5 [000] d..2 1.0: sched_switch: prev_comm=kworker/0:1 "
                     "prev_pid=5 prev_prio=120 prev_state=t ==> next_comm=swapper/0 next_pid=0 "
                     "next_prio=120\n")
                  .notes,
              Contains(kNote));
  EXPECT_THAT(
      Import(absl::StrCat("# wakeup_rt latency trace v1.1.5 on 4.14.15-rt\n", kSwitchIn)).notes,
      Contains(kNote));
  EXPECT_THAT(Import(kSwitchIn).notes, Not(Contains(kNote)));
}

TEST(FtraceText, ALineTooLongByOneDigitIsReadInItsPlace) {
  const ImportedTrace trace = Import(absl::StrCat(
      kSwitchIn,
      " <idle>-0 [000] dNh3 1.0000140: sched_wakeup: comm=beta pid=8 prio=120 target_cpu=000\n"));
  EXPECT_EQ(trace.recording.events.back().time_ns, 1'000'140'000);
}

TEST(FtraceText, WhatIsCutIsSaid) {
  const std::string whole = absl::StrCat(
      kSwitchIn,
      " beta-8 [000] d..2  1.000200: sched_waking: comm=gamma pid=9 prio=120 target_cpu=001\n");
  for (size_t size = sizeof(kSwitchIn); size < whole.size(); ++size) {
    const ImportedTrace trace = Import(absl::string_view(whole).substr(0, size));
    EXPECT_EQ(CountOf<SwitchEvent>(trace.recording), 1u);
    EXPECT_EQ(CountOf<WakingEvent>(trace.recording), 0u);
    EXPECT_THAT(trace.notes, Contains(HasSubstr("ends within a line")));
  }
}

TEST(FtraceText, WhatHasNoSchedulerEventIsNoTrace) {
  for (const char* text : {"", "hello\n", "a-1 [000] .... 1.0: print: x\n", "\n\n\n"}) {
    EXPECT_THAT(ImportFtraceText(text, ImportLimits()),
                StatusIs(absl::StatusCode::kInvalidArgument, Not(HasSubstr("\n"))));
  }
}

TEST(FtraceText, IsToldFromOtherText) {
  EXPECT_TRUE(LooksLikeFtraceText(kSwitchIn));
  EXPECT_FALSE(LooksLikeFtraceText("flw    f6,32(x2):0\n"));
}

}  // namespace
}  // namespace whylate
