#include "userspace/trace/record_store.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/types/span.h"

namespace whylate {
namespace {

TEST(RecordStoreTest, GivesBackRecordsInOrderAcrossBlocks) {
  RecordStore store(int64_t{4} << 20);
  constexpr uint32_t kRecords = 50000;  // more than a block
  for (uint32_t i = 0; i < kRecords; ++i) {
    const uint8_t bytes[40] = {};
    std::vector<uint8_t> record(bytes, bytes + 8 + i % 32);
    std::memcpy(record.data(), &i, sizeof(i));
    ASSERT_TRUE(store.Append(record.data(), record.size()));
  }
  uint32_t expected = 0;
  store.ForEach([&](absl::Span<const uint8_t> record) {
    uint32_t value = 0;
    std::memcpy(&value, record.data(), sizeof(value));
    EXPECT_EQ(value, expected);
    EXPECT_EQ(record.size(), 8 + expected % 32);
    ++expected;
  });
  EXPECT_EQ(expected, kRecords);
  EXPECT_EQ(store.record_count(), kRecords);
  EXPECT_EQ(store.dropped_count(), 0);
}

TEST(RecordStoreTest, RefusesWhatPassesTheLimitAndCountsIt) {
  RecordStore store(int64_t{1} << 20);
  const std::vector<uint8_t> record(60000);
  int stored = 0;
  for (int i = 0; i < 30; ++i) stored += store.Append(record.data(), record.size()) ? 1 : 0;
  EXPECT_EQ(stored, 16);
  EXPECT_EQ(store.dropped_count(), 14);
}

TEST(RecordStoreTest, NoMemoryAllowedStoresNothing) {
  RecordStore store(0);
  EXPECT_FALSE(store.Append("x", 1));
}

}  // namespace
}  // namespace whylate
