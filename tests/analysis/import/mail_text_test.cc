#include "analysis/import/mail_text.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace whylate {
namespace {

using ::testing::Eq;
using ::testing::Optional;
using ::testing::StrEq;

TEST(QuotedPrintable, JoinsLinesAndDecodes) {
  EXPECT_THAT(FromQuotedPrintable("a =3D=3D> b=\nc=\r\nd\n"), Optional(StrEq("a ==> bcd\n")));
}

TEST(QuotedPrintable, ALongLineMayTellIt) {
  const std::string start(74, 'x');
  EXPECT_THAT(FromQuotedPrintable(absl::StrCat(start, "=\ny\n")),
              Optional(StrEq(absl::StrCat(start, "y\n"))));
}

TEST(QuotedPrintable, WhatIsNoneStaysAsItIs) {
  EXPECT_THAT(FromQuotedPrintable("264:120:R ==> [001]\n====\n=\n"), Eq(std::nullopt));
  EXPECT_THAT(FromQuotedPrintable("=3D =zz ="), Optional(StrEq("= =zz =")));
  EXPECT_THAT(FromQuotedPrintable(""), Eq(std::nullopt));
}

TEST(QuoteMarks, AreTakenOffTheFront) {
  EXPECT_EQ(WithoutQuoteMarks("> >  a > b"), " a > b");
  EXPECT_EQ(WithoutQuoteMarks("  >| a"), "a");
  EXPECT_EQ(WithoutQuoteMarks("  a"), "  a");
  EXPECT_EQ(WithoutQuoteMarks(">"), "");
}

}  // namespace
}  // namespace whylate
