#include "userspace/cli/trace_dat_child.h"

#include <dirent.h>

#include <string>

#include "absl/status/status.h"
#include "analysis/import/trace_dat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/made_trace_dat.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temporary_directory.h"

namespace whylate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string SmallTrace() {
  MadeTraceDat made(2);
  made.Waking(1000, 0, 5, 0x08, 7, "alpha", 1)
      .Switch(3000, 0, 5, "beta", 0x100, 7, "alpha")
      .Switch(1500, 1, 0, "swapper/1", 0, 6, "gam\nma")
      .Stats(1, "entries: 7\noverrun: 3\n")
      .Uname("Linux host 6.1.0 x86_64");
  return made.Bytes();
}

TEST(TraceDatChild, GivesWhatTheReaderGives) {
  TemporaryDirectory directory;
  directory.Write("trace.dat", SmallTrace());
  const auto direct = ImportTraceDat(directory.Path("trace.dat"), ImportLimits());
  const auto child = ReadTraceDatInChild(directory.Path("trace.dat"), TraceDatLimits());
  ASSERT_THAT(direct, IsOk());
  ASSERT_THAT(child, IsOk());
  EXPECT_EQ(child->format, "trace.dat v6");
  EXPECT_EQ(child->notes, direct->notes);
  EXPECT_FALSE(child->has_frames);
  EXPECT_EQ(child->recording.events, direct->recording.events);
  EXPECT_EQ(child->recording.losses, direct->recording.losses);
  EXPECT_EQ(child->recording.cpus, direct->recording.cpus);
  EXPECT_EQ(child->recording.trace, direct->recording.trace);
  EXPECT_EQ(child->recording.begin_ns, direct->recording.begin_ns);
  EXPECT_EQ(child->recording.end_ns, direct->recording.end_ns);
}

TEST(TraceDatChild, GivesTheReadersErrors) {
  TemporaryDirectory directory;
  directory.Write("cut.dat", SmallTrace().substr(0, 2000));
  EXPECT_THAT(ReadTraceDatInChild(directory.Path("cut.dat"), TraceDatLimits()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is cut")));
  EXPECT_THAT(ReadTraceDatInChild(directory.Path("none"), TraceDatLimits()),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cannot open")));
}

TEST(TraceDatChild, AViolentEndIsOneLine) {
  TemporaryDirectory directory;
  directory.Write("trace.dat", SmallTrace());
  TraceDatLimits limits;
  limits.wall_seconds = 0;
  EXPECT_THAT(ReadTraceDatInChild(directory.Path("trace.dat"), limits),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("took more than 0 s"), Not(HasSubstr("\n")))));
  limits = TraceDatLimits();
  limits.memory_bytes = 1 << 20;
  if (!LimitsMemory()) return;
  // By the kernel, the library or an allocation, whichever comes to the limit first.
  EXPECT_THAT(
      ReadTraceDatInChild(directory.Path("trace.dat"), limits),
      StatusIs(Not(absl::StatusCode::kOk), AllOf(HasSubstr("trace.dat"), Not(HasSubstr("\n")))));
}

}  // namespace
}  // namespace whylate
