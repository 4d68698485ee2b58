#include "userspace/session/child_spec.h"

#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "userspace/platform/channel.h"

namespace whylate {
namespace {

using testing::HasSubstr;

constexpr auto kInternal = absl::StatusCode::kInternal;

ChildSpec MadeSpec() {
  ChildSpec spec;
  spec.kind = ChildKind::kWorkload;
  spec.parent = 4321;
  spec.nice = -5;
  spec.cpus = "0-1";
  spec.workload = "custom";
  spec.duration_ns = 10000000000;
  spec.load.name = "burn";
  spec.load.threads = 8;
  spec.load.loops_per_ms = 612345;
  spec.load.values = {12.5, 2667};
  spec.load.command = "make -j8";
  spec.load.file_bytes = int64_t{1} << 40;
  spec.load.memory_bytes = 12345;
  return spec;
}

TEST(ChildSpecTest, EveryFieldArrives) {
  const absl::StatusOr<ChildSpec> read = ChildSpecFromMessage(ToMessage(MadeSpec()));
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->kind, ChildKind::kWorkload);
  EXPECT_EQ(read->parent, 4321);
  EXPECT_EQ(read->nice, -5);
  EXPECT_EQ(read->cpus, "0-1");
  EXPECT_EQ(read->workload, "custom");
  EXPECT_EQ(read->duration_ns, 10000000000);
  EXPECT_EQ(read->load.name, "burn");
  EXPECT_EQ(read->load.threads, 8);
  EXPECT_EQ(read->load.loops_per_ms, 612345);
  EXPECT_EQ(read->load.values.cpu_percent, 12.5);
  EXPECT_EQ(read->load.values.interval_us, 2667);
  EXPECT_EQ(read->load.command, "make -j8");
  EXPECT_EQ(read->load.file_bytes, int64_t{1} << 40);
  EXPECT_EQ(read->load.memory_bytes, 12345);
}

TEST(ChildSpecTest, WhatIsUnsetStaysUnset) {
  const ChildSpec read = ChildSpecFromMessage(ToMessage({})).value();
  EXPECT_EQ(read.nice, std::nullopt);
  EXPECT_EQ(read.load.values.cpu_percent, std::nullopt);
  EXPECT_EQ(read.load.values.interval_us, std::nullopt);
  EXPECT_EQ(read.cpus, "");
}

TEST(ChildSpecTest, EveryKindArrives) {
  for (const ChildKind kind : {ChildKind::kWorkload, ChildKind::kLoad, ChildKind::kJanitor}) {
    ChildSpec spec;
    spec.kind = kind;
    EXPECT_EQ(ChildSpecFromMessage(ToMessage(spec))->kind, kind);
  }
}

TEST(ChildSpecTest, ACommandLineMayHoldAnyByte) {
  ChildSpec spec = MadeSpec();
  spec.load.command.clear();
  for (int byte = 1; byte < 256; ++byte) spec.load.command.push_back(static_cast<char>(byte));
  EXPECT_EQ(ChildSpecFromMessage(ToMessage(spec))->load.command, spec.load.command);
}

// The longest that session_plan.h lets through, of the bytes that take most room.
TEST(ChildSpecTest, TheLongestCommandLineFitsAMessage) {
  ChildSpec spec = MadeSpec();
  spec.load.command = std::string(8192, '\xff');
  EXPECT_LE(ToMessage(spec).size(), Channel::kMaxMessageBytes);
}

TEST(ChildSpecTest, AMessageThatIsNoneIsAnError) {
  for (const char* message : {"", "{}", "[]", "null", "go", "{\"kind\":1}"}) {
    EXPECT_THAT(ChildSpecFromMessage(message), StatusIs(kInternal, HasSubstr("malformed")))
        << message;
  }
}

TEST(ChildSpecTest, AMessageThatIsCutIsAnError) {
  const std::string message = ToMessage(MadeSpec());
  for (size_t sixteenth = 0; sixteenth < 16; ++sixteenth) {
    EXPECT_THAT(ChildSpecFromMessage(message.substr(0, message.size() * sixteenth / 16)),
                StatusIs(kInternal, HasSubstr("malformed")));
  }
}

TEST(ChildSpecTest, AFieldOfAnotherTypeIsAnError) {
  const std::string message =
      absl::StrReplaceAll(ToMessage(MadeSpec()), {{"\"threads\":8", "\"threads\":\"8\""}});
  EXPECT_THAT(ChildSpecFromMessage(message), StatusIs(kInternal, HasSubstr("malformed")));
}

TEST(ChildSpecTest, AnUnknownKindIsAnError) {
  for (const char* kind : {"\"kind\":3", "\"kind\":-1"}) {
    const std::string message = absl::StrReplaceAll(ToMessage(MadeSpec()), {{"\"kind\":0", kind}});
    EXPECT_THAT(ChildSpecFromMessage(message), StatusIs(kInternal, HasSubstr("malformed")));
  }
}

}  // namespace
}  // namespace whylate
