#include "userspace/trace/affinity_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "tests/support/made_ftrace.h"
#include "userspace/platform/clock.h"

namespace whylate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using F = FtraceField;

constexpr Tid kWatched{100};

CpuSet Cpus(absl::string_view text) { return *CpuSet::Parse(text); }

class AffinityCallsTest : public testing::Test {
 protected:
  // Readings are made at the real time, and calls are before or after it.
  const int64_t past_ns_ = MonotonicNs() - kNsPerSecond;
  const int64_t future_ns_ = MonotonicNs() + 1000 * kNsPerSecond;

  // A record of `caller` on CPU 2.
  void Enter(int64_t time_ns, int32_t caller, uint64_t target) {
    Take(MadePage(static_cast<uint64_t>(time_ns))
             .Add(0, made_.Record("sys_enter", {{F::kCallArguments, static_cast<int64_t>(target)}},
                                  {.current = caller})));
  }
  void Exit(int64_t time_ns, int32_t caller, int64_t result = 0) {
    Take(MadePage(static_cast<uint64_t>(time_ns))
             .Add(0, made_.Record("sys_exit", {{F::kCallResult, result}}, {.current = caller})));
  }
  void Take(const MadePage& page) { calls_.Take(CpuId{2}, page.Bytes()); }
  void Read(absl::string_view mask) {
    calls_.ReadMasks([](Tid task) { return task == kWatched; },
                     [&](Tid) -> absl::StatusOr<CpuSet> { return Cpus(mask); });
  }
  SchedEvent Event(int64_t time_ns, const CpuSet& mask, int32_t by) const {
    return {time_ns, CpuId{2}, 0, AffinityEvent{kWatched, mask, Tid{by}}};
  }

  MadeFtrace made_;
  FtraceFormats formats_ = made_.Formats();
  AffinityCalls calls_{&formats_, FtracePageLayout()};
};

TEST_F(AffinityCallsTest, TheMaskThatIsReadAfterACallIsTheOneItLeft) {
  Enter(past_ns_, 7, 100);
  Exit(past_ns_ + 10, 7);
  Read("1");
  EXPECT_THAT(calls_.Finish(), ElementsAre(Event(past_ns_ + 10, Cpus("1"), 7)));
}

TEST_F(AffinityCallsTest, TaskZeroIsTheCaller) {
  Enter(past_ns_, 100, uint64_t{0xdead} << 32);  // the kernel takes the low half
  Exit(past_ns_ + 10, 100);
  Read("0-1");
  EXPECT_THAT(calls_.Finish(), ElementsAre(Event(past_ns_ + 10, Cpus("0-1"), 100)));
}

TEST_F(AffinityCallsTest, BetweenTwoCallsWithoutAReadingNothingIsKnown) {
  Enter(past_ns_, 7, 100);
  Exit(past_ns_ + 10, 7);
  Enter(past_ns_ + 20, 7, 100);
  Exit(past_ns_ + 30, 7);
  Read("1");
  EXPECT_THAT(calls_.Finish(),
              ElementsAre(Event(past_ns_ + 10, CpuSet(), 7), Event(past_ns_ + 30, Cpus("1"), 7)));
}

TEST_F(AffinityCallsTest, EachOfTwoCallsHasItsReading) {
  Enter(past_ns_, 7, 100);
  Exit(past_ns_ + 10, 7);
  Read("1");
  Enter(future_ns_, 7, 100);
  Exit(future_ns_ + 10, 7);
  EXPECT_THAT(calls_.Finish(),
              ElementsAre(Event(past_ns_ + 10, Cpus("1"), 7), Event(future_ns_ + 10, CpuSet(), 7)));
}

TEST_F(AffinityCallsTest, ACallThatIsUnderWayMayChangeItAtAnyTime) {
  Enter(past_ns_, 7, 100);
  Exit(past_ns_ + 10, 7);
  Enter(past_ns_ + 5, 8, 100);
  Read("1");
  const SchedEvent begun = {past_ns_ + 5, CpuId{0}, 0, AffinityEvent{kWatched, CpuSet(), Tid{8}}};
  EXPECT_THAT(calls_.Finish(), ElementsAre(begun, Event(past_ns_ + 10, CpuSet(), 7)));
}

TEST_F(AffinityCallsTest, ACallThatFailedChangesNothing) {
  Enter(past_ns_, 7, 100);
  Exit(past_ns_ + 10, 7, -22);
  Read("1");
  EXPECT_THAT(calls_.Finish(), IsEmpty());
}

TEST_F(AffinityCallsTest, CallsOnOthersAreOfNoInterest) {
  Enter(past_ns_, 7, 101);
  Exit(past_ns_ + 10, 7);
  Read("1");
  EXPECT_THAT(calls_.Finish(), IsEmpty());
}

TEST_F(AffinityCallsTest, ALossLeavesNothingKnown) {
  Enter(past_ns_, 7, 100);
  Exit(past_ns_ + 10, 7);
  Take(MadePage(static_cast<uint64_t>(future_ns_))
           .Missed(4)
           .Add(0, made_.Record("sys_exit", {}, {.current = 9})));
  Read("1");
  EXPECT_THAT(calls_.Finish(),
              ElementsAre(Event(past_ns_ + 10, CpuSet(), 7),
                          SchedEvent{past_ns_ + 10, CpuId{2}, 0,
                                     AffinityEvent{kWatched, CpuSet(), std::nullopt}}));
}

TEST_F(AffinityCallsTest, FromTooManyCallsOnNothingIsKnown) {
  for (int i = 0; i < 110'000; ++i) {
    Enter(past_ns_ + i, 7, 100);
    Exit(past_ns_ + i, 7);
  }
  Read("1");
  const std::vector<SchedEvent> events = calls_.Finish();
  // One for each call that is kept, and one for all others.
  EXPECT_EQ(events.size(), 100'001U);
  EXPECT_EQ(std::get<AffinityEvent>(events.back().body).allowed, CpuSet());
}

TEST_F(AffinityCallsTest, PagesThatAreNoneAreALoss) {
  Enter(past_ns_, 7, 100);
  Exit(past_ns_ + 10, 7);
  calls_.Take(CpuId{2}, {});
  Read("1");
  EXPECT_THAT(calls_.Finish(),
              testing::Each(testing::Field(
                  &SchedEvent::body, testing::VariantWith<AffinityEvent>(
                                         testing::Field(&AffinityEvent::allowed, CpuSet())))));
}

}  // namespace
}  // namespace whylate
