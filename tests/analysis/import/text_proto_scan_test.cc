#include "analysis/import/text_proto_scan.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace whylate {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

TEST(TextProtoScanner, TakesNamesNumbersAndSigns) {
  TextProtoScanner scanner("cpu: -1 # a comment\n event <x.y:0x1F>;");
  std::vector<std::string> words;
  while (scanner.Next()) words.emplace_back(scanner.token().word);
  EXPECT_THAT(words, ElementsAre("cpu", ":", "-1", "event", "<", "x.y", ":", "0x1F", ">", ";"));
  EXPECT_TRUE(scanner.AtEnd());
}

TEST(TextProtoScanner, AdjacentStringsAreOne) {
  TextProtoScanner scanner("\"a\\\"\\101\" 'b\"' name");
  ASSERT_TRUE(scanner.Next());
  EXPECT_EQ(scanner.token().string, "a\"Ab\"");
  ASSERT_TRUE(scanner.Next());
  EXPECT_EQ(scanner.token().word, "name");
}

TEST(TextProtoScanner, StopsWhereNoTokenBegins) {
  for (const char* text : {"\"unclosed", "'a\nb'", "\"a\\", "%", "\x80"}) {
    TextProtoScanner scanner(text);
    EXPECT_FALSE(scanner.Next()) << text;
    EXPECT_FALSE(scanner.AtEnd()) << text;
  }
}

TEST(TextProtoScanner, CountsLines) {
  TextProtoScanner scanner("a\nb\n%");
  while (scanner.Next()) {
  }
  EXPECT_EQ(scanner.LineNumber(), 3u);
}

TEST(TextProtoNumber, ReadsWhatAVarintHolds) {
  EXPECT_THAT(TextProtoNumber("18446744073709551615"), Optional(UINT64_MAX));
  EXPECT_THAT(TextProtoNumber("-1"), Optional(UINT64_MAX));
  EXPECT_THAT(TextProtoNumber("0x1f"), Optional(31u));
  EXPECT_THAT(TextProtoNumber("017"), Optional(15u));
  EXPECT_THAT(TextProtoNumber("0"), Optional(0u));
  EXPECT_THAT(TextProtoNumber("true"), Optional(1u));
  for (const char* word : {"", "-", "1.5", "0x", "08", "18446744073709551616", "nan"}) {
    EXPECT_FALSE(TextProtoNumber(word).has_value()) << word;
  }
}

}  // namespace
}  // namespace whylate
