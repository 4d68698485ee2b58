#include "analysis/import/perfetto.h"

#include <string>

#include "analysis/model/recording.h"
#include "analysis/report/perfetto_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

using testing::HasSubstr;

TEST(LooksLikePerfettoTest, OurOwnBeginning) {
  const std::string bytes = RecordingToPerfetto(Recording(), nullptr);
  EXPECT_TRUE(LooksLikePerfetto(bytes));
  EXPECT_TRUE(LooksLikePerfetto(bytes.substr(0, 256)));
}

TEST(LooksLikePerfettoTest, OtherFiles) {
  EXPECT_FALSE(LooksLikePerfetto(""));
  EXPECT_FALSE(LooksLikePerfetto("\n"));
  EXPECT_FALSE(LooksLikePerfetto("\n\n\n"));
  EXPECT_FALSE(LooksLikePerfetto("\n# tracer: nop\n"));
  EXPECT_FALSE(LooksLikePerfetto("\x17\x08\x44tracing6"));
  EXPECT_FALSE(LooksLikePerfetto("{\"schema\": 1}"));
}

TEST(ImportPerfettoTest, SaysWhatWasFound) {
  EXPECT_THAT(ImportPerfetto("hello", ImportLimits()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("5 bytes")));
  EXPECT_THAT(ImportPerfetto("", ImportLimits()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not a Perfetto trace")));
}

}  // namespace
}  // namespace whylate
