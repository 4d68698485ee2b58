#include "userspace/selftest/prediction.h"

#include "gtest/gtest.h"

namespace whylate {
namespace {

TEST(MeanIntervalTest, IsStudents) {
  // Mean 20, sd 10 / sqrt 2 * ... : {10, 20, 30}: sd 10, t(2) 4.303.
  const Interval95 interval = MeanInterval({10, 20, 30});
  EXPECT_NEAR(interval.low, 20 - 4.303 * 10 / 1.7320508, 1e-6);
  EXPECT_NEAR(interval.high, 20 + 4.303 * 10 / 1.7320508, 1e-6);
}

TEST(MeanIntervalTest, OfManyIsTheNormalOne) {
  const Interval95 interval = MeanInterval(std::vector<double>(32, 7));
  EXPECT_EQ(interval.low, 6);
  EXPECT_EQ(interval.high, 8);
}

TEST(MeanIntervalTest, IsNeverNarrowerThanAFrame) {
  const Interval95 interval = MeanInterval({5, 5, 5, 5, 5});
  EXPECT_EQ(interval.low, 4);
  EXPECT_EQ(interval.high, 6);
}

TEST(PredictionTest, HoldsWithinTheInterval) {
  Prediction prediction{{6, 6, 6}, {5, 5, 5}};
  EXPECT_TRUE(prediction.Holds());
  prediction.predicted = {6, 6, 7};
  EXPECT_FALSE(prediction.Holds());
  EXPECT_EQ(prediction.ToString(),
            "predicted 6.3 frames a run; the removal saved 4.0 to 6.0 (95 %, 3 pairs)");
}

}  // namespace
}  // namespace whylate
