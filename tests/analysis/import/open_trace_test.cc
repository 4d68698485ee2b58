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

TEST(OpenTrace, TellsFormatsByTheirContent) {
  EXPECT_THAT(TellTraceFormat(kFtrace), IsOkAndHolds(TraceFormat::kFtraceText));
  EXPECT_THAT(TellTraceFormat(kPerf), IsOkAndHolds(TraceFormat::kPerfScript));
  EXPECT_THAT(TellTraceFormat(MadeTraceDat(1).Bytes()), IsOkAndHolds(TraceFormat::kTraceDat));
}

TEST(OpenTrace, ReadsText) {
  EXPECT_EQ(ImportTraceBytes(kFtrace, ImportLimits())->format, "ftrace text");
  EXPECT_EQ(ImportTraceBytes(kPerf, ImportLimits())->format, "perf script");
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
