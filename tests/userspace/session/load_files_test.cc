#include "userspace/session/load_files.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temporary_directory.h"

namespace whylate {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kGiB = int64_t{1} << 30;

LoadFileSizes Plan(int64_t ram_bytes, int64_t swap_free_bytes, int64_t free_bytes) {
  return PlanLoadFiles(ram_bytes, swap_free_bytes, free_bytes).value();
}

TEST(PlanLoadFilesTest, ALargeMachine) {
  const LoadFileSizes sizes = Plan(64 * kGiB, 0, 1000 * kGiB);
  EXPECT_EQ(sizes.read_bytes, 512 * kMiB);
  EXPECT_EQ(sizes.write_bytes, 64 * kGiB);
  EXPECT_EQ(sizes.memory_limit_bytes, 512 * kMiB);
}

TEST(PlanLoadFilesTest, SizesFollowASmallRam) {
  const LoadFileSizes sizes = Plan(kGiB, 0, 1000 * kGiB);
  EXPECT_EQ(sizes.read_bytes, 256 * kMiB);
  EXPECT_EQ(sizes.write_bytes, kGiB);
  EXPECT_EQ(sizes.memory_limit_bytes, 128 * kMiB);
}

TEST(PlanLoadFilesTest, NoFileTakesMoreThanATenthOfTheFreeSpace) {
  for (const int64_t free_bytes : {160 * kMiB, 161 * kMiB, kGiB, 7 * kGiB, 100 * kGiB}) {
    const LoadFileSizes sizes = Plan(16 * kGiB, 0, free_bytes);
    EXPECT_LE(sizes.read_bytes, free_bytes / 10);
    EXPECT_LE(sizes.write_bytes, free_bytes / 10);
    EXPECT_LE(sizes.mapped_bytes, free_bytes / 10);
    EXPECT_GE(sizes.read_bytes, 16 * kMiB);
    EXPECT_GE(sizes.write_bytes, 16 * kMiB);
  }
}

TEST(PlanLoadFilesTest, ADiskThatIsNearlyFullIsAnError) {
  for (const int64_t free_bytes : {int64_t{0}, kMiB, 160 * kMiB - 1}) {
    EXPECT_THAT(PlanLoadFiles(16 * kGiB, 0, free_bytes),
                StatusIs(absl::StatusCode::kResourceExhausted,
                         AllOf(HasSubstr("--workdir"), HasSubstr("16 MiB"))));
  }
}

TEST(PlanLoadFilesTest, MemloadNeedsMoreThanItsLimit) {
  for (const int64_t swap_bytes : {int64_t{0}, 100 * kGiB}) {
    for (const int64_t free_bytes : {160 * kMiB, kGiB, 100 * kGiB}) {
      const LoadFileSizes sizes = Plan(8 * kGiB, swap_bytes, free_bytes);
      EXPECT_GT(sizes.anonymous_bytes + sizes.mapped_bytes, sizes.memory_limit_bytes);
      EXPECT_LT(sizes.anonymous_bytes, sizes.memory_limit_bytes);
    }
  }
}

// What cannot be swapped out must leave room, or the group runs out of memory.
TEST(PlanLoadFilesTest, WithoutSwapMostOfMemloadIsPagesOfAFile) {
  const LoadFileSizes sizes = Plan(8 * kGiB, 0, 100 * kGiB);
  EXPECT_LE(sizes.anonymous_bytes, sizes.memory_limit_bytes / 2);
  EXPECT_GT(sizes.mapped_bytes, sizes.memory_limit_bytes / 2);
}

TEST(PlanLoadFilesTest, WithSwapMostOfMemloadIsAnonymous) {
  const LoadFileSizes sizes = Plan(8 * kGiB, 100 * kGiB, 100 * kGiB);
  EXPECT_GT(sizes.anonymous_bytes, sizes.mapped_bytes);
}

TEST(PlanLoadFilesTest, LittleSwapIsNone) {
  const LoadFileSizes little = Plan(8 * kGiB, kGiB, 100 * kGiB);
  EXPECT_EQ(little.anonymous_bytes, Plan(8 * kGiB, 0, 100 * kGiB).anonymous_bytes);
}

TEST(PlanLoadFilesTest, SizesAreWholeMiB) {
  const LoadFileSizes sizes = Plan(3 * kGiB + 12345, 0, 7 * kGiB + 999);
  for (const int64_t size : {sizes.read_bytes, sizes.write_bytes, sizes.memory_limit_bytes,
                             sizes.anonymous_bytes, sizes.mapped_bytes}) {
    EXPECT_EQ(size % kMiB, 0);
    EXPECT_GT(size, 0);
  }
}

TEST(LoadFilesTest, ALoadWithoutAFileGetsNone) {
  const TemporaryDirectory directory;
  const absl::StatusOr<LoadFiles::File> file =
      LoadFiles(directory.path(), "1-2").Prepare(LoadFile::kNone);
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(file->fd, -1);
}

TEST(LoadFilesTest, ADirectoryThatIsNotThereIsAnError) {
  const TemporaryDirectory directory;
  EXPECT_THAT(LoadFiles(directory.Path("none"), "1-2").Prepare(LoadFile::kWrite),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr(directory.Path("none"))));
}

TEST(LoadFilesTest, NamesFileSystemsThatAreNoDisk) {
  struct statfs facts;
  if (statfs("/dev/shm", &facts) != 0 || facts.f_type != TMPFS_MAGIC) {
    GTEST_SKIP() << "/dev/shm is no tmpfs here";
  }
  EXPECT_EQ(LoadFiles("/dev/shm", "1-2").NotADisk(), "tmpfs");
}

TEST(LoadFilesTest, ADirectoryWithoutADeviceHasNoDeviceBytes) {
  EXPECT_EQ(LoadFiles("/proc", "1-2").DeviceWrittenBytes(), std::nullopt);
  EXPECT_EQ(LoadFiles("/nowhere", "1-2").DeviceWrittenBytes(), std::nullopt);
}

}  // namespace
}  // namespace whylate
