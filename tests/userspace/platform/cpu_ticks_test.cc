#include "userspace/platform/cpu_ticks.h"

#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "tests/support/program.h"

namespace whylate {
namespace {

class CpuTicksTest : public testing::Test {
 protected:
  std::optional<CpuTicks> Read(const std::string& line) {
    std::ofstream(proc_.File("stat")) << line << "\ncpu0 1 1\n";
    return ReadCpuTicks(proc_.path());
  }
  const ScratchDirectory proc_;
};

TEST_F(CpuTicksTest, AreThoseOfAllCpus) {
  const std::optional<CpuTicks> ticks = Read("cpu  1 2 4 100 200 8 16 32 64 128");
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->all, 363);  // a guest's are the user's already
  EXPECT_EQ(ticks->busy, 63);
  EXPECT_EQ(ticks->steal, 32);
  EXPECT_EQ((*ticks - CpuTicks{300, 60, 30}).steal, 2);
}

TEST_F(CpuTicksTest, AKernelWithoutAStealColumnHasNone) {
  EXPECT_FALSE(Read("cpu  1 2 4 100 200 8 16"));
  EXPECT_FALSE(Read("cpu  1 2 4 100 200 8 16 x"));
  EXPECT_FALSE(Read(""));
  EXPECT_FALSE(ReadCpuTicks(proc_.File("none")));
}

}  // namespace
}  // namespace whylate
