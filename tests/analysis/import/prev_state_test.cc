#include "analysis/import/prev_state.h"

#include "gtest/gtest.h"

namespace whylate {
namespace {

SwitchOut OutOf(absl::string_view letters) {
  return PrevStateOfLetters(letters).value_or(PrevState()).out;
}

TEST(PrevState, LettersTellHowATaskLeft) {
  EXPECT_EQ(OutOf("R"), SwitchOut::kRunnable);
  EXPECT_EQ(OutOf("R+"), SwitchOut::kRunnable);
  EXPECT_EQ(PrevStateOfLetters("R+")->flags, 0x100u);
  EXPECT_EQ(OutOf("S"), SwitchOut::kBlocked);
  EXPECT_EQ(OutOf("D|K"), SwitchOut::kBlocked);
  EXPECT_EQ(OutOf("I"), SwitchOut::kBlocked);
  EXPECT_EQ(OutOf("t"), SwitchOut::kBlocked);
  EXPECT_EQ(OutOf("Z"), SwitchOut::kExited);
  EXPECT_EQ(OutOf("x"), SwitchOut::kExited);
  EXPECT_FALSE(PrevStateOfLetters("").has_value());
  EXPECT_FALSE(PrevStateOfLetters("|").has_value());
  EXPECT_FALSE(PrevStateOfLetters("==>").has_value());
}

TEST(PrevState, MarksOfOldKernelsAloneAreNoTaskThatCouldRun) {
  for (const char* letters : {"W", "K", "N", "p", "K|W"}) {
    ASSERT_TRUE(PrevStateOfLetters(letters).has_value()) << letters;
    EXPECT_EQ(OutOf(letters), SwitchOut::kBlocked) << letters;
    EXPECT_EQ(PrevStateOfLetters(letters)->flags, 0u) << letters;
  }
  EXPECT_EQ(OutOf("D|W"), SwitchOut::kBlocked);
  EXPECT_EQ(PrevStateOfLetters("D|W")->flags, 2u);
}

TEST(PrevState, LettersThatOnlyAnIndexCanGive) {
  const PrevState zombie = *PrevStateOfLetters("D|T");  // 6
  EXPECT_TRUE(zombie.is_index);
  EXPECT_EQ(zombie.out, SwitchOut::kExited);
  const PrevState stopped = *PrevStateOfLetters("S|D");  // 3
  EXPECT_TRUE(stopped.is_index);
  EXPECT_EQ(stopped.flags, 0x4u);
  EXPECT_FALSE(PrevStateOfLetters("S")->is_index);
}

TEST(PrevState, TheKernelTellsTheLayout) {
  EXPECT_EQ(LayoutOfKernel("4.13.9"), StateLayout::kOldFlags);
  EXPECT_EQ(LayoutOfKernel("3.10.0-1160.el7.x86_64"), StateLayout::kOldFlags);
  EXPECT_EQ(LayoutOfKernel("4.14.62-v7+"), StateLayout::kIndices);
  EXPECT_EQ(LayoutOfKernel("4.15.0"), StateLayout::kFlags);
  EXPECT_EQ(LayoutOfKernel("6.12"), StateLayout::kFlags);
  EXPECT_FALSE(LayoutOfKernel("Linux").has_value());
}

TEST(PrevState, ANumberMeansWhatItsKernelMeantByIt) {
  EXPECT_EQ(PrevStateOfNumber(8, StateLayout::kIndices).flags, 0x80u);  // idle
  EXPECT_EQ(PrevStateOfNumber(6, StateLayout::kIndices).out, SwitchOut::kExited);
  EXPECT_EQ(PrevStateOfNumber(0x100, StateLayout::kIndices).out, SwitchOut::kRunnable);
  EXPECT_EQ(PrevStateOfNumber(64, StateLayout::kFlags).out, SwitchOut::kBlocked);  // parked
  EXPECT_EQ(PrevStateOfNumber(64, StateLayout::kOldFlags).out, SwitchOut::kExited);
  EXPECT_EQ(PrevStateOfNumber(4096, StateLayout::kOldFlags).out, SwitchOut::kRunnable);
  EXPECT_EQ(PrevStateOfNumber(1026, StateLayout::kOldFlags).out, SwitchOut::kBlocked);
  EXPECT_EQ(PrevStateOfNumber(256, StateLayout::kOldFlags).out, SwitchOut::kBlocked);  // waking
  EXPECT_EQ(PrevStateOfNumber(128, StateLayout::kOldFlags).out, SwitchOut::kBlocked);
}

TEST(PrevState, TheLargestNumberTellsOldKernels) {
  EXPECT_EQ(LayoutOfLargest(4096), StateLayout::kOldFlags);
  EXPECT_EQ(LayoutOfLargest(0x100), StateLayout::kFlags);
}

}  // namespace
}  // namespace whylate
