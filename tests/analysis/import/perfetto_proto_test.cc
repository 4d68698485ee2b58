#include "analysis/import/perfetto_proto.h"

#include <cstdint>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace whylate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A line a field, and one for what is malformed.
std::vector<std::string> Fields(const std::string& message) {
  std::vector<std::string> lines;
  ProtoReader reader(message);
  for (ProtoField field; reader.Next(&field);) {
    lines.push_back(field.is_bytes ? absl::StrCat(field.number, " '", field.bytes, "'")
                                   : absl::StrCat(field.number, " ", field.value));
  }
  if (reader.malformed()) lines.push_back(absl::StrCat("malformed after ", reader.consumed()));
  return lines;
}

// The same by protozero.
std::vector<std::string> FieldsByProtozero(const std::string& message) {
  std::vector<std::string> lines;
  size_t consumed = 0;
  protozero::pbf_reader reader(message);
  try {
    while (reader.next()) {
      std::string line = absl::StrCat(reader.tag(), " ");
      switch (reader.wire_type()) {
        case protozero::pbf_wire_type::varint:
          absl::StrAppend(&line, reader.get_uint64());
          break;
        case protozero::pbf_wire_type::fixed64:
          absl::StrAppend(&line, reader.get_fixed64());
          break;
        case protozero::pbf_wire_type::fixed32:
          absl::StrAppend(&line, reader.get_fixed32());
          break;
        default:
          absl::StrAppend(&line, "'", reader.get_string(), "'");
      }
      lines.push_back(line);
      consumed = message.size() - reader.length();
    }
  } catch (const protozero::exception&) {
    lines.push_back(absl::StrCat("malformed after ", consumed));
  }
  return lines;
}

TEST(ProtoReaderTest, ReadsEachWireType) {
  EXPECT_THAT(Fields("\x08\x96\x01"
                     "\x15\x01\x02\x03\x04"
                     "\x1a\x02hi"
                     "\x21\x01\x02\x03\x04\x05\x06\x07\x08"),
              ElementsAre("1 150", "2 67305985", "3 'hi'", "4 578437695752307201"));
  EXPECT_THAT(Fields(""), IsEmpty());
}

TEST(ProtoReaderTest, ReadsTheLongestVarint) {
  EXPECT_THAT(Fields("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
              ElementsAre("1 18446744073709551615"));
}

TEST(ProtoReaderTest, StopsAtWhatIsMalformed) {
  const std::string good("\x08\x01");
  EXPECT_THAT(Fields(good + "\x08"), ElementsAre("1 1", "malformed after 2"));        // no value
  EXPECT_THAT(Fields(good + "\x12\x03hi"), ElementsAre("1 1", "malformed after 2"));  // cut off
  EXPECT_THAT(Fields(good + "\x0b"), ElementsAre("1 1", "malformed after 2"));        // a group
  EXPECT_THAT(Fields(good + std::string(1, '\0')), ElementsAre("1 1", "malformed after 2"));
  // A varint of eleven bytes.
  EXPECT_THAT(Fields(good + "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
              ElementsAre("1 1", "malformed after 2"));
}

TEST(ProtoReaderTest, ReadsWhatProtozeroReads) {
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string message;
    const size_t size = random() % 24;
    // Small numbers are likelier to be tags and lengths that fit.
    while (message.size() < size) {
      message += static_cast<char>(random() % (random() % 2 == 0 ? 32 : 256));
    }
    ASSERT_EQ(Fields(message), FieldsByProtozero(message)) << testing::PrintToString(message);
  }
}

}  // namespace
}  // namespace whylate
