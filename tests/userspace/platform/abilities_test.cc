#include "userspace/platform/abilities.h"

#include <sched.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/userspace/platform/fake_tree.h"

namespace whylate {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A machine where everything is as it should be; each test spoils one thing.
class AbilitiesTest : public testing::Test {
 protected:
  AbilitiesTest() {
    tree_.Write("proc/self/stat", "1 (whylate) R\n");
    tree_.Write("proc/self/status", "CapEff:\t000001ffffffffff\n");
    tree_.Write("proc/self/limits",
                "Limit                     Soft Limit           Hard Limit           Units     \n"
                "Max locked memory         8388608              8388608              bytes     \n"
                "Max realtime priority     95                   95                   \n");
    tree_.Write("proc/sys/kernel/sched_rt_runtime_us", "950000\n");
    tree_.Write("proc/sys/kernel/sched_rt_period_us", "1000000\n");
    tree_.Write("proc/stat", "cpu  100 0 100 800 0 0 0 1 0 0\ncpu0 1\n");
    tree_.Write("sys/kernel/btf/vmlinux", "BTF");
    SetPidNamespace("pid:[4026531836]");
    tree_.MakeDirectory("tracing/instances");
    tree_.Write("cgroup/cgroup.controllers", "cpu memory\n");
    tree_.Write("cgroup/cgroup.subtree_control", "cpu memory\n");
    WriteMounts("1 0 0:1 / " + tree_.Path("tracing") + " rw - tracefs tracefs rw\n");
    host_ = {
        {"kernel", "6.18.0"},      {"clocksource", "tsc"},          {"governor", "performance"},
        {"virtualization", "KVM"}, {"workdir_file_system", "ext4"}, {"workdir_device", "/dev/vda"},
        {"sched_ext_ops", "none"}};
    probes_.system_name = [] { return "Linux"; };
    probes_.monotonic_clock = [] { return absl::OkStatus(); };
    probes_.resolution_ns = [] { return std::optional<int64_t>(1); };
    probes_.load_bpf = [] { return absl::OkStatus(); };
    probes_.real_time = [] { return absl::OkStatus(); };
    probes_.mount_tracefs = [] { return absl::OkStatus(); };
    probes_.steal_clock = [] { return std::optional<bool>(); };
    probes_.wait = [] {};
  }

  // The cgroup mount and `others`.
  void WriteMounts(const std::string& others) {
    tree_.Write("proc/self/mountinfo",
                "9 0 0:9 / " + tree_.Path("cgroup") + " rw - cgroup2 cgroup2 rw\n" + others);
  }
  void SetPidNamespace(const std::string& name) {
    tree_.MakeDirectory("proc/self/ns");
    std::filesystem::remove(tree_.Path("proc/self/ns/pid"));
    std::filesystem::create_symlink(name, tree_.Path("proc/self/ns/pid"));
  }
  void SetFact(const std::string& key, const std::optional<std::string>& value) {
    for (HostFact& fact : host_) {
      if (fact.key == key) fact.value = value;
    }
  }
  std::vector<Ability> CheckAll() {
    return CheckAbilities(tree_.paths(), host_, tree_.root(), probes_);
  }
  Ability Check(const std::string& name) {
    for (const Ability& ability : CheckAll()) {
      if (ability.name == name) return ability;
    }
    ADD_FAILURE() << "no ability " << name;
    return Ability();
  }

