#include "userspace/workload/workload.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kMs = 1000000;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

Workload Made(absl::string_view name) { return MakeWorkload(name, {}).value(); }

// The demand of each release of a cell of x with `count` releases, in ms.
std::vector<double> RampMs(int64_t count) {
  const Workload x = Made("x");
  std::vector<double> demands;
  for (int64_t k = 0; k < count; ++k) {
    demands.push_back(static_cast<double>(x.DemandNs(k, count)) / kMs);
  }
  return demands;
}

TEST(MakeWorkloadTest, Audio) {
  const Workload audio = Made("audio");
  EXPECT_EQ(audio.pacing, Pacing::kSkip);
  EXPECT_EQ(audio.period.Multiple(1), 50 * kMs);
  EXPECT_EQ(audio.DemandNs(3, 200), 2500000);
}

TEST(MakeWorkloadTest, Video) {
  const Workload video = Made("video");
  EXPECT_EQ(video.pacing, Pacing::kSkip);
  EXPECT_EQ(video.period.Multiple(60), 1000 * kMs);
  EXPECT_NEAR(static_cast<double>(video.DemandNs(0, 600)), 0.4 * 1e9 / 60, 1);
}

TEST(MakeWorkloadTest, X) {
  const Workload x = Made("x");
  EXPECT_EQ(x.pacing, Pacing::kCarry);
  EXPECT_EQ(x.period.Multiple(1), 100 * kMs);
  EXPECT_TRUE(x.ramp);
}

TEST(MakeWorkloadTest, Desktop) {
  const Workload desktop = Made("desktop");
  EXPECT_EQ(desktop.pacing, Pacing::kSkip);
  EXPECT_EQ(desktop.period.Multiple(60), 1000 * kMs);
  ASSERT_EQ(desktop.stages.size(), 3u);
  constexpr double kPeriodNs = 1e9 / 60;
  int64_t sum_ns = 0;
  for (const auto& [stage, share] : {std::pair{0, 0.05}, std::pair{1, 0.2}, std::pair{2, 0.1}}) {
    const Stage& made = desktop.stages[static_cast<size_t>(stage)];
    EXPECT_NEAR(static_cast<double>(made.demand_ns), share * kPeriodNs, 1);
    EXPECT_LE(made.name.size(), 15u);  // of a thread
    sum_ns += made.demand_ns;
  }
  EXPECT_EQ(desktop.DemandNs(0, 600), sum_ns);
}

TEST(MakeWorkloadTest, OnlyAChainHasStages) {
  for (const char* name : {"audio", "video", "x", "gaming"}) {
    EXPECT_THAT(Made(name).stages, testing::IsEmpty()) << name;
  }
}

TEST(MakeWorkloadTest, Gaming) {
  const Workload gaming = Made("gaming");
  EXPECT_EQ(gaming.pacing, Pacing::kBackToBack);
  EXPECT_EQ(gaming.DemandNs(0, 0), 10 * kMs);
}

TEST(MakeWorkloadTest, EveryRowCanBeMade) {
  for (const WorkloadRow& row : WorkloadRows()) {
    const absl::StatusOr<Workload> workload = MakeWorkload(row.name, {5.0, 1000});
    ASSERT_THAT(workload, IsOk()) << row.name;
    EXPECT_EQ(workload->name, row.name);
    EXPECT_NE(workload->title, "");
    EXPECT_STRNE(row.summary, "");
  }
}

TEST(MakeWorkloadTest, RowsAreInTheClassicOrder) {
  std::vector<std::string> names;
  for (const WorkloadRow& row : WorkloadRows()) names.push_back(row.name);
  EXPECT_THAT(names, ElementsAre("audio", "video", "x", "gaming", "desktop", "custom"));
}

