#include "userspace/platform/capabilities.h"

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "tests/userspace/platform/fake_tree.h"

namespace whylate {
namespace {

TEST(CapabilitiesTest, ReadsTheEffectiveMask) {
  // All but CAP_SYS_RESOURCE (24).
  const auto mine = ParseCapabilities(
      "Name:\twhylate\nCapPrm:\t0000000000000000\nCapEff:\t000001fffeffffff\nCapBnd:\t0\n");
  ASSERT_TRUE(mine.ok()) << mine.status();
  EXPECT_TRUE(mine->Has(CAP_BPF));
  EXPECT_TRUE(mine->Has(CAP_PERFMON));
  EXPECT_TRUE(mine->Has(CAP_KILL));
  EXPECT_FALSE(mine->Has(CAP_SYS_RESOURCE));
}

TEST(CapabilitiesTest, AnUnprivilegedProcessHasNone) {
  const auto mine = ParseCapabilities("CapEff:\t0000000000000000\n");
  ASSERT_TRUE(mine.ok());
  for (const int capability : UsefulCapabilities()) EXPECT_FALSE(mine->Has(capability));
  EXPECT_FALSE(mine->MayLoadBpf());
}

TEST(CapabilitiesTest, NumbersOutsideTheMaskAreNotHeld) {
  const Capabilities all = {~uint64_t{0}};
  EXPECT_FALSE(all.Has(-1));
  EXPECT_FALSE(all.Has(64));
}

TEST(CapabilitiesTest, BpfTakesPerfmonTooOrSysAdmin) {
  const auto mask = [](int capability) { return uint64_t{1} << capability; };
  EXPECT_FALSE((Capabilities{mask(CAP_BPF)}).MayLoadBpf());
  EXPECT_TRUE((Capabilities{mask(CAP_BPF) | mask(CAP_PERFMON)}).MayLoadBpf());
  EXPECT_TRUE((Capabilities{mask(CAP_SYS_ADMIN)}).MayLoadBpf());
}

TEST(CapabilitiesTest, WithoutAMaskItIsAnError) {
  EXPECT_TRUE(absl::IsInvalidArgument(ParseCapabilities("Name:\tx\n").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ParseCapabilities("CapEff:\tnonsense\n").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ParseCapabilities("").status()));
}

TEST(CapabilitiesTest, ReadsFromProc) {
  FakeTree tree;
  EXPECT_TRUE(absl::IsNotFound(ReadCapabilities(tree.Path("proc")).status()));
  tree.Write("proc/self/status", "CapEff:\t0000000000000020\n");
  const auto mine = ReadCapabilities(tree.Path("proc"));
  ASSERT_TRUE(mine.ok());
  EXPECT_TRUE(mine->Has(CAP_KILL));
}

TEST(CapabilitiesTest, NamesThem) {
  EXPECT_EQ(CapabilityName(CAP_BPF), "CAP_BPF");
  EXPECT_EQ(CapabilityName(CAP_SYS_RESOURCE), "CAP_SYS_RESOURCE");
  EXPECT_EQ(CapabilityName(0), "capability 0");
}

}  // namespace
}  // namespace whylate
