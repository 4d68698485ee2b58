#include "analysis/import/perfetto_textproto.h"

#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/imported_waits.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kWhole[] =
    "# of a test\n"
    "packet {\n"
    "  ftrace_events {\n"
    "    cpu: 1\n"
    "    event {\n"
    "      timestamp: 100\n"
    "      pid: 9\n"
    "      sched_waking { comm: \"ra\\144io\" pid: 7 prio: 98 target_cpu: 1 }\n"
    "    }\n"
    "    event { timestamp: 150 pid: 9 sched_wakeup { comm: 'radio' pid: 7, prio: 98; target_cpu: "
    "1 "
    "} }\n"
    "    event { timestamp: 170 pid: 9 sched_blocked_reason { pid: 7 caller: 1 io_wait: 0 } }\n"
    "    event <\n"
    "      timestamp: 400 pid: 9\n"
    "      sched_switch: { prev_comm: \"disk\" prev_pid: 9 prev_prio: 120 prev_state: 0 next_comm: "
    "\"radio\" next_pid: 7 next_prio: 98 }\n"
    "    >\n"
    "  }\n"
    "  trusted_uid: 0\n"
    "  interned_data { kernel_symbols { iid: 1 str: \"f {\" } }\n"
    "}\n"
    "packet { process_tree { processes { pid: 9 cmdline: [\"disk\", \"-v\"] } threads { tid: 7 "
    "name: \"radio\" tgid: 5 } } }\n";

TEST(PerfettoText, ReadsTheSchedulersEvents) {
  const auto trace = ImportPerfettoText(kWhole, ImportLimits());
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(trace->format, "perfetto text");
  EXPECT_EQ(CountOf<SwitchEvent>(trace->recording), 1u);
  EXPECT_THAT(trace->recording.cpus, SizeIs(1));
  EXPECT_EQ(trace->recording.cpus[0].cpu, CpuId{1});
  const auto waits = LongestWaits(trace->recording, 9);
  ASSERT_THAT(waits, SizeIs(1));
  EXPECT_EQ(waits[0].name, "radio");
  EXPECT_EQ(waits[0].start_ns, 100);
  EXPECT_EQ(waits[0].queued_ns, 150);
  EXPECT_EQ(waits[0].end_ns, 400);
  EXPECT_THAT(trace->notes, Not(Contains(HasSubstr("cut off"))));
}

TEST(PerfettoText, NeedsNoLines) {
  std::string line(kWhole);
  line = line.substr(line.find('\n') + 1);
  for (char& c : line) c = c == '\n' ? ' ' : c;
  while (line.back() == ' ') line.pop_back();
  const auto trace = ImportPerfettoText(line, ImportLimits());
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(CountOf<SwitchEvent>(trace->recording), 1u);
  EXPECT_THAT(trace->notes, Not(Contains(HasSubstr("cut off"))));
}

TEST(PerfettoText, NegativeNumbersAreThose) {
  const auto trace = ImportPerfettoText(
      "packet { ftrace_events { cpu: 0 event { timestamp: 5 sched_switch { prev_pid: 3 prev_prio: "
      "-1 prev_state: 1 next_pid: 0 } } } }",
      ImportLimits());
  ASSERT_THAT(trace, IsOk());
  for (const SchedEvent& event : trace->recording.events) {
    if (const auto* body = std::get_if<SwitchEvent>(&event.body)) {
      EXPECT_EQ(body->prev_standing.sched_class, SchedClass::kDeadline);
    }
  }
}

// Whatever is cut, no event is half read.
TEST(PerfettoText, ReadsAPrefix) {
  const std::string whole(kWhole);
  for (size_t length = 0; length < whole.size() - 1; ++length) {
    const auto trace = ImportPerfettoText(whole.substr(0, length), ImportLimits());
    if (!trace.ok()) {
      EXPECT_THAT(trace, StatusIs(absl::StatusCode::kInvalidArgument, Not(HasSubstr("\n"))));
      continue;
    }
    for (const SchedEvent& event : trace->recording.events) {
      EXPECT_TRUE(event.time_ns == 100 || event.time_ns == 150 || event.time_ns == 400) << length;
    }
    EXPECT_EQ(trace->recording.cpus[0].cpu, CpuId{1});
    const bool at_packet_end =
        length > 2 && whole.substr(length - 2, 2) == "}\n" && whole.substr(length, 6) == "packet";
    if (!at_packet_end && whole[length] != '\n') {
      EXPECT_THAT(trace->notes, Contains(HasSubstr("cut off"))) << length;
    }
  }
}

TEST(PerfettoText, DepthIsBounded) {
  std::string deep = "packet {";
  for (int i = 0; i < 100000; ++i) deep += " a {";
  EXPECT_THAT(ImportPerfettoText(deep, ImportLimits()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("cut off"), Not(HasSubstr("\n")))));
}

TEST(PerfettoText, WhatIsNoTextProtoEndsIt) {
  const auto trace = ImportPerfettoText(absl::StrCat(kWhole, "}\n% and prose\n"), ImportLimits());
  ASSERT_THAT(trace, IsOk());
  EXPECT_THAT(trace->notes, Contains(HasSubstr("at line 21")));
}

TEST(PerfettoText, IsToldByItsFirstWord) {
  EXPECT_TRUE(LooksLikePerfettoText(kWhole));
  EXPECT_TRUE(LooksLikePerfettoText("packet: <"));
  EXPECT_FALSE(LooksLikePerfettoText("packet loss"));
  EXPECT_FALSE(LooksLikePerfettoText("# tracer: nop\n a-1 [000] 1.0: sched_switch: x\n"));
  EXPECT_FALSE(LooksLikePerfettoText(""));
}

}  // namespace
}  // namespace whylate
