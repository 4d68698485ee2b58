#include "analysis/model/cpu_set.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CpuSet Parsed(absl::string_view text) { return CpuSet::Parse(text).value(); }

TEST(CpuSetTest, ParsesNumbersAndRanges) {
  EXPECT_THAT(Parsed("0-2,5").ToVector(), ElementsAre(CpuId{0}, CpuId{1}, CpuId{2}, CpuId{5}));
  EXPECT_THAT(Parsed("7").ToVector(), ElementsAre(CpuId{7}));
  EXPECT_THAT(Parsed("3-3").ToVector(), ElementsAre(CpuId{3}));
}

TEST(CpuSetTest, OrderAndRepetitionDoNotMatter) { EXPECT_EQ(Parsed("5,0-2,1"), Parsed("0-2,5")); }

TEST(CpuSetTest, HoldsCpusPastOneWord) {
  const CpuSet set = Parsed("63-64,8191");
  EXPECT_EQ(set.Count(), 3);
  EXPECT_TRUE(set.Contains(CpuId{64}));
  EXPECT_TRUE(set.Contains(CpuId{CpuSet::kMaxCpus - 1}));
  EXPECT_FALSE(set.Contains(CpuId{65}));
}

TEST(CpuSetTest, ContainsNothingOutsideItsWords) {
  EXPECT_FALSE(Parsed("0").Contains(CpuId{4000}));
  EXPECT_FALSE(Parsed("0").Contains(CpuId{-1}));
  EXPECT_FALSE(CpuSet().Contains(CpuId{0}));
}

TEST(CpuSetTest, WritesTheKernelsNotation) {
  for (const std::string text : {"0", "0-3,5", "0-1,3-4,62-65,8191", ""}) {
    const CpuSet set = text.empty() ? CpuSet() : Parsed(text);
    EXPECT_EQ(set.ToString(), text);
  }
  EXPECT_EQ(Parsed("1,0").ToString(), "0-1");
}

TEST(CpuSetTest, EmptyUntilACpuIsAdded) {
  CpuSet set;
  EXPECT_TRUE(set.empty());
  set.Add(CpuId{130});
  EXPECT_FALSE(set.empty());
  EXPECT_EQ(set, Parsed("130"));
}

TEST(CpuSetTest, SubsetComparesSetsOfDifferentLength) {
  EXPECT_TRUE(Parsed("1").IsSubsetOf(Parsed("0-1,200")));
  EXPECT_FALSE(Parsed("1,200").IsSubsetOf(Parsed("0-1")));
  EXPECT_TRUE(CpuSet().IsSubsetOf(Parsed("0")));
  EXPECT_TRUE(Parsed("2").IsSubsetOf(Parsed("2")));
}

class CpuSetErrorTest : public testing::TestWithParam<const char*> {};

TEST_P(CpuSetErrorTest, IsNoList) {
  EXPECT_THAT(CpuSet::Parse(GetParam()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is not a CPU number")));
}

INSTANTIATE_TEST_SUITE_P(Texts, CpuSetErrorTest,
                         testing::Values("", ",", "0,", ",0", "a", "-1", "1-", "-", "0-1-2", " 0",
                                         "0 ", "+1", "0x1", "1.5", "8192", "0-8192",
                                         "99999999999999999999", "0;1"));

TEST(CpuSetTest, NamesTheOffendingPart) {
  EXPECT_THAT(CpuSet::Parse("0,zwei,2"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'zwei'")));
  EXPECT_THAT(CpuSet::Parse("0,5-2"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'5-2' runs backwards")));
}

}  // namespace
}  // namespace whylate