  FakeTree tree_;
  std::vector<HostFact> host_;
  AbilityProbes probes_;
};

TEST_F(AbilitiesTest, AGoodMachineHasAllButHtml) {
  std::set<std::string> names;
  for (const Ability& ability : CheckAll()) {
    EXPECT_TRUE(names.insert(ability.name).second) << ability.name;
    EXPECT_EQ(ability.ok, ability.name != "html") << ability.name << ": " << ability.detail;
    EXPECT_EQ(ability.remedy.empty(), ability.ok) << ability.name;
    EXPECT_THAT(ability.detail, Not(IsEmpty())) << ability.name;
  }
}

TEST_F(AbilitiesTest, OnlyTheEssentialsAreRequired) {
  std::set<std::string> required;
  for (const Ability& ability : CheckAll()) {
    if (ability.required) required.insert(ability.name);
  }
  EXPECT_EQ(required, (std::set<std::string>{"linux", "monotonic_clock", "proc"}));
}

TEST_F(AbilitiesTest, ANoAlwaysHasARemedy) {
  FakeTree empty;
  probes_.system_name = [] { return "FreeBSD"; };
  probes_.monotonic_clock = [] { return absl::InternalError("no clock"); };
  probes_.resolution_ns = [] { return std::optional<int64_t>(); };
  probes_.load_bpf = [] { return absl::PermissionDeniedError("load"); };
  probes_.real_time = [] { return absl::PermissionDeniedError("set SCHED_FIFO"); };
  probes_.mount_tracefs = [] { return absl::PermissionDeniedError("mount tracefs"); };
  int count = 0;
  for (const Ability& ability :
       CheckAbilities(empty.paths(), {{"governor", "powersave"}}, "/nonexistent", probes_)) {
    EXPECT_FALSE(ability.ok) << ability.name << ": " << ability.detail;
    EXPECT_THAT(ability.remedy, Not(IsEmpty())) << ability.name;
    ++count;
  }
  EXPECT_EQ(count, 18);
}

TEST_F(AbilitiesTest, CapabilitiesNameWhatIsMissing) {
  tree_.Write("proc/self/status", "CapEff:\t0000000000000020\n");
  const Ability ability = Check("capabilities");
  EXPECT_FALSE(ability.ok);
  EXPECT_THAT(ability.detail, HasSubstr("CAP_KILL; without CAP_BPF CAP_PERFMON"));
  EXPECT_THAT(ability.remedy, HasSubstr("root"));
}

TEST_F(AbilitiesTest, CapabilitiesSufficeWithoutSysResource) {
  tree_.Write("proc/self/status", "CapEff:\t000001fffeffffff\n");
  const Ability ability = Check("capabilities");
  EXPECT_TRUE(ability.ok);
  EXPECT_THAT(ability.detail, HasSubstr("without CAP_SYS_RESOURCE"));
}

TEST_F(AbilitiesTest, BtfMissing) {
  std::filesystem::remove(tree_.Path("sys/kernel/btf/vmlinux"));
  EXPECT_FALSE(Check("btf").ok);
}

TEST_F(AbilitiesTest, AContainersThreadIdsAreNotTheKernels) {
  EXPECT_TRUE(Check("pid_namespace").ok);
  SetPidNamespace("pid:[4026532200]");
  const Ability ability = Check("pid_namespace");
  EXPECT_FALSE(ability.ok);
  EXPECT_THAT(ability.remedy, HasSubstr("--pid=host"));
}

TEST_F(AbilitiesTest, ARefusedBpfLoadSaysWhomToAsk) {
  probes_.load_bpf = [] { return absl::PermissionDeniedError("load a raw tracepoint program"); };
  EXPECT_THAT(Check("bpf_load").remedy, HasSubstr("lockdown"));  // the rights are there
  tree_.Write("proc/self/status", "CapEff:\t0000000000000000\n");
  EXPECT_THAT(Check("bpf_load").remedy, HasSubstr("CAP_BPF and CAP_PERFMON"));
  probes_.load_bpf = [] { return absl::NotFoundError("find sched_switch"); };
  EXPECT_THAT(Check("bpf_load").remedy, HasSubstr("CONFIG_DEBUG_INFO_BTF"));
  EXPECT_EQ(Check("bpf_load").detail, "find sched_switch");
}

TEST_F(AbilitiesTest, TracefsMountableAndNot) {
  WriteMounts("");
  EXPECT_TRUE(Check("tracefs").ok);
  EXPECT_EQ(Check("tracefs").detail, "for --source tracefs; not mounted, and need not be");
  probes_.mount_tracefs = [] { return absl::PermissionDeniedError("mount tracefs: no"); };
  EXPECT_FALSE(Check("tracefs").ok);
  EXPECT_THAT(Check("tracefs").remedy, HasSubstr("mount -t tracefs"));
}

TEST_F(AbilitiesTest, AMountedTracefsMustBeWritable) {
  WriteMounts("1 0 0:1 / /nonexistent rw - tracefs tracefs rw\n");
  EXPECT_FALSE(Check("tracefs").ok);
}

TEST_F(AbilitiesTest, CgroupWithoutCpuOrMemory) {
  tree_.Write("cgroup/cgroup.controllers", "pids\n");
  EXPECT_FALSE(Check("cgroup").ok);
  EXPECT_FALSE(Check("memory_cgroup").ok);
}

TEST_F(AbilitiesTest, MemoryCgroupOfV1) {
  tree_.Write("cgroup/cgroup.controllers", "pids\n");
  tree_.MakeDirectory("v1");
  WriteMounts("1 0 0:1 / " + tree_.Path("v1") + " rw - cgroup cgroup rw,memory\n");
  EXPECT_TRUE(Check("memory_cgroup").ok);
  EXPECT_EQ(Check("memory_cgroup").detail, "v1 at " + tree_.Path("v1"));
  WriteMounts("1 0 0:1 / /nonexistent rw - cgroup cgroup rw,memory\n");
  EXPECT_FALSE(Check("memory_cgroup").ok);
}

TEST_F(AbilitiesTest, MemoryCgroupOfV2MayBeEnabledByUs) {
  tree_.Write("cgroup/cgroup.subtree_control", "cpu\n");
  EXPECT_TRUE(Check("memory_cgroup").ok);
  std::filesystem::remove(tree_.Path("cgroup/cgroup.subtree_control"));
  EXPECT_FALSE(Check("memory_cgroup").ok);
  EXPECT_THAT(Check("memory_cgroup").remedy, HasSubstr("echo +memory"));
}

TEST_F(AbilitiesTest, RealTimeDenied) {
  probes_.real_time = [] { return absl::PermissionDeniedError("set SCHED_FIFO: no"); };
  EXPECT_FALSE(Check("real_time").ok);
  EXPECT_THAT(Check("real_time").remedy, HasSubstr("cpu.rt_runtime_us"));  // RT_GROUP_SCHED
  tree_.Write("proc/self/status", "CapEff:\t0000000000000000\n");
  EXPECT_THAT(Check("real_time").remedy, HasSubstr("rtprio"));
}

TEST_F(AbilitiesTest, RealTimeShowsItsLimits) {
  EXPECT_EQ(Check("real_time").detail,
            "SCHED_FIFO allowed; RLIMIT_RTPRIO 95, RT bandwidth 950000 of 1000000 us");
  tree_.Write("proc/sys/kernel/sched_rt_runtime_us", "-1\n");
  EXPECT_THAT(Check("real_time").detail, HasSubstr("RT bandwidth unlimited"));
  tree_.Write("proc/sys/kernel/sched_rt_runtime_us", "0\n");
  EXPECT_FALSE(Check("real_time").ok);
}

TEST_F(AbilitiesTest, LockedMemoryByRightOrByLimit) {
  EXPECT_TRUE(Check("locked_memory").ok);
  tree_.Write("proc/self/status", "CapEff:\t0000000000000000\n");
  EXPECT_TRUE(Check("locked_memory").ok);
  tree_.Write("proc/self/limits", "Max locked memory         unlimited   unlimited    bytes\n");
  EXPECT_TRUE(Check("locked_memory").ok);
  tree_.Write("proc/self/limits", "Max locked memory         65536       65536        bytes\n");
  EXPECT_FALSE(Check("locked_memory").ok);
  EXPECT_THAT(Check("locked_memory").detail, HasSubstr("65536 bytes"));
}

TEST_F(AbilitiesTest, ClockBySource) {
  for (const char* good : {"tsc", "kvm-clock", "arch_sys_counter", "brand-new-clock"}) {
    SetFact("clocksource", good);
    EXPECT_TRUE(Check("clock").ok) << good;
  }
  for (const char* bad : {"hpet", "acpi_pm", "jiffies"}) {
    SetFact("clocksource", bad);
    EXPECT_FALSE(Check("clock").ok) << bad;
  }
}

TEST_F(AbilitiesTest, ACoarseClockIsANo) {
  probes_.resolution_ns = [] { return std::optional<int64_t>(4000000); };
  EXPECT_FALSE(Check("clock").ok);
  EXPECT_THAT(Check("clock").detail, HasSubstr("4000000 ns"));
}

TEST_F(AbilitiesTest, Governor) {
  SetFact("governor", "performance,schedutil");
  EXPECT_FALSE(Check("governor").ok);
  EXPECT_THAT(Check("governor").remedy, HasSubstr("performance"));
  SetFact("governor", std::nullopt);
  EXPECT_TRUE(Check("governor").ok);
}

TEST_F(AbilitiesTest, StealIsSmallLargeOrNotCounted) {
  EXPECT_EQ(Check("steal").detail, "0.00 % of CPU time just now, 0.10 % since boot");
  // 10 of 50 ticks go to the host while we look.
  probes_.wait = [this] { tree_.Write("proc/stat", "cpu  120 0 120 800 0 0 0 11 0 0\n"); };
  EXPECT_FALSE(Check("steal").ok);
  EXPECT_THAT(Check("steal").detail, HasSubstr("just now"));
}

TEST_F(AbilitiesTest, OneTickOfStealIsNotMuch) {
  probes_.wait = [this] { tree_.Write("proc/stat", "cpu  101 0 100 800 0 0 0 2 0 0\n"); };
  EXPECT_TRUE(Check("steal").ok);
}

TEST_F(AbilitiesTest, AStealCounterAtZeroNeedsTheHypervisorsWord) {
  tree_.Write("proc/stat", "cpu  100 0 100 800 0 0 0 0 0 0\n");
  EXPECT_FALSE(Check("steal").ok);
  probes_.steal_clock = [] { return std::optional<bool>(false); };
  EXPECT_THAT(Check("steal").detail, HasSubstr("offers no steal clock"));
  probes_.steal_clock = [] { return std::optional<bool>(true); };
  EXPECT_TRUE(Check("steal").ok);
  SetFact("virtualization", "none");
  EXPECT_THAT(Check("steal").detail, HasSubstr("not a virtual machine"));
}

TEST_F(AbilitiesTest, AStatWithoutAStealColumn) {
  tree_.Write("proc/stat", "cpu  100 0 100 800\n");
  EXPECT_FALSE(Check("steal").ok);
}

TEST_F(AbilitiesTest, LoadDisk) {
  EXPECT_THAT(Check("load_disk").detail, HasSubstr("GiB free"));
  for (const char* bad : {"tmpfs", "overlay", "nfs4", "fuse.sshfs"}) {
    SetFact("workdir_file_system", bad);
    EXPECT_FALSE(Check("load_disk").ok) << bad;
    EXPECT_THAT(Check("load_disk").remedy, HasSubstr("--workdir")) << bad;
  }
  SetFact("workdir_file_system", std::nullopt);
  EXPECT_FALSE(Check("load_disk").ok);
}

TEST_F(AbilitiesTest, SchedExtIsInformation) {
  SetFact("sched_ext_ops", "lavd");
  EXPECT_EQ(Check("sched_ext").detail, "loaded: lavd");
  SetFact("sched_ext_ops", std::nullopt);
  EXPECT_FALSE(Check("sched_ext").ok);
  EXPECT_FALSE(Check("sched_ext").required);
}

TEST_F(AbilitiesTest, EssentialsMissing) {
  probes_.system_name = [] { return "FreeBSD"; };
  EXPECT_FALSE(Check("linux").ok);
  probes_.monotonic_clock = [] { return absl::InternalError("CLOCK_MONOTONIC ran backwards"); };
  EXPECT_FALSE(Check("monotonic_clock").ok);
  std::filesystem::remove(tree_.Path("proc/self/stat"));
  EXPECT_FALSE(Check("proc").ok);
}

TEST(AbilityProbesTest, TheRealOnesAnswerHere) {
  EXPECT_EQ(SystemName(), "Linux");
  EXPECT_TRUE(TryMonotonicClock().ok());
  EXPECT_TRUE(MonotonicResolutionNs().has_value());
}

TEST(AbilityProbesTest, TheRealOnesLeaveNoTrace) {
  const int policy = sched_getscheduler(0);
  const absl::Status real_time = TryRealTime();
  const absl::Status tracefs = TryMountTracefs();
  const absl::Status bpf = TryLoadBpf();
  EXPECT_EQ(sched_getscheduler(0), policy);
  for (const absl::Status& status : {real_time, tracefs, bpf}) {
    if (status.ok()) continue;
    EXPECT_THAT(std::string(status.message()), HasSubstr(": "));  // what was tried: why not
  }
}

TEST(AbilityProbesTest, BpfLoadWritesNothingToStderr) {
  testing::internal::CaptureStderr();
  const absl::Status ignored = TryLoadBpf();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << ignored;
}

}  // namespace
}  // namespace whylate
