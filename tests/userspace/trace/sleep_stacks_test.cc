#include "userspace/trace/sleep_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace whylate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

KernelSymbols Symbols() {
  return KernelSymbols::Parse(
      "100 t bpf_trace_run4\n"
      "200 t __schedule\n"
      "300 t schedule\n"
      "400 t futex_wait_queue\n"
      "500 t do_futex\n");
}

TEST(SleepStacks, BeginsBelowTheScheduler) {
  const SleepStacks stacks = NameSleepStacks({{7, {0x110, 0x210, 0x310, 0x410, 0x510}}}, Symbols());
  ASSERT_EQ(stacks.index_of.at(7), 0);
  EXPECT_THAT(stacks.names[0], ElementsAre("futex_wait_queue", "do_futex"));
}

// The call was the last thing in its function.
TEST(SleepStacks, ReturnAddressAtTheBeginOfTheNextFunction) {
  const SleepStacks stacks = NameSleepStacks({{7, {0x310, 0x500}}}, Symbols());
  EXPECT_THAT(stacks.names[0], ElementsAre("futex_wait_queue"));
}

TEST(SleepStacks, SameFunctionsAreOneStack) {
  const SleepStacks stacks = NameSleepStacks({{7, {0x310, 0x410}}, {9, {0x320, 0x420}}}, Symbols());
  EXPECT_EQ(stacks.names.size(), 1);
  EXPECT_EQ(stacks.index_of, (std::map<uint32_t, int32_t>{{7, 0}, {9, 0}}));
}

TEST(SleepStacks, WithoutTheSchedulerOrNamesThereIsNone) {
  EXPECT_THAT(NameSleepStacks({{7, {0x410, 0x510}}}, Symbols()).names, IsEmpty());
  EXPECT_THAT(NameSleepStacks({{7, {0x310, 0x410}}}, KernelSymbols()).names, IsEmpty());
}

}  // namespace
}  // namespace whylate
