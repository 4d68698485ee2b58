#include "userspace/platform/cpu_topology.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"

namespace whylate {
namespace {

class CpuTopologyTest : public testing::Test {
 protected:
  void Cache(int cpu, int index, const std::string& level, const std::string& cpus) {
    const std::string directory =
        sys_.File(absl::StrCat("devices/system/cpu/cpu", cpu, "/cache/index", index));
    std::filesystem::create_directories(directory);
    std::ofstream(directory + "/level") << level << "\n";
    std::ofstream(directory + "/shared_cpu_list") << cpus << "\n";
  }
  std::string CacheOf(int cpu) {
    const std::optional<CpuSet> cpus = LastLevelCacheOf(CpuId{cpu}, sys_.path());
    return cpus ? cpus->ToString() : "unknown";
  }
  const ScratchDirectory sys_;
};

TEST_F(CpuTopologyTest, TheCacheOfTheHighestLevelIsTheLastOne) {
  Cache(0, 0, "1", "0");
  Cache(0, 1, "3", "0-3");
  Cache(0, 2, "2", "0-1");
  EXPECT_EQ(CacheOf(0), "0-3");
  EXPECT_EQ(FarCpu(CpuId{0}, *CpuSet::Parse("0-7"), sys_.path()), CpuId{4});
  EXPECT_EQ(FarCpu(CpuId{0}, *CpuSet::Parse("0-3"), sys_.path()), std::nullopt);
}

TEST_F(CpuTopologyTest, WhereSysfsDoesNotTellNothingIsFar) {
  EXPECT_EQ(CacheOf(0), "unknown");
  EXPECT_EQ(FarCpu(CpuId{0}, *CpuSet::Parse("0-7"), sys_.path()), std::nullopt);
  Cache(0, 0, "1", "0-");
  EXPECT_EQ(CacheOf(0), "unknown");
  Cache(0, 0, "one", "0");
  EXPECT_EQ(CacheOf(0), "unknown");
}

}  // namespace
}  // namespace whylate
