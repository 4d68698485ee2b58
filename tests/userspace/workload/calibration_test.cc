#include "userspace/workload/calibration.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/temporary_directory.h"
#include "userspace/workload/work.h"

namespace whylate {
namespace {

class CalibrationTest : public testing::Test {
 protected:
  std::string CachePath() const { return directory_.Path("cache"); }
  // The one file of the cache.
  std::string CacheFile() const {
    std::string found;
    for (const auto& entry : std::filesystem::directory_iterator(CachePath())) {
      EXPECT_EQ(found, "") << "two files in the cache";
      found = absl::StrCat("cache/", entry.path().filename().string());
    }
    return found;
  }
  static std::string AsFile(const Calibration& calibration) {
    return absl::StrCat(calibration.loops_per_ms, "\n");
  }
  TemporaryDirectory directory_;
};

TEST_F(CalibrationTest, MeasuresSomething) {
  const Calibration calibration = Calibrate(0);
  EXPECT_GT(calibration.loops_per_ms, 0);
  EXPECT_GE(calibration.spread, 0);
}

TEST_F(CalibrationTest, IsCached) {
  const Calibration first = CalibrateCached(CachePath(), "Made CPU");
  EXPECT_EQ(directory_.Read(CacheFile()), AsFile(first));
}

// Confirmed or measured anew: what is used is what the cache says.
TEST_F(CalibrationTest, UsesWhatTheCacheHoldsAfterwards) {
  CalibrateCached(CachePath(), "Made CPU");
  const Calibration second = CalibrateCached(CachePath(), "Made CPU");
  EXPECT_EQ(directory_.Read(CacheFile()), AsFile(second));
}

TEST_F(CalibrationTest, AWrongValueInTheCacheIsReplaced) {
  CalibrateCached(CachePath(), "Made CPU");
  const std::string file = CacheFile();  // its name is not the tests' to know
  for (const char* wrong : {"7\n", "-3\n", "fast\n"}) {
    directory_.Write(file, wrong);
    const Calibration calibration = CalibrateCached(CachePath(), "Made CPU");
    EXPECT_GT(calibration.loops_per_ms, 1000);
    EXPECT_EQ(directory_.Read(file), AsFile(calibration)) << wrong;
  }
}

TEST_F(CalibrationTest, CpuModelsHaveFilesOfTheirOwn) {
  CalibrateCached(CachePath(), "Made CPU");
  CalibrateCached(CachePath(), "Other CPU/../@ 3 GHz");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(CachePath()), {}), 2);
}

TEST_F(CalibrationTest, MakesTheDirectoryAboveTheCache) {
  CalibrateCached(directory_.Path("home-cache/whylate"), "Made CPU");
  EXPECT_TRUE(directory_.Has("home-cache/whylate"));
}

TEST_F(CalibrationTest, ACacheThatCannotBeIsNoError) {
  directory_.Write("file", "");
  for (const std::string& path :
       {std::string(), directory_.Path("a/b/c"), directory_.Path("file")}) {
    EXPECT_GT(CalibrateCached(path, "Made CPU").loops_per_ms, 0) << path;
  }
  EXPECT_EQ(directory_.EntryCount(), 1);
}

// Root may write everywhere; others see a directory that refuses them.
TEST_F(CalibrationTest, ADirectoryThatRefusesUsIsNoError) {
  std::filesystem::create_directory(CachePath());
  std::filesystem::permissions(
      CachePath(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_GT(CalibrateCached(CachePath(), "Made CPU").loops_per_ms, 0);
}

class DefaultCacheDirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    xdg_ = Value("XDG_CACHE_HOME");
    home_ = Value("HOME");
  }
  void TearDown() override {
    Set("XDG_CACHE_HOME", xdg_);
    Set("HOME", home_);
  }
  static std::optional<std::string> Value(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }
  static void Set(const char* name, const std::optional<std::string>& value) {
    value ? setenv(name, value->c_str(), 1) : unsetenv(name);
  }

 private:
  std::optional<std::string> xdg_;
  std::optional<std::string> home_;
};

TEST_F(DefaultCacheDirectoryTest, XdgGoesFirst) {
  Set("XDG_CACHE_HOME", "/cache");
  Set("HOME", "/home/me");
  EXPECT_EQ(DefaultCacheDirectory(), "/cache/whylate");
}

TEST_F(DefaultCacheDirectoryTest, ElseBelowHome) {
  Set("XDG_CACHE_HOME", std::nullopt);
  Set("HOME", "/home/me");
  EXPECT_EQ(DefaultCacheDirectory(), "/home/me/.cache/whylate");
}

TEST_F(DefaultCacheDirectoryTest, RelativeOrEmptyDoesNotCount) {
  Set("XDG_CACHE_HOME", "cache");
  Set("HOME", "/home/me");
  EXPECT_EQ(DefaultCacheDirectory(), "/home/me/.cache/whylate");
  Set("XDG_CACHE_HOME", "");
  Set("HOME", "");
  EXPECT_EQ(DefaultCacheDirectory(), "");
}

TEST_F(DefaultCacheDirectoryTest, NoneWithoutAHome) {
  Set("XDG_CACHE_HOME", std::nullopt);
  Set("HOME", std::nullopt);
  EXPECT_EQ(DefaultCacheDirectory(), "");
}

TEST(WorkTest, EachLoopIsOneStepOfTheChain) {
  EXPECT_EQ(Work(0), 0u);
  EXPECT_EQ(Work(1), 6364136223846793005u + 1442695040888963407u);
  EXPECT_NE(Work(1000), Work(1001));
}

}  // namespace
}  // namespace whylate
