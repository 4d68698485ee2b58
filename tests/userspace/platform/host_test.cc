#include "userspace/platform/host.h"

#include <set>

#include "gtest/gtest.h"
#include "tests/userspace/platform/fake_tree.h"
#include "userspace/platform/virtualization.h"

namespace whylate {
namespace {

std::optional<std::string> Fact(const FakeTree& tree, const std::string& key) {
  return FindFact(ReadHostFacts(tree.paths(), tree.root()), key);
}

TEST(HostTest, AnEmptyTreeIsUnknownNotZero) {
  FakeTree tree;
  HostPaths paths = tree.paths();
  for (const HostFact& fact : ReadHostFacts(paths, tree.root())) {
    if (fact.key == "machine") continue;  // uname(2) still tells
    EXPECT_EQ(fact.value, std::nullopt) << fact.key;
  }
}

TEST(HostTest, KeysAreUniqueAndComplete) {
  FakeTree tree;
  std::set<std::string> keys;
  for (const HostFact& fact : ReadHostFacts(tree.paths(), tree.root())) {
    EXPECT_TRUE(keys.insert(fact.key).second) << fact.key;
  }
  EXPECT_EQ(keys, (std::set<std::string>{"kernel",
                                         "kernel_version",
                                         "machine",
                                         "config_hash",
                                         "hz",
                                         "preempt",
                                         "command_line",
                                         "cpu_model",
                                         "cpus_online",
                                         "cpus",
                                         "ram_bytes",
                                         "swap_bytes",
                                         "workdir_file_system",
                                         "workdir_device",
                                         "governor",
                                         "clocksource",
                                         "sched_features",
                                         "base_slice_ns",
                                         "autogroup",
                                         "mitigations",
                                         "sched_ext_ops",
                                         "virtualization",
                                         "scheduler_switches",
                                         "distribution",
                                         "cgroup_version",
                                         "rt_runtime_us"}));
}

TEST(HostTest, KernelFacts) {
  FakeTree tree;
  tree.Write("proc/sys/kernel/osrelease", "6.12.1-test\n");
  tree.Write("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Mon\n");
  tree.Write("proc/sys/kernel/arch", "aarch64\n");
  tree.Write("proc/cmdline", "quiet sched_vcpu_pack=15 preempt=full\n");
  tree.Write("boot/config-6.12.1-test", "CONFIG_HZ=300\n");
  EXPECT_EQ(Fact(tree, "kernel"), "6.12.1-test");
  EXPECT_EQ(Fact(tree, "kernel_version"), "#1 SMP PREEMPT_DYNAMIC Mon");
  EXPECT_EQ(Fact(tree, "machine"), "aarch64");
  EXPECT_EQ(Fact(tree, "hz"), "300");
  EXPECT_EQ(Fact(tree, "config_hash")->size(), 16u);
  EXPECT_EQ(Fact(tree, "command_line"), "quiet sched_vcpu_pack=15 preempt=full");
  EXPECT_EQ(Fact(tree, "preempt"), "full");
  EXPECT_EQ(Fact(tree, "scheduler_switches"), "sched_vcpu_pack=15");
}

TEST(HostTest, PreemptModeFromTheKernelLog) {
  FakeTree tree;
  tree.Write("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Mon\n");
  tree.Write("kmsg", "6,200,241789,-;Dynamic Preempt: none\n");
  EXPECT_EQ(Fact(tree, "preempt"), "none");
}

TEST(HostTest, NoSchedulerSwitchesIsNone) {
  FakeTree tree;
  tree.Write("proc/cmdline", "quiet\n");
  EXPECT_EQ(Fact(tree, "scheduler_switches"), "none");
}

TEST(HostTest, HardwareFacts) {
  FakeTree tree;
  tree.Write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some: CPU\nflags\t\t: fpu\n");
  tree.Write("proc/meminfo", "MemTotal:       1024 kB\nSwapTotal:         0 kB\n");
  tree.Write("sys/devices/system/cpu/online", "0-2,5\n");
  EXPECT_EQ(Fact(tree, "cpu_model"), "Some: CPU");
  EXPECT_EQ(Fact(tree, "cpus_online"), "0-2,5");
  EXPECT_EQ(Fact(tree, "cpus"), "4");
  EXPECT_EQ(Fact(tree, "ram_bytes"), "1048576");
  EXPECT_EQ(Fact(tree, "swap_bytes"), "0");
  EXPECT_EQ(Fact(tree, "virtualization"), "none");
}

TEST(HostTest, ArmCpuModelFromPartAndBoard) {
  FakeTree tree;
  tree.Write("proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
  EXPECT_EQ(Fact(tree, "cpu_model"), "implementer 0x41 part 0xd0c");
  tree.Write("proc/device-tree/model", std::string("Board 4\0", 8));
  EXPECT_EQ(Fact(tree, "cpu_model"), "Board 4, implementer 0x41 part 0xd0c");
}

TEST(HostTest, VirtualizationByFlagAndProduct) {
  FakeTree tree;
  tree.Write("proc/cpuinfo", "flags\t\t: fpu hypervisor sse\n");
  EXPECT_EQ(Fact(tree, "virtualization"), "KVM");
  tree.Write("sys/class/dmi/id/sys_vendor", "QEMU\n");
  tree.Write("sys/class/dmi/id/product_name", "Standard PC\n");
  EXPECT_EQ(Fact(tree, "virtualization"), "KVM (QEMU Standard PC)");
}

TEST(HostTest, VirtualizationOfOtherKinds) {
  FakeTree tree;
  const auto of = [&](const char* cpuinfo, const std::optional<std::string>& signature) {
    return Virtualization(cpuinfo, tree.Path("proc"), tree.Path("sys"), signature);
  };
  EXPECT_EQ(of("flags : hypervisor\n", "Microsoft Hv"), "Hyper-V");
  EXPECT_EQ(of("flags : hypervisor\n", "NewHv"), "NewHv");
  EXPECT_EQ(of("flags : hypervisor\n", std::nullopt), "unnamed hypervisor");
  EXPECT_EQ(of("flags : fpu\n", "KVMKVMKVM"), "none");  // without the flag it means nothing
  EXPECT_EQ(of("CPU part : 0xd0c\n", std::nullopt), std::nullopt);
  tree.Write("proc/device-tree/hypervisor/compatible", std::string("linux,kvm\0", 10));
  EXPECT_EQ(of("CPU part : 0xd0c\n", std::nullopt), "linux,kvm");
  tree.Write("sys/hypervisor/type", "xen\n");
  EXPECT_EQ(of("flags : fpu\n", std::nullopt), "xen");
}

TEST(HostTest, WorkdirOnItsMountEvenBeforeItExists) {
  FakeTree tree;
  tree.Write("proc/self/mountinfo", "1 0 0:1 / / rw - overlay overlay rw\n2 1 0:2 / " +
                                        tree.root() + " rw - ext4 /dev/sda1 rw\n");
  const auto facts = ReadHostFacts(tree.paths(), tree.Path("not/yet/there"));
  EXPECT_EQ(FindFact(facts, "workdir_file_system"), "ext4");
  EXPECT_EQ(FindFact(facts, "workdir_device"), "/dev/sda1");
  EXPECT_EQ(FindFact(ReadHostFacts(tree.paths(), "/"), "workdir_file_system"), "overlay");
}

TEST(HostTest, WorkdirThroughASymbolicLink) {
  FakeTree tree;
  tree.MakeDirectory("disk");
  std::filesystem::create_symlink(tree.Path("disk"), tree.Path("link"));
  tree.Write("proc/self/mountinfo", "2 1 0:2 / " + tree.Path("disk") + " rw - xfs /dev/sdb rw\n");
  EXPECT_EQ(FindFact(ReadHostFacts(tree.paths(), tree.Path("link")), "workdir_device"), "/dev/sdb");
}

TEST(HostTest, DistinctGovernors) {
  FakeTree tree;
  tree.MakeDirectory("sys/devices/system/cpu/cpufreq");
  EXPECT_EQ(Fact(tree, "governor"), std::nullopt);
  tree.Write("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "schedutil\n");
  tree.Write("sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "performance\n");
  tree.Write("sys/devices/system/cpu/cpufreq/policy2/scaling_governor", "schedutil\n");
  EXPECT_EQ(Fact(tree, "governor"), "performance,schedutil");
}

TEST(HostTest, SchedulerFacts) {
  FakeTree tree;
  tree.Write("sys/kernel/debug/sched/features", "PLACE_LAG NO_HRTICK \n");
  tree.Write("sys/kernel/debug/sched/base_slice_ns", "2800000\n");
  tree.Write("proc/sys/kernel/sched_autogroup_enabled", "1\n");
  tree.Write("proc/sys/kernel/sched_rt_runtime_us", "-1\n");
  EXPECT_EQ(Fact(tree, "sched_features"), "PLACE_LAG NO_HRTICK");
  EXPECT_EQ(Fact(tree, "base_slice_ns"), "2800000");
  EXPECT_EQ(Fact(tree, "autogroup"), "on");
  EXPECT_EQ(Fact(tree, "rt_runtime_us"), "-1");
  tree.Write("proc/sys/kernel/sched_autogroup_enabled", "0\n");
  EXPECT_EQ(Fact(tree, "autogroup"), "off");
}

TEST(HostTest, SchedExtUnsupportedIdleAndLoaded) {
  FakeTree tree;
  EXPECT_EQ(Fact(tree, "sched_ext_ops"), std::nullopt);
  tree.Write("sys/kernel/sched_ext/state", "disabled\n");
  EXPECT_EQ(Fact(tree, "sched_ext_ops"), "none");
  tree.Write("sys/kernel/sched_ext/root/ops", "lavd_1.0\n");
  EXPECT_EQ(Fact(tree, "sched_ext_ops"), "lavd_1.0");
}

TEST(HostTest, MitigationsOfWhatAffectsThisCpu) {
  FakeTree tree;
  tree.Write("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n");
  EXPECT_EQ(Fact(tree, "mitigations"), "none needed");
  tree.Write("sys/devices/system/cpu/vulnerabilities/srso", "Vulnerable\n");
  tree.Write("sys/devices/system/cpu/vulnerabilities/mds", "Mitigation: a; b\n");
  EXPECT_EQ(Fact(tree, "mitigations"), "mds: Mitigation: a; b | srso: Vulnerable");
}

TEST(HostTest, DistributionInEachWayOfQuoting) {
  FakeTree tree;
  tree.Write("etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian 12\"\n");
  EXPECT_EQ(Fact(tree, "distribution"), "Debian 12");
  tree.Write("etc/os-release", "PRETTY_NAME='Arch'\n");
  EXPECT_EQ(Fact(tree, "distribution"), "Arch");
  tree.Write("etc/os-release", "PRETTY_NAME=Void\n");
  EXPECT_EQ(Fact(tree, "distribution"), "Void");
  tree.Write("etc/os-release", "PRETTY_NAME=\"\n");
  EXPECT_EQ(Fact(tree, "distribution"), "\"");
}

TEST(HostTest, CgroupVersion) {
  FakeTree tree;
  tree.Write("proc/self/mountinfo", "1 0 0:1 / /cg/cpu rw - cgroup cgroup rw,cpu\n");
  EXPECT_EQ(Fact(tree, "cgroup_version"), "v1, cpu controller on v1 at /cg/cpu");
}

TEST(HostTest, ThisMachineHasAKernelAndCpus) {
  const auto facts = ReadHostFacts(HostPaths(), ".");
  EXPECT_TRUE(FindFact(facts, "kernel").has_value());
  EXPECT_TRUE(FindFact(facts, "machine").has_value());
  EXPECT_TRUE(FindFact(facts, "ram_bytes").has_value());
}

}  // namespace
}  // namespace whylate
