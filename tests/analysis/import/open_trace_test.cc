#include "analysis/import/open_trace.h"

#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/made_trace_dat.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kFtrace[] =
    "# tracer: nop\n a-1 [000] d... 1.0: sched_switch: prev_comm=a prev_pid=1 prev_prio=120 "
    "prev_state=S ==> next_comm=b next_pid=2 next_prio=120\n";
constexpr char kPerf[] = "a 1/1 [000] 1.0: sched:sched_switch: a:1 [120] S ==> b:2 [120]\n";
constexpr char kPerfettoText[] =
    "packet { ftrace_events { cpu: 0 event { timestamp: 5 sched_switch { prev_pid: 1 prev_state: 1 "
    "next_pid: 2 } } } }";
constexpr char kLatency[] =
    "# latency: 9 us, #2/2, CPU#0 |\n a-1 0d... 0us : 1:120:R + [000] 2: 0:R b\n"
    " a-1 0d... 9us : 1:120:R ==> [000] 2: 0:R b\n";
constexpr char kTimehist[] = "  1.000000 [0000]  a[1]  0.000 0.000 1.000\n";

TEST(OpenTrace, TellsFormatsByTheirContent) {
  EXPECT_THAT(TellTraceFormat(kPerfettoText), IsOkAndHolds(TraceFormat::kPerfettoText));
  EXPECT_THAT(TellTraceFormat(kLatency), IsOkAndHolds(TraceFormat::kLatencyText));
  EXPECT_THAT(TellTraceFormat(kTimehist), IsOkAndHolds(TraceFormat::kTimehistText));
  EXPECT_THAT(TellTraceFormat(kFtrace), IsOkAndHolds(TraceFormat::kFtraceText));
  EXPECT_THAT(TellTraceFormat(kPerf), IsOkAndHolds(TraceFormat::kPerfScript));
  EXPECT_THAT(TellTraceFormat(MadeTraceDat(1).Bytes()), IsOkAndHolds(TraceFormat::kTraceDat));
}

TEST(OpenTrace, ReadsText) {
  EXPECT_EQ(ImportTraceBytes(kFtrace, ImportLimits())->format, "ftrace text");
  EXPECT_EQ(ImportTraceBytes(kPerf, ImportLimits())->format, "perf script");
  EXPECT_EQ(ImportTraceBytes(kPerfettoText, ImportLimits())->format, "perfetto text");
  EXPECT_EQ(ImportTraceBytes(kLatency, ImportLimits())->format, "latency tracer text");
  EXPECT_EQ(ImportTraceBytes(kTimehist, ImportLimits())->format, "perf sched timehist");
}

TEST(OpenTrace, NamesWhatWasFoundInOneLine) {
  const struct {
    std::string bytes;
    const char* what;
  } kFiles[] = {
      {"", "empty file"},
      {"PERFILE2\x68", "perf script"},
      {std::string("\x7f"
                   "ELF\2\1\1\0",
                   8),
       "ELF"},
      {std::string("\x00\x05\x16\x07\x00\x02", 6), "AppleDouble"},
      {"\x1f\x8b\x08", "gzip"},
      {"flw    f6,32(x2):0\nflw    f2,48(x3):4\n", "flw    f6,32(x2):0\""},
      {"../../doc/trace.dat", "../../doc/trace.dat"},
      {std::string("\x01\x02\x00\xff\xfe", 5), "\\x01\\x02\\x00\\xff\\xfe"},
  };
  for (const auto& file : kFiles) {
    EXPECT_THAT(
        ImportTraceBytes(file.bytes, ImportLimits()),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 AllOf(HasSubstr("no trace: "), HasSubstr(file.what), Not(HasSubstr("\n")))));
  }
}

}  // namespace
}  // namespace whylate
