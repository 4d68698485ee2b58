#include "analysis/import/latency_text.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "analysis/attribution/activations.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/imported_waits.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr int64_t kUs = 1000;
constexpr int64_t kSecond = 1'000'000'000;

// disk-9 is on CPU 1 when radio-7 is woken there, and stays until 190 us.
constexpr char kWakeup[] =
    "# tracer: wakeup_rt\n"
    "#\n"
    "# wakeup_rt latency trace v1.1.5 on 6.1.0\n"
    "# --------------------------------------------------------------------\n"
    "# latency: 191 us, #4/4, CPU#1 | (M:desktop VP:0, KP:0, SP:0 HP:0 #P:2)\n"
    "#    -----------------\n"
    "#    | task: radio-7 (uid:0 nice:0 policy:1 rt_prio:99)\n"
    "#    -----------------\n"
    "#  cmd     pid     |||||| time  |   caller\n"
    "  disk-9         1dNh..    1us :        9:120:R   + [001]       7:  0:R radio\n"
    "  disk-9         1dNh..    3us : <stack trace>\n"
    " => probe_wakeup\n"
    " => ttwu_do_activate\n"
    "  disk-9         1dN...    4us!: lock_page+0x0/0x20 <-copy_pages+0x10/0x80\n"
    "  disk-9         1dN...  180us : unlock_page+0x0/0x20 <-copy_pages+0x40/0x80\n"
    "  disk-9         1d....  190us+:        9:120:R ==> [001]       7:  0:R radio\n"
    "  disk-9         1d....  195us : <stack trace>\n"
    " => probe_wakeup_sched_switch+0x1/0x2\n"
    " => __schedule\n"
    " => preempt_schedule\n"
    " => copy_pages+0x40/0x80\n"
    " => read_file\n";

constexpr char kSection[] =
    "# irqsoff latency trace v1.1.5 on 6.1.0\n"
    "# latency: 490 us, #3/3, CPU#0 | (M:desktop VP:0, KP:0, SP:0 HP:0 #P:2)\n"
    "#    | task: disk-9 (uid:0 nice:0 policy:0 rt_prio:0)\n"
    "#  => started at: lock_page+0x1/0x2\n"
    "#  => ended at:   unlock_page+0x3/0x4\n"
    "  disk-9         0d....    0us : lock_page+0x1/0x2\n"
    "  disk-9         0d....    2us*: isolate_pages <-copy_pages\n"
    "  disk-9         0d....  490us : unlock_page+0x3/0x4\n";

Activation Worst(const ImportedTrace& trace) {
  const Analysis analysis = AnalyzeActivations(trace.recording, ActivationOptions());
  return analysis.activations.empty() ? Activation() : analysis.activations[0];
}

TEST(LatencyText, TheTaskThatDidNotGiveWayIsNamed) {
  const auto trace = ImportLatencyText(kWakeup, ImportLimits());
  ASSERT_THAT(trace, IsOk());
  const Activation radio = Worst(*trace);
  EXPECT_EQ(radio.tid, Tid{7});
  EXPECT_EQ(radio.task, "radio");
  EXPECT_EQ(radio.waking_ns, kSecond + 1 * kUs);
  EXPECT_EQ(radio.running_ns, kSecond + 190 * kUs);
  EXPECT_EQ(radio.wait_ns, 189 * kUs);
  ASSERT_TRUE(radio.verdict.has_value());
  EXPECT_EQ(radio.verdict->subject, "disk");
  EXPECT_EQ(radio.verdict->decision, Decision::kNotPreemptible);
}

TEST(LatencyText, ANoteTellsTheTracersOwnResult) {
  const auto trace = ImportLatencyText(kWakeup, ImportLimits());
  ASSERT_THAT(trace, IsOk());
  EXPECT_THAT(
      trace->notes,
      Contains(AllOf(HasSubstr("wakeup_rt of kernel 6.1.0"), HasSubstr("191 us"),
                     HasSubstr("radio-7"), HasSubstr("on CPU 1"),
                     HasSubstr("176 us, after lock_page <- copy_pages, before unlock_page <- "
                               "copy_pages, with interrupts off"),
                     HasSubstr("switched in out of copy_pages <- read_file"))));
}

TEST(LatencyText, ReadsQuotedPrintableMails) {
  std::string mail = absl::StrReplaceAll(kWakeup, {{"=", "=3D"}});
  mail = absl::StrReplaceAll(mail, {{"radio\n", "=\nradio\n"}});
  const auto trace = ImportLatencyText(mail, ImportLimits());
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(Worst(*trace).wait_ns, 189 * kUs);
  EXPECT_EQ(Worst(*trace).task, "radio");
}

TEST(LatencyText, ReadsQuotedMails) {
  const std::string mail =
      absl::StrCat("> > ", absl::StrReplaceAll(kWakeup, {{"\n", "\n> > "}}), "\n");
  EXPECT_TRUE(LooksLikeLatencyText(mail));
  const auto trace = ImportLatencyText(mail, ImportLimits());
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(Worst(*trace).wait_ns, 189 * kUs);
}

