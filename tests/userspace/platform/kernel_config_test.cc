#include "userspace/platform/kernel_config.h"

#include <zlib.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/userspace/platform/fake_tree.h"

namespace whylate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void WriteGzip(const std::string& path, const std::string& text) {
  const gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

TEST(KernelConfigTest, PrefersTheRunningKernelsOwn) {
  FakeTree tree;
  tree.MakeDirectory("proc");
  tree.Write("boot/config-6.1", "CONFIG_HZ=1000\n");
  EXPECT_EQ(ReadKernelConfig(tree.Path("proc"), tree.Path("boot"), "6.1"), "CONFIG_HZ=1000\n");
  WriteGzip(tree.Path("proc/config.gz"), "CONFIG_HZ=250\n");
  EXPECT_EQ(ReadKernelConfig(tree.Path("proc"), tree.Path("boot"), "6.1"), "CONFIG_HZ=250\n");
}

TEST(KernelConfigTest, UnknownWithoutAFileOfThisRelease) {
  FakeTree tree;
  tree.Write("boot/config-6.1", "CONFIG_HZ=1000\n");
  EXPECT_EQ(ReadKernelConfig(tree.Path("proc"), tree.Path("boot"), "6.2"), std::nullopt);
}

TEST(KernelConfigTest, ACompressedFileCutShortIsUnknown) {
  FakeTree tree;
  tree.MakeDirectory("proc");
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "CONFIG_" + std::to_string(i * 7919) + "=y\n";
  WriteGzip(tree.Path("proc/config.gz"), text);
  std::filesystem::resize_file(tree.Path("proc/config.gz"), 4000);
  EXPECT_EQ(ReadKernelConfig(tree.Path("proc"), tree.Path("boot"), "6.1"), std::nullopt);
}

TEST(KernelConfigTest, ValuesAreThoseOfTheWholeName) {
  constexpr char kConfig[] = "# CONFIG_PREEMPT is not set\nCONFIG_HZ_250=y\nCONFIG_HZ=250\n";
  EXPECT_EQ(KernelConfigValue(kConfig, "CONFIG_HZ"), "250");
  EXPECT_EQ(KernelConfigValue(kConfig, "CONFIG_PREEMPT"), std::nullopt);
}

TEST(KernelConfigTest, HashIsFnv1a) {
  EXPECT_EQ(KernelConfigHash(""), "cbf29ce484222325");
  EXPECT_EQ(KernelConfigHash("a"), "af63dc4c8601ec8c");  // published test vector
  EXPECT_NE(KernelConfigHash("CONFIG_HZ=250"), KernelConfigHash("CONFIG_HZ=1000"));
}

constexpr char kDynamic[] = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.1 (2023-01-01)";

TEST(PreemptModeTest, DynamicFollowsDebugfsThenLogThenCommandLineThenConfig) {
  PreemptSources sources;
  sources.version = kDynamic;
  EXPECT_EQ(PreemptMode(sources), std::nullopt);
  sources.config = "CONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_DYNAMIC=y\n";
  EXPECT_EQ(PreemptMode(sources), "voluntary");
  sources.command_line = "quiet preempt=lazy";
  EXPECT_EQ(PreemptMode(sources), "lazy");
  sources.kernel_log = "6,1,0,-;Dynamic Preempt: voluntary\n6,9,0,-;Dynamic Preempt: none\n";
  EXPECT_EQ(PreemptMode(sources), "none");
  sources.debugfs = "none voluntary (full) lazy ";
  EXPECT_EQ(PreemptMode(sources), "full");
}

TEST(PreemptModeTest, ARealTimeKernelIsOne) {
  PreemptSources sources;
  sources.version = "#1 SMP PREEMPT_RT Mon";
  sources.debugfs = "full (lazy)";
  EXPECT_EQ(PreemptMode(sources), "rt");
}

TEST(PreemptModeTest, StaticFollowsTheConfig) {
  PreemptSources sources;
  sources.version = "#1 SMP PREEMPT Mon";
  EXPECT_EQ(PreemptMode(sources), "full or lazy");
  sources.config = "CONFIG_PREEMPT_BUILD=y\nCONFIG_PREEMPT_LAZY=y\n";
  EXPECT_EQ(PreemptMode(sources), "lazy");
  sources.config = "CONFIG_PREEMPT_BUILD=y\nCONFIG_PREEMPT=y\n";
  EXPECT_EQ(PreemptMode(sources), "full");
  sources.version = "#1 SMP Mon";
  sources.config = std::nullopt;
  EXPECT_EQ(PreemptMode(sources), "none or voluntary");
}

TEST(PreemptModeTest, NonsenseIsUnknown) {
  PreemptSources sources;
  EXPECT_EQ(PreemptMode(sources), std::nullopt);
  sources.version = kDynamic;
  sources.debugfs = ")full(";
  sources.command_line = "preempt=sometimes";
  sources.kernel_log = "Dynamic Preempt: perhaps\n";
  EXPECT_EQ(PreemptMode(sources), std::nullopt);
}

TEST(KernelParametersTest, EndAtTheDoubleDashAndKeepQuotes) {
  EXPECT_THAT(KernelParameters("quiet  dyndbg=\"file a +p\" x -- sched_y=1\n"),
              ElementsAre("quiet", "dyndbg=\"file a +p\"", "x"));
  EXPECT_THAT(KernelParameters(""), IsEmpty());
  EXPECT_THAT(KernelParameters("--"), IsEmpty());
}

TEST(SchedulerSwitchesTest, ListsOnlyWhatMainlineDoesNotDocument) {
  EXPECT_THAT(OutOfTreeSchedulerSwitches(
                  "sched_verbose sched-thermal-decay-shift=2 schedstats=enable sched_proxy_exec=0 "
                  "rcu_nocbs=1 noautogroup sched_vcpu_pack=15 sched_bore"),
              ElementsAre("sched_vcpu_pack=15", "sched_bore"));
  EXPECT_THAT(OutOfTreeSchedulerSwitches("init=/bin/sh -- sched_vcpu_pack=15"), IsEmpty());
}

TEST(KernelLogTest, ReadsAFileToItsEnd) {
  FakeTree tree;
  EXPECT_EQ(ReadKernelLog(tree.Path("kmsg")), std::nullopt);
  tree.Write("kmsg", std::string(20000, 'x') + "end");
  const std::optional<std::string> log = ReadKernelLog(tree.Path("kmsg"));
  ASSERT_TRUE(log.has_value());
  EXPECT_EQ(log->size(), 20003u);
}

}  // namespace
}  // namespace whylate