TEST(MakeWorkloadTest, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  EXPECT_THAT(MakeWorkload("vidoe", {}),
              StatusIs(kInvalid, AllOf(HasSubstr("'vidoe'"),
                                       HasSubstr("audio, video, x, gaming, desktop, custom"))));
  EXPECT_THAT(MakeWorkload("", {}), StatusIs(kInvalid, HasSubstr("''")));
  EXPECT_THAT(MakeWorkload("Video", {}), StatusIs(kInvalid, HasSubstr("'Video'")));
}

TEST(CustomTest, TakesItsValues) {
  const Workload custom = MakeWorkload("custom", {20.0, 2667}).value();
  EXPECT_EQ(custom.period.Multiple(1), 2667000);
  EXPECT_EQ(custom.DemandNs(0, 10), 533400);
  EXPECT_EQ(custom.title, "Custom (2667 us, 20 %)");
  EXPECT_EQ(custom.pacing, Pacing::kSkip);
}

TEST(CustomTest, TakesTheLimitsOfItsRanges) {
  EXPECT_THAT(MakeWorkload("custom", {100.0, 100}), IsOk());
  EXPECT_THAT(MakeWorkload("custom", {0.01, 10000000}), IsOk());
  EXPECT_EQ(MakeWorkload("custom", {100.0, 100})->demand_ns, 100000);
}

TEST(CustomTest, NeedsBothValues) {
  for (const WorkloadValues& values :
       {WorkloadValues{}, WorkloadValues{5.0, {}}, WorkloadValues{{}, 1000}}) {
    EXPECT_THAT(MakeWorkload("custom", values),
                StatusIs(kInvalid, AllOf(HasSubstr("--cpu-percent"), HasSubstr("--interval"))));
  }
}

TEST(CustomTest, RefusesPercentsThatAreNone) {
  for (const double percent :
       {0.0, -1.0, 100.1, 1e300, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(MakeWorkload("custom", {percent, 1000}),
                StatusIs(kInvalid, HasSubstr("--cpu-percent")))
        << percent;
  }
}

TEST(CustomTest, RefusesIntervalsThatAreAbsurd) {
  for (const int64_t interval_us :
       {int64_t{0}, int64_t{-1}, int64_t{99}, int64_t{10000001}, INT64_MAX, INT64_MIN}) {
    EXPECT_THAT(MakeWorkload("custom", {5.0, interval_us}),
                StatusIs(kInvalid, HasSubstr("--interval")))
        << interval_us;
  }
}

TEST(RampTest, AFullCellHasEachMillisecondOnce) {
  const std::vector<double> demands = RampMs(101);
  for (size_t i = 0; i < demands.size(); ++i) EXPECT_EQ(demands[i], static_cast<double>(i));
}

TEST(RampTest, ALongerCellBeginsAgain) {
  const std::vector<double> demands = RampMs(202);
  EXPECT_EQ(demands[100], 100);
  EXPECT_EQ(demands[101], 0);
  EXPECT_EQ(demands[201], 100);
}

TEST(RampTest, AShorterCellStridesEvenlyToTheEnd) {
  const std::vector<double> demands = RampMs(30);
  EXPECT_EQ(demands.front(), 0);
  EXPECT_EQ(demands.back(), 100);
  for (size_t i = 1; i < demands.size(); ++i) {
    EXPECT_THAT(demands[i] - demands[i - 1], testing::AnyOf(3, 4)) << i;  // 100 / 29 = 3.4
  }
}

TEST(RampTest, EveryShortCellGoesFromNothingToAll) {
  for (int64_t count = 2; count <= 101; ++count) {
    EXPECT_EQ(RampMs(count).front(), 0) << count;
    EXPECT_EQ(RampMs(count).back(), 100) << count;
  }
}

TEST(RampTest, OneStepIsTheLargest) { EXPECT_THAT(RampMs(1), ElementsAre(100)); }

TEST(RampTest, AnEndlessRampHasAllSteps) {
  const Workload x = Made("x");
  EXPECT_EQ(x.DemandNs(57, INT64_MAX), 57 * kMs);
  EXPECT_EQ(x.DemandNs(101 * 1000000 + 3, INT64_MAX), 3 * kMs);
}

}  // namespace
}  // namespace whylate
