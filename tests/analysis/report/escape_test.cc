#include "analysis/report/escape.h"

#include <string>

#include "gtest/gtest.h"

namespace whylate {
namespace {

TEST(EscapeForTerminalTest, KeepsPlainTextAndOtherScripts) {
  EXPECT_EQ(EscapeForTerminal("kworker/u8:2-ext4 \\x2d"), "kworker/u8:2-ext4 \\x2d");
  EXPECT_EQ(EscapeForTerminal("naïve 日本 🎵"), "naïve 日本 🎵");
  EXPECT_EQ(EscapeForTerminal(""), "");
}

TEST(EscapeForTerminalTest, SpellsOutControlCharacters) {
  EXPECT_EQ(EscapeForTerminal("\x1b]0;owned\x07"), "\\x1b]0;owned\\x07");
  EXPECT_EQ(EscapeForTerminal("a\nb\tc\rd"), "a\\x0ab\\x09c\\x0dd");
  EXPECT_EQ(EscapeForTerminal(std::string("\0\x7f", 2)), "\\x00\\x7f");
}

TEST(EscapeForTerminalTest, SpellsOutC1ControlsInBothSpellings) {
  EXPECT_EQ(EscapeForTerminal("\xc2\x9b"
                              "31m"),
            "\\u{9b}31m");  // CSI as UTF-8
  EXPECT_EQ(EscapeForTerminal("\x9b"
                              "31m"),
            "\\x9b31m");  // CSI as a Latin-1 byte
}

TEST(EscapeForTerminalTest, SpellsOutBidiControlsAndInvisibles) {
  EXPECT_EQ(EscapeForTerminal("a\u202eb"), "a\\u{202e}b");
  EXPECT_EQ(EscapeForTerminal("\u2066\u2069\u200f\u061c"), "\\u{2066}\\u{2069}\\u{200f}\\u{61c}");
  EXPECT_EQ(EscapeForTerminal("\u2028\ufeff\u200b"), "\\u{2028}\\u{feff}\\u{200b}");
  EXPECT_EQ(EscapeForTerminal("\U000e0041"), "\\u{e0041}");
}

TEST(EscapeForTerminalTest, SpellsOutBytesThatAreNotUtf8) {
  EXPECT_EQ(EscapeForTerminal("\xff"), "\\xff");
  EXPECT_EQ(EscapeForTerminal("\xc0\xaf"), "\\xc0\\xaf");           // overlong '/'
  EXPECT_EQ(EscapeForTerminal("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");  // overlong, three bytes
  EXPECT_EQ(EscapeForTerminal("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(EscapeForTerminal("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // U+110000
  EXPECT_EQ(EscapeForTerminal("\xe6\x97"), "\\xe6\\x97");                    // cut short
  EXPECT_EQ(EscapeForTerminal("\xe6\x97x"), "\\xe6\\x97x");
}

TEST(EscapeForTerminalTest, NoByteOfTheResultSteersATerminal) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  for (const char byte : EscapeForTerminal(all)) {
    EXPECT_GE(byte, ' ');
    EXPECT_LT(byte, 0x7f);
  }
}

TEST(DisplayWidthTest, CountsColumns) {
  EXPECT_EQ(DisplayWidth(""), 0u);
  EXPECT_EQ(DisplayWidth("abc"), 3u);
  EXPECT_EQ(DisplayWidth("naïve"), 5u);
  EXPECT_EQ(DisplayWidth("日本"), 4u);
  EXPECT_EQ(DisplayWidth("한"), 2u);
  EXPECT_EQ(DisplayWidth("🎵"), 2u);
  EXPECT_EQ(DisplayWidth("Ａ"), 2u);  // fullwidth
  EXPECT_EQ(DisplayWidth("ｱ"), 1u);   // halfwidth katakana
}

TEST(DisplayWidthTest, CombiningMarksTakeNoColumn) {
  EXPECT_EQ(DisplayWidth("e\u0301"), 1u);
  EXPECT_EQ(DisplayWidth("a\u200db"), 2u);
}

TEST(DisplayWidthTest, AByteThatIsNotUtf8TakesOneColumn) {
  EXPECT_EQ(DisplayWidth("\xff"
                         "a"),
            2u);
}

TEST(ValidUtf8Test, ReplacesStrayBytesAlone) {
  EXPECT_EQ(ValidUtf8("naïve 日本\n"), "naïve 日本\n");
  EXPECT_EQ(ValidUtf8("a\xff"
                      "b"),
            "a\ufffd"
            "b");
  EXPECT_EQ(ValidUtf8("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");
  EXPECT_EQ(ValidUtf8("\xe6\x97"), "\ufffd\ufffd");
}

}  // namespace
}  // namespace whylate
