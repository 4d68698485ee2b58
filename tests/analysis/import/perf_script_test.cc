#include "analysis/import/perf_script.h"

#include <string>
#include <variant>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/imported_waits.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(PerfScript, ReadsBothFormsOfASwitch) {
  const auto trace = ImportPerfScript(
      "swapper     0 [001]  1.000000100:          1 sched:sched_waking: comm=alpha pid=7 prio=98 "
      "target_cpu=001\n"
      "        ffffffff81000000 try_to_wake_up+0x1 ([kernel.kallsyms])\n"
      "swapper     0 [001]  1.000000150: sched:sched_wakeup: alpha:7 [98] CPU:001\n"
      "idle 0/0 [001] 1.000000400: sched:sched_switch: swapper/1:0 [120] R ==> alpha:7 [98]\n"
      "alpha 5/7 [001] 1.000000900: sched:sched_switch: prev_comm=alpha prev_pid=7 prev_prio=98 "
      "prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120\n",
      ImportLimits());
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(trace->format, "perf script");
  EXPECT_EQ(CountOf<SwitchEvent>(trace->recording), 2u);
  const auto waits = LongestWaits(trace->recording, 9);
  ASSERT_THAT(waits, SizeIs(1));
  EXPECT_EQ(waits[0].end_ns - waits[0].start_ns, 300);
  EXPECT_EQ(waits[0].name, "alpha");
}

TEST(PerfScript, OrdersWhatIsOutOfOrder) {
  const auto trace = ImportPerfScript(
      "a 5/5 [000] 1.000000300: sched:sched_switch: a:5 [120] S ==> b:6 [120]\n"
      "a 5/5 [000] 1.000000200: sched:sched_switch: c:7 [120] S ==> a:5 [120]\n",
      ImportLimits());
  ASSERT_THAT(trace, IsOk());
  EXPECT_THAT(trace->notes, Contains("1 events were out of time order: sorted"));
  EXPECT_EQ(trace->recording.begin_ns, 1'000'000'200);
}

TEST(PerfScript, LossesLieBetweenTheLinesOfTheirCpu) {
  const auto trace = ImportPerfScript(
      "a 5/5 [000] 1.000000100: sched:sched_switch: a:5 [120] S ==> b:6 [120]\n"
      "b 6/6 [000] 1.000000300: PERF_RECORD_LOST lost 17\n"
      "b 6/6 [000] 1.000000400: sched:sched_switch: b:6 [120] S ==> a:5 [120]\n",
      ImportLimits());
  ASSERT_THAT(trace, IsOk());
  EXPECT_THAT(trace->recording.losses,
              ElementsAre(LossInterval{CpuId{0}, 1'000'000'100, 1'000'000'300, 17}));
}

TEST(PerfScript, WithoutCpusThereIsNothingToSay) {
  EXPECT_THAT(ImportPerfScript("a 5 1.000000100: sched:sched_switch: a:5 [120] S ==> b:6 [120]\n",
                               ImportLimits()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("without CPUs")));
}

TEST(PerfScript, IsToldFromFtrace) {
  EXPECT_TRUE(LooksLikePerfScript("a 5/5 [000] 1.0: sched:sched_switch: x\n"));
  EXPECT_FALSE(LooksLikePerfScript("a-5 [000] 1.0: sched_switch: x\n"));
  EXPECT_FALSE(LooksLikePerfScript(""));
}

}  // namespace
}  // namespace whylate
