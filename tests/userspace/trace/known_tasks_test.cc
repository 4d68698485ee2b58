#include "userspace/trace/known_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"

namespace whylate {
namespace {

// As the kernel writes it: 52 fields, of which the 9th is the flags and the 41st the policy.
std::string Stat(const std::string& name, const std::string& flags, const std::string& policy) {
  return absl::StrCat(
      "42 (", name, ") S 1 42 42 0 -1 ", flags,
      " 0 0 0 0 0 0 0 0 20 0 1 0 33 0 0 18446744073709551615 0 0 0 0 0 0 0 2147483647"
      " 0 0 0 0 17 1 0 ",
      policy, " 0 0 0 0 0 0 0 0 0 0 0\n");
}

TEST(KnownTasksTest, AUserTask) {
  const auto task = ParseTaskStat(Tgid{40}, Stat("a) b (c", "4194560", "5"));
  ASSERT_TRUE(task.has_value());
  EXPECT_EQ(task->tid, Tid{42});
  EXPECT_EQ(task->tgid, Tgid{40});
  EXPECT_EQ(task->name, "a) b (c");
  EXPECT_FALSE(task->is_kernel_thread);
  EXPECT_EQ(task->policy, SCHED_IDLE);
}

TEST(KnownTasksTest, AKernelWorkerHasItsOwnNameAlone) {
  const auto name = [](const char* shown, const char* flags) {
    return ParseTaskStat(Tgid{42}, Stat(shown, flags, "0"))->name;
  };
  EXPECT_EQ(name("kworker/u8:3-flush-254:0", "69238880"), "kworker/u8:3");
  EXPECT_EQ(name("kworker/0:1H+kblockd", "69238880"), "kworker/0:1H");
  EXPECT_EQ(name("kworker/R-rcu_gp", "69238880"), "kworker/R-rcu_g");
  EXPECT_EQ(name("jbd2/vda-8", "2129984"), "jbd2/vda-8");
  EXPECT_EQ(name("kworker/x-y", "0"), "kworker/x-y");  // no kernel thread
}

TEST(KnownTasksTest, WhatIsNoStatIsNone) {
  for (const char* text : {"", "42", "42 (x", "42 (x) S 1", ")(", "x (y) S 1 2 3"}) {
    EXPECT_EQ(ParseTaskStat(Tgid{42}, text), std::nullopt) << text;
  }
}

TEST(KnownTasksTest, ThisTestIsAmongTheTasks) {
  const std::vector<KnownTask> tasks = ReadKnownTasks("/proc");
  EXPECT_TRUE(std::any_of(tasks.begin(), tasks.end(), [](const KnownTask& task) {
    return task.tid.value == getpid() && task.tgid.value == getpid() && !task.is_kernel_thread;
  }));
}

}  // namespace
}  // namespace whylate
