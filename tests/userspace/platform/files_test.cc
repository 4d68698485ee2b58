#include "userspace/platform/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temporary_directory.h"

namespace whylate {
namespace {

using testing::_;
using testing::Gt;
using testing::HasSubstr;
using testing::Optional;

class FilesTest : public testing::Test {
 protected:
  TemporaryDirectory directory_;
};

TEST_F(FilesTest, ReadsAWholeFile) {
  const std::string contents(200000, 'x');
  directory_.Write("large", contents);
  EXPECT_THAT(ReadFile(directory_.Path("large")), IsOkAndHolds(contents));
}

TEST_F(FilesTest, ReadsFilesThatSaySizeZero) {
  EXPECT_THAT(ReadFile("/proc/self/stat"), IsOkAndHolds(HasSubstr(absl::StrCat(getpid()))));
}

TEST_F(FilesTest, AMissingFileIsNotFoundAndNamed) {
  EXPECT_THAT(ReadFile(directory_.Path("none")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(directory_.Path("none"))));
}

TEST_F(FilesTest, ADirectoryIsNoFile) { EXPECT_FALSE(ReadFile(directory_.path()).ok()); }

TEST_F(FilesTest, ALineLosesItsNewlineAlone) {
  directory_.Write("line", " 7 \n");
  directory_.Write("two", "a\n\n");
  directory_.Write("open", "a");
  EXPECT_THAT(ReadFileLine(directory_.Path("line")), Optional(std::string(" 7 ")));
  EXPECT_THAT(ReadFileLine(directory_.Path("two")), Optional(std::string("a\n")));
  EXPECT_THAT(ReadFileLine(directory_.Path("open")), Optional(std::string("a")));
  EXPECT_EQ(ReadFileLine(directory_.Path("none")), std::nullopt);
}

class WriteFileAtomicallyTest : public FilesTest {
 protected:
  absl::Status Write(absl::string_view contents) {
    return WriteFileAtomically(fd_.get(), "report", contents);
  }
  UniqueFd fd_ = OpenDirectory(directory_.path()).value();
};

TEST_F(WriteFileAtomicallyTest, WritesANewFile) {
  ASSERT_THAT(Write("new"), IsOk());
  EXPECT_EQ(directory_.Read("report"), "new");
  EXPECT_EQ(directory_.EntryCount(), 1);
}

TEST_F(WriteFileAtomicallyTest, ReplacesAnOldOne) {
  directory_.Write("report", "old and longer");
  ASSERT_THAT(Write("new"), IsOk());
  EXPECT_EQ(directory_.Read("report"), "new");
}

TEST_F(WriteFileAtomicallyTest, AReaderOfTheOldFileKeepsIt) {
  directory_.Write("report", "old");
  const UniqueFd old(open(directory_.Path("report").c_str(), O_RDONLY));
  ASSERT_THAT(Write("new"), IsOk());
  char buffer[8];
  EXPECT_EQ(read(old.get(), buffer, sizeof(buffer)), 3);
}

TEST_F(WriteFileAtomicallyTest, ReplacesASymbolicLinkAndNotItsTarget) {
  directory_.Write("victim", "precious");
  std::filesystem::create_symlink(directory_.Path("victim"), directory_.Path("report"));
  ASSERT_THAT(Write("new"), IsOk());
  EXPECT_EQ(directory_.Read("victim"), "precious");
  EXPECT_TRUE(
      std::filesystem::is_regular_file(std::filesystem::symlink_status(directory_.Path("report"))));
}

TEST_F(WriteFileAtomicallyTest, ALinkInThePlaceOfTheTemporaryIsNotFollowed) {
  directory_.Write("victim", "precious");
  std::filesystem::create_symlink(directory_.Path("victim"),
                                  directory_.Path(TemporaryName("report")));
  ASSERT_THAT(Write("new"), IsOk());
  EXPECT_EQ(directory_.Read("victim"), "precious");
  EXPECT_EQ(directory_.Read("report"), "new");
}

TEST_F(WriteFileAtomicallyTest, AKilledRunsTemporaryIsNoObstacle) {
  directory_.Write(TemporaryName("report"), "half a rep");
  ASSERT_THAT(Write("new"), IsOk());
  EXPECT_FALSE(directory_.Has(TemporaryName("report")));
}

TEST_F(WriteFileAtomicallyTest, AFailureLeavesNoTemporaryAndTheOldFile) {
  std::filesystem::create_directory(directory_.Path("report"));  // can't be renamed over
  EXPECT_THAT(Write("new"), StatusIs(_, HasSubstr("rename .report.tmp to report")));
  EXPECT_FALSE(directory_.Has(TemporaryName("report")));
  EXPECT_TRUE(std::filesystem::is_directory(directory_.Path("report")));
}

TEST_F(WriteFileAtomicallyTest, AnObstacleThatIsADirectoryIsAnError) {
  std::filesystem::create_directory(directory_.Path(TemporaryName("report")));
  EXPECT_THAT(Write("new"), StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("create")));
}

TEST_F(FilesTest, CreatesADirectory) {
  EXPECT_THAT(CreateDirectory(directory_.Path("new")), IsOk());
  EXPECT_TRUE(std::filesystem::is_directory(directory_.Path("new")));
}

TEST_F(FilesTest, ADirectoryThatExistsIsNotCreated) {
  directory_.Write("file", "");
  std::filesystem::create_directory(directory_.Path("old"));
  std::filesystem::create_symlink("nowhere", directory_.Path("link"));
  for (const char* name : {"file", "old", "link"}) {
    EXPECT_THAT(CreateDirectory(directory_.Path(name)),
                StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr(name)));
  }
}

