#include "analysis/import/text_scan.h"

#include "gtest/gtest.h"

namespace whylate {
namespace {

TEST(TextScan, NumbersDoNotOverflow) {
  absl::string_view text = "999999999999999999";
  EXPECT_EQ(TakeNumber(&text), 999999999999999999);
  text = "1000000000000000000";
  EXPECT_FALSE(TakeNumber(&text).has_value());
  EXPECT_EQ(text, "1000000000000000000");
  text = "2147483648";
  EXPECT_FALSE(TakeInt32(&text).has_value());
  text = "-5x";
  EXPECT_EQ(TakeInt32(&text), -5);
  EXPECT_EQ(text, "x");
  text = "0x100 ==>";
  EXPECT_EQ(TakeState(&text), 256u);
  text = "0xfffffffff";
  EXPECT_FALSE(TakeState(&text).has_value());
}

TEST(TextScan, TimesHaveOneToNineDecimals) {
  absl::string_view text = "103.010459:";
  EXPECT_EQ(TakeTime(&text)->time_ns, 103'010'459'000);
  EXPECT_EQ(text, ":");
  text = "0.000000120";
  EXPECT_EQ(TakeTime(&text)->time_ns, 120);
  text = "1.0100459";
  EXPECT_EQ(TakeTime(&text)->decimals, 7);
  for (absl::string_view wrong : {"1.", "1", ".5", "x", "1.0123456789", "99999999999.0", ""}) {
    EXPECT_FALSE(TakeTime(&wrong).has_value()) << wrong;
  }
}

TEST(TextScan, LinesAndTheLastOneThatIsCut) {
  absl::string_view text = "a\r\n\nb";
  EXPECT_TRUE(DropCutLine(&text));
  EXPECT_FALSE(DropCutLine(&text));
  EXPECT_EQ(TakeLine(&text), "a");
  EXPECT_EQ(TakeLine(&text), "");
  EXPECT_TRUE(text.empty());
}

}  // namespace
}  // namespace whylate
