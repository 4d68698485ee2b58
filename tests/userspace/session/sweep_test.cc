#include "userspace/session/sweep.h"

#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temporary_directory.h"

namespace whylate {
namespace {

using testing::Optional;

// No pid is this large: PID_MAX_LIMIT is 2^22 (include/linux/threads.h).
constexpr char kDeadRun[] = "2147483647-1";

std::string OwnRunId() { return MakeRunId(ReadProcess(Tgid{getpid()})->identity); }

TEST(RunIdTest, IsPidAndStartTime) { EXPECT_EQ(MakeRunId({Tgid{1234}, 56789}), "1234-56789"); }

TEST(RunIdTest, IsReadBack) {
  const ProcessIdentity identity = {Tgid{4194304}, UINT64_MAX};
  EXPECT_THAT(ParseRunId(MakeRunId(identity)), Optional(identity));
}

TEST(RunIdTest, WhatIsNoneIsRefused) {
  for (const char* text :
       {"", "-", "12", "12-", "-34", "a-34", "12-b", "12-34-56", "0-34", "-12-34", "12--34",
        "4294967297-1", "12-99999999999999999999", "12 34", "12-34x", "../../etc"}) {
    EXPECT_EQ(ParseRunId(text), std::nullopt) << text;
  }
}

class SweepLoadFilesTest : public testing::Test {
 protected:
  // Whether a file of that name is there after a sweep.
  bool Survives(const std::string& name) {
    directory_.Write(name, "x");
    SweepLoadFiles(directory_.path());
    return directory_.Has(name);
  }
  TemporaryDirectory directory_;
};

TEST_F(SweepLoadFilesTest, RemovesThoseOfADeadRun) {
  EXPECT_FALSE(Survives(absl::StrCat(".whylate-", kDeadRun, "-aB3xYz")));
}

TEST_F(SweepLoadFilesTest, KeepsThoseOfALivingRun) {
  EXPECT_TRUE(Survives(absl::StrCat(".whylate-", OwnRunId(), "-aB3xYz")));
}

TEST_F(SweepLoadFilesTest, ARunWhosePidIsReusedIsDead) {
  EXPECT_FALSE(Survives(absl::StrCat(".whylate-", getpid(), "-1-aB3xYz")));
}

TEST_F(SweepLoadFilesTest, KeepsWhatIsNotOurs) {
  for (const std::string name : {"whylate-2147483647-1-aB3xYz", ".whylate-", ".whylate-notes-1-a",
                                 ".whylate-2147483647", "report.json", ".whylate-2147483647-1"}) {
    EXPECT_TRUE(Survives(name)) << name;
  }
}

TEST_F(SweepLoadFilesTest, ALinksTargetStays) {
  directory_.Write("precious", "x");
  const std::string link = absl::StrCat(".whylate-", kDeadRun, "-aB3xYz");
  std::filesystem::create_symlink(directory_.Path("precious"), directory_.Path(link));
  SweepLoadFiles(directory_.path());
  EXPECT_FALSE(directory_.Has(link));
  EXPECT_TRUE(directory_.Has("precious"));
}

TEST_F(SweepLoadFilesTest, ADirectoryThatIsNotThereIsNoTrouble) {
  SweepLoadFiles(directory_.Path("none"));
  EXPECT_EQ(directory_.EntryCount(), 0);
}

}  // namespace
}  // namespace whylate
