#include "userspace/platform/cgroup.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temporary_directory.h"
#include "userspace/platform/files.h"

namespace whylate {
namespace {

using testing::HasSubstr;

constexpr char kV1Mounts[] =
    "30 25 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755\n"
    "31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "32 30 0:28 / /sys/fs/cgroup/memory rw shared:10 - cgroup cgroup rw,memory\n";
constexpr char kV2Mounts[] =
    "22 1 259:2 / / rw - ext4 /dev/nvme0n1p2 rw\n"
    "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

// Looks the site up on a machine that is drawn: its mounts, our own cgroups, and the
// cgroup.subtree_control of each directory that has one.
class MemoryCgroupSiteTest : public testing::Test {
 protected:
  absl::StatusOr<CgroupSite> Find(const std::string& mounts, const std::string& own_cgroups,
                                  CgroupController controller = CgroupController::kMemory) const {
    return FindCgroupSite(controller, mounts, own_cgroups,
                          [this](const std::string& path) -> absl::StatusOr<std::string> {
                            const auto found = files_.find(path);
                            if (found == files_.end()) return absl::NotFoundError(path);
                            return found->second;
                          });
  }
  static void ExpectSite(const absl::StatusOr<CgroupSite>& site, const std::string& parent,
                         bool version2) {
    ASSERT_THAT(site, IsOk());
    EXPECT_EQ(site->parent, parent);
    EXPECT_EQ(site->version2, version2);
  }
  static void ExpectNone(const absl::StatusOr<CgroupSite>& site) {
    EXPECT_THAT(site, StatusIs(absl::StatusCode::kNotFound, HasSubstr("memory controller")));
  }
  void HandDown(const std::string& directory, const std::string& controllers) {
    files_[directory + "/cgroup.subtree_control"] = controllers + "\n";
  }

