#include "userspace/trace/ftrace_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/made_ftrace.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

using testing::ElementsAre;
using testing::Optional;
using testing::Pair;

std::vector<uint8_t> Filled(size_t size, uint8_t value) {
  return std::vector<uint8_t>(size, value);
}

// Time and size of each record; whether the page was damaged behind them.
std::pair<std::vector<std::pair<int64_t, size_t>>, bool> ReadAll(
    const std::vector<uint8_t>& bytes) {
  FtracePage page = FtracePage::Open(FtracePageLayout(), bytes).value();
  std::vector<std::pair<int64_t, size_t>> records;
  while (const auto record = page.Next()) {
    records.emplace_back(record->time_ns, record->bytes.size());
  }
  return {records, page.damaged()};
}

TEST(FtracePageLayoutTest, IsWhatTheKernelPublishes) {
  const auto layout = FtracePageLayout::Parse(
      "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
      "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
      "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
      "\tfield: char data;\toffset:12;\tsize:4084;\tsigned:1;\n");
  ASSERT_THAT(layout, IsOk());
  EXPECT_EQ(layout->commit_bytes, 4U);
  EXPECT_EQ(layout->data_offset, 12U);
}

TEST(FtracePageLayoutTest, WhatNoKernelHasIsRefused) {
  EXPECT_FALSE(FtracePageLayout::Parse("").ok());
  EXPECT_FALSE(FtracePageLayout::Parse("\tfield: u64 timestamp;\toffset:0;\tsize:8;\n").ok());
  EXPECT_FALSE(FtracePageLayout::Parse("\tfield: u64 timestamp;\toffset:0;\tsize:8;\n"
                                       "\tfield: local_t commit;\toffset:8;\tsize:8;\n"
                                       "\tfield: char data;\toffset:12;\tsize:4080;\n")
                   .ok());
}

TEST(FtracePageTest, TimesAddUp) {
  const std::vector<uint8_t> bytes = MadePage(1000)
                                         .Add(0, Filled(8, 1))
                                         .Add(5, Filled(12, 2))
                                         .AddLong(7, Filled(200, 3))
                                         .AddLong(1, Filled(7, 4))  // the next is aligned
                                         .Add(2, Filled(4, 5))
                                         .Bytes();
  EXPECT_THAT(ReadAll(bytes), Pair(ElementsAre(Pair(1000, 8), Pair(1005, 12), Pair(1012, 200),
                                               Pair(1013, 7), Pair(1015, 4)),
                                   false));
}

TEST(FtracePageTest, LongPausesAndAbsoluteTimes) {
  constexpr uint64_t kFar = uint64_t{3} << 30;
  const std::vector<uint8_t> bytes = MadePage(1000)
                                         .Extend(kFar)
                                         .Add(1, Filled(4, 1))
                                         .Stamp(kFar + 5000)
                                         .Add(2, Filled(4, 2))
                                         .Bytes();
  EXPECT_THAT(
      ReadAll(bytes),
      Pair(ElementsAre(Pair(int64_t{kFar} + 1001, 4), Pair(int64_t{kFar} + 5002, 4)), false));
}

TEST(FtracePageTest, ADiscardedRecordIsSkippedAndItsTimeCounts) {
  // 1 is the mark of one that had no time of its own.
  const std::vector<uint8_t> bytes =
      MadePage(1000).Discard(30, 3).Discard(1, 2).Add(4, Filled(4, 1)).Bytes();
  EXPECT_THAT(ReadAll(bytes), Pair(ElementsAre(Pair(1034, 4)), false));
}

TEST(FtracePageTest, PaddingIsTheEnd) {
  const std::vector<uint8_t> bytes =
      MadePage(1000).Add(1, Filled(4, 1)).Word(29).Word(1000).Add(1, Filled(4, 2)).Bytes();
  EXPECT_THAT(ReadAll(bytes), Pair(ElementsAre(Pair(1001, 4)), false));
}

TEST(FtracePageTest, SaysWhatWasOverwrittenBefore) {
  const FtracePageLayout layout;
  std::vector<uint8_t> bytes = MadePage(1).Add(1, Filled(4, 1)).Missed(77).Bytes();
  FtracePage page = FtracePage::Open(layout, bytes).value();
  EXPECT_TRUE(page.missed());
  EXPECT_THAT(page.missed_count(), Optional(77U));
  bytes = MadePage(1).Add(1, Filled(4, 1)).Missed(std::nullopt).Bytes();
  page = FtracePage::Open(layout, bytes).value();
  EXPECT_TRUE(page.missed());
  EXPECT_EQ(page.missed_count(), std::nullopt);
  bytes = MadePage(1).Add(1, Filled(4, 1)).Bytes();
  EXPECT_FALSE(FtracePage::Open(layout, bytes)->missed());
}

TEST(FtracePageTest, OnlyTheUsedPartIsWorthKeeping) {
  const FtracePageLayout layout;
  EXPECT_EQ(FtracePageBytes(layout, MadePage(1).Add(1, Filled(4, 1)).Bytes()), 16U + 8U);
  const std::vector<uint8_t> missed = MadePage(1).Add(1, Filled(4, 1)).Missed(9).Bytes();
  EXPECT_EQ(FtracePageBytes(layout, missed), 16U + 8U + 8U);
  FtracePage page = FtracePage::Open(layout, absl::MakeConstSpan(missed).first(32)).value();
  EXPECT_THAT(page.missed_count(), Optional(9U));
}

TEST(FtracePageTest, APageShorterThanItSaysIsNone) {
  const FtracePageLayout layout;
  const std::vector<uint8_t> bytes = MadePage(1).AddLong(1, Filled(100, 1)).Bytes();
  const absl::Span<const uint8_t> all = bytes;
  EXPECT_EQ(FtracePage::Open(layout, all.first(50)).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(FtracePage::Open(layout, all.first(15)).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(FtracePage::Open(layout, {}).status().code(), absl::StatusCode::kDataLoss);
}

TEST(FtracePageTest, WhatReachesBeyondThePageIsDamage) {
  for (const uint32_t word : {uint32_t{28},               // 28 words, and there is none
                              uint32_t{0}, uint32_t{30},  // their second word is missing
                              uint32_t{31}, uint32_t{1U << 5 | 29}}) {
    EXPECT_THAT(ReadAll(MadePage(10).Add(1, Filled(4, 1)).Word(word).Bytes()),
                Pair(ElementsAre(Pair(11, 4)), true))
        << word;
  }
  // Lengths in a word of their own: too long, and shorter than that word.
  for (const uint32_t length : {uint32_t{5000}, UINT32_MAX, UINT32_MAX - 3, uint32_t{0}}) {
    EXPECT_THAT(ReadAll(MadePage(10).Word(0).Word(length).Word(0).Bytes()),
                Pair(ElementsAre(), true))
        << length;
  }
}

TEST(FtracePageTest, ATimeThatNoClockShowsIsDamage) {
  EXPECT_THAT(ReadAll(MadePage(uint64_t{1} << 63).Add(1, Filled(4, 1)).Bytes()),
              Pair(ElementsAre(), true));
}

}  // namespace
}  // namespace whylate