TEST(LatencyText, TracesOfOneTextFollowEachOther) {
  const auto trace = ImportLatencyText(absl::StrCat(kWakeup, kSection, kWakeup), ImportLimits());
  ASSERT_THAT(trace, IsOk());
  const auto waits = LongestWaits(trace->recording, 9);
  ASSERT_THAT(waits, SizeIs(2));
  EXPECT_EQ(waits[0].end_ns, kSecond + 190 * kUs);
  EXPECT_EQ(waits[1].end_ns, 5 * kSecond + 190 * kUs);
  EXPECT_THAT(trace->notes, Contains(HasSubstr("2 traces")));
  const Analysis analysis = AnalyzeActivations(trace->recording, ActivationOptions());
  ASSERT_GE(analysis.activations.size(), 2u);
  EXPECT_EQ(analysis.activations[1].verdict->subject, "disk");
}

TEST(LatencyText, ASectionIsANote) {
  const auto trace = ImportLatencyText(kSection, ImportLimits());
  ASSERT_THAT(trace, IsOk());
  EXPECT_THAT(trace->recording.events, IsEmpty());
  EXPECT_THAT(trace->notes,
              Contains(AllOf(HasSubstr("interrupts off for 490 us by disk-9"),
                             HasSubstr("from lock_page+0x1/0x2 to unlock_page+0x3/0x4"),
                             HasSubstr("488 us, after isolate_pages <- copy_pages"))));
  EXPECT_EQ(AnalyzeActivations(trace->recording, ActivationOptions()).total, 0);
}

// As people shorten it, and as a prefix has it: the header tells when the task ran.
TEST(LatencyText, WithoutItsSwitchTheHeaderTellsTheEnd) {
  std::string text(kWakeup);
  text.resize(text.find("  disk-9         1d....  190us"));
  const auto trace = ImportLatencyText(text, ImportLimits());
  ASSERT_THAT(trace, IsOk());
  const Activation radio = Worst(*trace);
  EXPECT_EQ(radio.wait_ns, 191 * kUs);
  ASSERT_TRUE(radio.verdict.has_value());
  EXPECT_EQ(radio.verdict->subject, "disk");
  ASSERT_THAT(radio.segments, Not(IsEmpty()));
  int64_t behind_disk_ns = 0;
  for (const Occupant& occupant : radio.segments[0].occupants) {
    if (occupant.tid == Tid{9}) behind_disk_ns += occupant.end_ns - occupant.start_ns;
  }
  EXPECT_EQ(behind_disk_ns, 179 * kUs);  // of the rest nothing is known
  EXPECT_THAT(trace->notes, Contains(HasSubstr("whose end is not among the lines")));
}

// disk at 4 us, ram from 180 us: who ran between is not known.
TEST(LatencyText, BetweenTwoTasksNobodyIsNamed) {
  std::string text(kWakeup);
  const size_t from = text.find("  disk-9         1dN...  180us");
  text = text.substr(0, from) +
         absl::StrReplaceAll(text.substr(from), {{"disk-9", "ram-5 "}, {"    9:120", "    5:120"}});
  const auto trace = ImportLatencyText(text, ImportLimits());
  ASSERT_THAT(trace, IsOk());
  const Activation radio = Worst(*trace);
  EXPECT_EQ(radio.wait_ns, 189 * kUs);
  int64_t behind_ns = 0;
  for (const Occupant& occupant : radio.segments[0].occupants) {
    if (occupant.tid.has_value()) behind_ns += occupant.end_ns - occupant.start_ns;
  }
  EXPECT_EQ(behind_ns, (4 - 1 + 190 - 180) * kUs);
}

// Queued on CPU 1 out of an interrupt on CPU 0: of CPU 1 there is nothing before its switch.
TEST(LatencyText, OfAnotherCpuNothingIsKnown) {
  std::string text(kWakeup);
  text = absl::StrReplaceAll(text, {{"1dNh..", "0dNh.."}, {"1dN...", "0dN..."}});
  const auto trace = ImportLatencyText(text, ImportLimits());
  ASSERT_THAT(trace, IsOk());
  const Activation radio = Worst(*trace);
  EXPECT_EQ(radio.wait_ns, 189 * kUs);
  int64_t known_ns = 0;
  for (const Occupant& occupant : radio.segments[0].occupants) {
    if (occupant.tid.has_value()) known_ns += occupant.end_ns - occupant.start_ns;
  }
  EXPECT_LE(known_ns, 1);
}

TEST(LatencyText, ReadsAPrefix) {
  const std::string whole = absl::StrCat(kWakeup, kSection);
  for (size_t length = 0; length < whole.size(); ++length) {
    const auto trace = ImportLatencyText(whole.substr(0, length), ImportLimits());
    if (trace.ok()) {
      EXPECT_THAT(trace->notes, Not(IsEmpty()));
    } else {
      EXPECT_THAT(trace, StatusIs(absl::StatusCode::kInvalidArgument, Not(HasSubstr("\n"))));
    }
  }
}

TEST(LatencyText, IsToldByItsHeaderAndColumns) {
  EXPECT_TRUE(LooksLikeLatencyText(kWakeup));
  EXPECT_TRUE(LooksLikeLatencyText(kSection));
  EXPECT_FALSE(LooksLikeLatencyText(absl::StrReplaceAll(kWakeup, {{"latency: ", "delay: "}})));
  EXPECT_FALSE(
      LooksLikeLatencyText("# latency: 1 us, #4/4\n a-1 [000] d... 1.0: sched_switch: x\n"));
  EXPECT_FALSE(LooksLikeLatencyText(""));
}

}  // namespace
}  // namespace whylate