 private:
  std::map<std::string, std::string> files_;
};

TEST_F(MemoryCgroupSiteTest, V1IsBelowOurOwnGroup) {
  ExpectSite(Find(kV1Mounts, "5:cpu,cpuacct:/a\n4:memory:/user.slice/user-1000\n0::/\n"),
             "/sys/fs/cgroup/memory/user.slice/user-1000", false);
}

TEST_F(MemoryCgroupSiteTest, V1InTheRootGroup) {
  ExpectSite(Find(kV1Mounts, "4:memory:/\n"), "/sys/fs/cgroup/memory", false);
}

TEST_F(MemoryCgroupSiteTest, V1ControllersMayShareAMount) {
  ExpectSite(Find("32 30 0:28 / /cg/all rw - cgroup cgroup rw,cpu,memory,pids\n",
                  "4:cpu,memory,pids:/x\n"),
             "/cg/all/x", false);
}

TEST_F(MemoryCgroupSiteTest, V1PathsMayHoldColons) {
  ExpectSite(Find(kV1Mounts, "4:memory:/a:b\n"), "/sys/fs/cgroup/memory/a:b", false);
}

// "memory" in another controller's name, a mount option or a path is not the controller.
TEST_F(MemoryCgroupSiteTest, OnlyTheWholeWordIsTheController) {
  ExpectNone(Find("32 30 0:28 / /cg/memory rw - cgroup cgroup rw,memory_recursiveprot\n",
                  "4:name=memory:/memory\n"));
}

TEST_F(MemoryCgroupSiteTest, V2SessionHasAnAncestorThatHandsMemoryDown) {
  HandDown("/sys/fs/cgroup", "cpu memory pids");
  HandDown("/sys/fs/cgroup/user.slice", "memory pids");
  HandDown("/sys/fs/cgroup/user.slice/user-0.slice", "pids");
  HandDown("/sys/fs/cgroup/user.slice/user-0.slice/session-1.scope", "");
  ExpectSite(Find(kV2Mounts, "0::/user.slice/user-0.slice/session-1.scope\n"),
             "/sys/fs/cgroup/user.slice", true);
}

TEST_F(MemoryCgroupSiteTest, V2OwnGroupThatHandsMemoryDownIsNearest) {
  HandDown("/sys/fs/cgroup", "memory");
  HandDown("/sys/fs/cgroup/mine", "memory");
  ExpectSite(Find(kV2Mounts, "0::/mine\n"), "/sys/fs/cgroup/mine", true);
}

TEST_F(MemoryCgroupSiteTest, V2Root) {
  HandDown("/sys/fs/cgroup", "memory");
  ExpectSite(Find(kV2Mounts, "0::/\n"), "/sys/fs/cgroup", true);
}

TEST_F(MemoryCgroupSiteTest, V2NeverLooksAboveItsMount) {
  HandDown("/sys/fs", "memory");
  HandDown("", "memory");
  ExpectNone(Find(kV2Mounts, "0::/a/b\n"));
}

TEST_F(MemoryCgroupSiteTest, V2WithoutTheMemoryController) {
  HandDown("/sys/fs/cgroup", "cpu pids memoryless");
  ExpectNone(Find(kV2Mounts, "0::/user.slice\n"));
}

TEST_F(MemoryCgroupSiteTest, HybridUsesV1WhereMemoryIsThere) {
  const std::string mounts =
      std::string("41 30 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n") + kV1Mounts;
  ExpectSite(Find(mounts, "4:memory:/x\n0::/x\n"), "/sys/fs/cgroup/memory/x", false);
}

// The container sees a part of the hierarchy at the mount, and its own path from the real root.
TEST_F(MemoryCgroupSiteTest, ContainerWhoseMountShowsItsOwnGroup) {
  const std::string mounts =
      "32 30 0:28 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
  ExpectSite(Find(mounts, "4:memory:/docker/abc\n"), "/sys/fs/cgroup/memory", false);
  ExpectSite(Find(mounts, "4:memory:/docker/abc/job\n"), "/sys/fs/cgroup/memory/job", false);
}

TEST_F(MemoryCgroupSiteTest, ContainerUnderV2) {
  HandDown("/sys/fs/cgroup", "memory");
  ExpectSite(Find("30 25 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw\n",
                  "0::/docker/abc/init\n"),
             "/sys/fs/cgroup", true);
}

TEST_F(MemoryCgroupSiteTest, AGroupThatOnlyBeginsLikeTheMountsRootIsNotBelowIt) {
  ExpectNone(Find("32 30 0:28 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
                  "4:memory:/docker/abcdef\n"));
}

TEST_F(MemoryCgroupSiteTest, NoCgroupIsMounted) {
  ExpectNone(Find("22 1 259:2 / / rw - ext4 /dev/nvme0n1p2 rw\n", "0::/\n"));
  ExpectNone(Find("", ""));
}

TEST_F(MemoryCgroupSiteTest, WeAreInNoMemoryGroup) {
  ExpectNone(Find(kV1Mounts, "5:cpu,cpuacct:/a\n"));
}

TEST_F(MemoryCgroupSiteTest, MalformedLinesAreSkipped) {
  const std::string mounts = std::string("garbage\n1 2 3 - cgroup\n - cgroup2 x y\n") + kV1Mounts;
  ExpectSite(Find(mounts, "4\n:\n4:memory:/x\n"), "/sys/fs/cgroup/memory/x", false);
}

TEST_F(MemoryCgroupSiteTest, TheCpuControllerIsFoundAlike) {
  ExpectSite(Find(kV1Mounts, "5:cpu,cpuacct:/a\n", CgroupController::kCpu),
             "/sys/fs/cgroup/cpu,cpuacct/a", false);
  HandDown("/sys/fs/cgroup", "memory cpu");
  HandDown("/sys/fs/cgroup/mine", "memory");
  ExpectSite(Find(kV2Mounts, "0::/mine\n", CgroupController::kCpu), "/sys/fs/cgroup", true);
}

// Nobody has to hand that down.
TEST_F(MemoryCgroupSiteTest, EveryV2GroupCanBeFrozen) {
  ExpectSite(Find(kV2Mounts, "0::/mine\n", CgroupController::kFreezer), "/sys/fs/cgroup/mine",
             true);
  EXPECT_THAT(Find(kV1Mounts, "0::/mine\n", CgroupController::kFreezer),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("freezer controller")));
}

// Plain directories and files stand for a cgroup, whose files are there before.
class QuotaCgroupTest : public testing::Test {
 protected:
  static constexpr char kName[] = "whylate-12-34";
  QuotaCgroupTest() { std::filesystem::create_directory(directory_.Path(kName)); }
  std::string Path(const std::string& file) const { return std::string(kName) + "/" + file; }
  absl::StatusOr<QuotaCgroup> Create(bool version2) const {
    return QuotaCgroup::Create({directory_.path(), version2}, "12-34", 10'000'000, 50'000'000);
  }
  TemporaryDirectory directory_;
};

TEST_F(QuotaCgroupTest, OfV1) {
  for (const char* file : {"cpu.cfs_period_us", "cpu.cfs_quota_us"})
    directory_.Write(Path(file), "");
  directory_.Write(Path("cpu.stat"), "nr_periods 3\nnr_throttled 2\nthrottled_time 123456\n");
  const absl::StatusOr<QuotaCgroup> cgroup = Create(false);
  ASSERT_THAT(cgroup, IsOk());
  EXPECT_THAT(ReadFile(directory_.Path(Path("cpu.cfs_period_us"))), IsOkAndHolds("50000"));
  EXPECT_THAT(ReadFile(directory_.Path(Path("cpu.cfs_quota_us"))), IsOkAndHolds("10000"));
  EXPECT_THAT(cgroup->ThrottledNs(), IsOkAndHolds(123456));
}

TEST_F(QuotaCgroupTest, OfV2) {
  directory_.Write(Path("cpu.max"), "");
  directory_.Write(Path("cpu.stat"), "usage_usec 7\nthrottled_usec 123\nnr_bursts 0\n");
  const absl::StatusOr<QuotaCgroup> cgroup = Create(true);
  ASSERT_THAT(cgroup, IsOk());
  EXPECT_THAT(ReadFile(directory_.Path(Path("cpu.max"))), IsOkAndHolds("10000 50000"));
  EXPECT_THAT(cgroup->ThrottledNs(), IsOkAndHolds(123000));
}

TEST_F(QuotaCgroupTest, WithoutAnAccountOfItsTime) {
  directory_.Write(Path("cpu.max"), "");
  directory_.Write(Path("cpu.stat"), "usage_usec 7\nthrottled_usec x\n");
  const absl::StatusOr<QuotaCgroup> cgroup = Create(true);
  ASSERT_THAT(cgroup, IsOk());
  EXPECT_THAT(cgroup->ThrottledNs(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("throttled time")));
}

TEST(FreezerCgroupTest, SaysWhetherItIsFrozen) {
  for (const bool version2 : {false, true}) {
    const TemporaryDirectory directory;
    std::filesystem::create_directory(directory.Path("whylate-12-34"));
    const std::string control = version2 ? "cgroup.freeze" : "freezer.state";
    const std::string state = version2 ? "cgroup.events" : "freezer.state";
    directory.Write("whylate-12-34/" + control, "");
    const absl::StatusOr<FreezerCgroup> cgroup =
        FreezerCgroup::Create({directory.path(), version2}, "12-34");
    ASSERT_THAT(cgroup, IsOk());
    EXPECT_THAT(cgroup->SetFrozen(true), IsOk());
    EXPECT_THAT(ReadFile(directory.Path("whylate-12-34/" + control)),
                IsOkAndHolds(version2 ? "1" : "FROZEN"));
    directory.Write("whylate-12-34/" + state, version2 ? "populated 1\nfrozen 1\n" : "FROZEN\n");
    EXPECT_TRUE(cgroup->IsFrozen());
    directory.Write("whylate-12-34/" + state, version2 ? "populated 1\nfrozen 0\n" : "FREEZING\n");
    EXPECT_FALSE(cgroup->IsFrozen());
  }
}

TEST(MemoryCgroupTest, IsNamedForItsRun) {
  EXPECT_EQ(MemoryCgroup::PathOf({"/sys/fs/cgroup/user.slice", true}, "12-34"),
            "/sys/fs/cgroup/user.slice/whylate-12-34");
}

TEST(MemoryCgroupTest, ASiteThatIsNotThereIsAnError) {
  const TemporaryDirectory directory;
  EXPECT_THAT(MemoryCgroup::Create({directory.Path("none"), false}, "12-34", 1 << 20),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("whylate-12-34")));
}

// A plain directory stands for a cgroup without processes.
TEST(RemoveCgroupTest, RemovesAnEmptyGroup) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.Path("whylate-1-2"));
  RemoveCgroup(directory.Path("whylate-1-2"), 0);
  EXPECT_EQ(directory.EntryCount(), 0);
}

TEST(RemoveCgroupTest, WhatIsNotThereIsNoTrouble) {
  const TemporaryDirectory directory;
  RemoveCgroup(directory.Path("whylate-1-2"), int64_t{1} << 60);
  EXPECT_EQ(directory.EntryCount(), 0);
}

TEST(RemoveCgroupTest, WhatIsNoCgroupStays) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory.Path("whylate-1-2/inner"));
  RemoveCgroup(directory.Path("whylate-1-2"), int64_t{1} << 60);
  EXPECT_TRUE(directory.Has("whylate-1-2/inner"));
}

}  // namespace
}  // namespace whylate