TEST_F(FilesTest, ADirectoryNeedsItsParent) {
  EXPECT_THAT(CreateDirectory(directory_.Path("a/b")), StatusIs(absl::StatusCode::kNotFound, _));
}

TEST_F(FilesTest, AFileIsNotOpenedAsADirectory) {
  directory_.Write("file", "");
  EXPECT_FALSE(OpenDirectory(directory_.Path("file")).ok());
}

TEST_F(FilesTest, AnUnnamedFileHasNoName) {
  const absl::StatusOr<UniqueFd> fd = CreateUnnamedFile(directory_.path(), "1-2");
  ASSERT_THAT(fd, IsOk());
  EXPECT_EQ(directory_.EntryCount(), 0);
  EXPECT_EQ(write(fd->get(), "abc", 3), 3);
  char buffer[4];
  EXPECT_EQ(pread(fd->get(), buffer, sizeof(buffer), 0), 3);
}

TEST_F(FilesTest, AnUnnamedFileNeedsItsDirectory) {
  EXPECT_THAT(CreateUnnamedFile(directory_.Path("none"), "1-2"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(directory_.Path("none"))));
}

TEST_F(FilesTest, FreeBytes) {
  EXPECT_THAT(FreeBytes(directory_.path()), IsOkAndHolds(Gt(0)));
  EXPECT_THAT(FreeBytes(directory_.Path("none")), StatusIs(absl::StatusCode::kNotFound, _));
}

class InvokingUserTest : public FilesTest {
 protected:
  void SetUp() override {
    // What the tests themselves were called with.
    Keep("SUDO_UID", uid_);
    Keep("SUDO_GID", gid_);
  }
  void TearDown() override {
    Restore("SUDO_UID", uid_);
    Restore("SUDO_GID", gid_);
  }
  static void Set(const char* uid, const char* gid) {
    setenv("SUDO_UID", uid, 1);
    setenv("SUDO_GID", gid, 1);
  }

 private:
  static void Keep(const char* name, std::optional<std::string>& value) {
    if (const char* found = std::getenv(name)) value = found;
    unsetenv(name);
  }
  static void Restore(const char* name, const std::optional<std::string>& value) {
    value ? setenv(name, value->c_str(), 1) : unsetenv(name);
  }
  std::optional<std::string> uid_;
  std::optional<std::string> gid_;
};

TEST_F(InvokingUserTest, IsUnsetWithoutSudo) { EXPECT_FALSE(GetInvokingUser()); }

TEST_F(InvokingUserTest, IsWhoCalledSudo) {
  Set("1234", "5678");
  const std::optional<InvokingUser> user = GetInvokingUser();
  ASSERT_EQ(user.has_value(), geteuid() == 0);  // who is not root cannot give files away
  if (!user) return;
  EXPECT_EQ(user->uid, 1234u);
  EXPECT_EQ(user->gid, 5678u);
}

TEST_F(InvokingUserTest, NonsenseIsNobody) {
  for (const char* uid : {"", "root", "-1", "99999999999", "1 2"}) {
    Set(uid, "5678");
    EXPECT_FALSE(GetInvokingUser()) << uid;
  }
  setenv("SUDO_UID", "1234", 1);
  unsetenv("SUDO_GID");
  EXPECT_FALSE(GetInvokingUser());
}

TEST_F(InvokingUserTest, FilesAndDirectoriesBelongToThem) {
  Set("1234", "5678");
  const UniqueFd fd = CreateDirectory(directory_.Path("out")).value();
  ASSERT_THAT(WriteFileAtomically(fd.get(), "report", "x"), IsOk());
  const uid_t owner = geteuid() == 0 ? 1234 : geteuid();
  for (const char* name : {"out", "out/report"}) {
    struct stat facts;
    ASSERT_EQ(stat(directory_.Path(name).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_uid, owner) << name;
  }
}

}  // namespace
}  // namespace whylate
