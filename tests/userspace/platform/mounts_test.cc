#include "userspace/platform/mounts.h"

#include "gtest/gtest.h"
#include "tests/userspace/platform/fake_tree.h"

namespace whylate {
namespace {

TEST(MountsTest, ReadsALineWithAndWithoutOptionalFields) {
  const std::vector<Mount> mounts = ParseMounts(
      "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
      "36 27 98:0 /sub /mnt\\040one ro shared:1 master:2 - btrfs /dev/sdb1 rw,subvol=/x\n");
  ASSERT_EQ(mounts.size(), 2u);
  EXPECT_EQ(mounts[0].mount_point, "/");
  EXPECT_EQ(mounts[0].fs_type, "ext4");
  EXPECT_EQ(mounts[0].super_options, "rw,discard");
  EXPECT_EQ(mounts[1].mount_point, "/mnt one");
  EXPECT_EQ(mounts[1].options, "ro");
  EXPECT_EQ(mounts[1].source, "/dev/sdb1");
}

TEST(MountsTest, SkipsMalformedLines) {
  EXPECT_TRUE(ParseMounts("").empty());
  EXPECT_TRUE(ParseMounts("27 1 254:0 / / rw,relatime\n").empty());
  EXPECT_TRUE(ParseMounts("1 2 3 4 5 6 7 8 9 10\n").empty());  // no "-"
  EXPECT_TRUE(ParseMounts("1 2 3 4 5 6 7 8 9 - ext4\n").empty());
}

TEST(MountsTest, TheDeepestAndLastMountHoldsAPath) {
  const std::vector<Mount> mounts = ParseMounts(
      "1 0 0:1 / / rw - ext4 root rw\n"
      "2 1 0:2 / /home rw - xfs home rw\n"
      "3 1 0:3 / /home rw - tmpfs over rw\n");
  EXPECT_EQ(FindMount(mounts, "/home/me")->source, "over");
  EXPECT_EQ(FindMount(mounts, "/home")->source, "over");
  EXPECT_EQ(FindMount(mounts, "/homes")->source, "root");
  EXPECT_EQ(FindMount({}, "/home"), nullptr);
}

TEST(CgroupLayoutTest, V2Only) {
  FakeTree tree;
  tree.Write("cgroup.controllers", "cpuset cpu io memory pids\n");
  const CgroupLayout layout =
      ReadCgroupLayout(ParseMounts("1 0 0:1 / " + tree.root() + " rw - cgroup2 cgroup2 rw\n"));
  EXPECT_EQ(layout.ToString(), "v2, cpu controller on v2 at " + tree.root());
  EXPECT_EQ(layout.memory, (CgroupController{tree.root(), true}));
}

TEST(CgroupLayoutTest, V1Only) {
  const CgroupLayout layout =
      ReadCgroupLayout(ParseMounts("1 0 0:1 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
                                   "2 0 0:2 / /cg/memory rw - cgroup cgroup rw,memory\n"));
  EXPECT_EQ(layout.ToString(), "v1, cpu controller on v1 at /cg/cpu");
  EXPECT_EQ(layout.memory, (CgroupController{"/cg/memory", false}));
}

TEST(CgroupLayoutTest, HybridTellsWhereTheCpuControllerLives) {
  FakeTree tree;
  tree.Write("cgroup.controllers", "\n");
  const CgroupLayout layout =
      ReadCgroupLayout(ParseMounts("1 0 0:1 / /cg/cpuacct rw - cgroup cgroup rw,cpuacct\n"
                                   "2 0 0:2 / /cg/cpu rw - cgroup cgroup rw,cpu\n"
                                   "3 0 0:3 / " +
                                   tree.root() + " rw - cgroup2 cgroup2 rw\n"));
  EXPECT_EQ(layout.ToString(), "hybrid, cpu controller on v1 at /cg/cpu");
  EXPECT_FALSE(layout.memory.has_value());
}

TEST(CgroupLayoutTest, NoneAndNoController) {
  EXPECT_EQ(ReadCgroupLayout({}).ToString(), "none");
  EXPECT_EQ(
      ReadCgroupLayout(ParseMounts("1 0 0:1 / /nowhere rw - cgroup2 cgroup2 rw\n")).ToString(),
      "v2, no cpu controller");
}

}  // namespace
}  // namespace whylate
