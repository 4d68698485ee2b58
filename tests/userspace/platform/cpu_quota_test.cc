#include "userspace/platform/cpu_quota.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/userspace/platform/fake_tree.h"

namespace whylate {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(CpuQuotaTest, AQuotaLimitsItsGroupAndAllBelowIt) {
  FakeTree tree;
  tree.Write("cgroup.threads", "1\n2\n");
  tree.Write("free/cpu.max", "max 100000\n");
  tree.Write("free/cgroup.threads", "3\n");
  tree.Write("limited/cpu.max", "50000 100000\n");
  tree.Write("limited/cgroup.threads", "4\n5\n");
  tree.Write("limited/below/cpu.max", "max 100000\n");
  tree.Write("limited/below/cgroup.threads", "6\n");
  EXPECT_THAT(TasksUnderCpuQuota({tree.root(), true}),
              UnorderedElementsAre(Tid{4}, Tid{5}, Tid{6}));
}

TEST(CpuQuotaTest, TheSameOfTheOldHierarchy) {
  FakeTree tree;
  tree.Write("cpu.cfs_quota_us", "-1\n");
  tree.Write("tasks", "1\n");
  tree.Write("limited/cpu.cfs_quota_us", "10000\n");
  tree.Write("limited/tasks", "7\n");
  EXPECT_THAT(TasksUnderCpuQuota({tree.root(), false}), UnorderedElementsAre(Tid{7}));
}

TEST(CpuQuotaTest, WhatIsNotThereLimitsNobody) {
  EXPECT_THAT(TasksUnderCpuQuota({"/nonexistent", true}), IsEmpty());
}

TEST(CpuQuotaTest, TheHierarchyOfTheCpuController) {
  const char kCgroups[] =
      "#subsys_name\thierarchy\tnum_"
      "cgroups\tenabled\ncpuset\t3\t1\t1\ncpu\t1\t1\t1\ncpuacct\t2\t1\t1\n";
  EXPECT_EQ(CpuHierarchy(kCgroups), 1);
  EXPECT_EQ(CpuHierarchy("cpuset\t3\t1\t1\n"), std::nullopt);
  EXPECT_EQ(CpuHierarchy(""), std::nullopt);
}

}  // namespace
}  // namespace whylate
