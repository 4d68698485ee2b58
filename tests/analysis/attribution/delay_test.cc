// What of a frame's running is beyond its demand, and whose that is. Times are milliseconds.
#include "analysis/attribution/delay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/explain.h"
#include "analysis/attribution/stolen.h"
#include "tests/support/trace_builder.h"
#include "tests/support/trace_text.h"

namespace whylate {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kMs = 1'000'000;
constexpr int32_t kW = 1;
constexpr int32_t kA = 10;

// W runs 0-10, A 10-12, W 12-30 (to 22 in the window); the counters at each switch.
Recording Ran(int64_t demand, int64_t irq, int64_t softirq, int64_t steal) {
  auto at = [](int64_t i, int64_t s, int64_t t) {
    return [=](SwitchEvent& e) { e.stolen = {i * kMs, s * kMs, t * kMs}; };
  };
  TraceBuilder builder(1, kMs);
  builder.Watch(kW).Name(kW, "W").Name(kA, "A").Allowed({0}).CpuSeed(0, 0, kA);
  builder.Wake(0, 0, kW)
      .Preempt(0, 0, kA, kW)
      .With<SwitchEvent>(at(0, 0, 0))
      .Preempt(10, 0, kW, kA)
      .With<SwitchEvent>(at(irq, softirq, steal))
      .Preempt(12, 0, kA, kW)
      .With<SwitchEvent>(at(irq, softirq, steal))
      .Preempt(30, 0, kW, kA)
      .With<SwitchEvent>(at(irq, softirq, steal))
      .Late(0, 21, 22, demand);
  return builder.Build();
}

TEST(DelayTest, TheRestOfTheExcessIsTheThreadsOwn) {
  EXPECT_THAT(CauseTexts(Explain(Ran(16, 1, 0, 1)), kMs),
              ElementsAre("A/preempted/slice 2", "irq/running/- 1", "self/running/- 2",
                          "steal/running/- 1"));
}

// irq before softirq before steal, each capped by what is left.
TEST(DelayTest, PartsAreCappedInOrder) {
  EXPECT_THAT(CauseTexts(Explain(Ran(17, 2, 2, 2)), kMs),
              ElementsAre("A/preempted/slice 2", "irq/running/- 2", "softirq/running/- 1"));
}

// A frame that ran less than its demand has nothing beyond it.
TEST(DelayTest, NothingBeyondTheDemand) {
  EXPECT_THAT(CauseTexts(Explain(Ran(21, 2, 2, 2)), kMs), ElementsAre("A/preempted/slice 2"));
}

TEST(DelayTest, PartsOfASegmentAreWhatWasMeasured) {
  EXPECT_EQ(SegmentText(Explain(Ran(17, 2, 2, 2)).misses[0].segments[0], kMs),
            "running 0-10 cpu0 +irq 2 +softirq 2 +steal 2");
}

Recording RanWithSources(int64_t demand) {
  Recording recording = Ran(demand, 2, 2, 0);
  const auto add = [&](WakerContext context, std::optional<int32_t> irq, std::string name,
                       int64_t ns) {
    // Before the switch that ends the stint.
    for (size_t i = 0; i < recording.events.size(); ++i) {
      if (recording.events[i].time_ns != 10 * kMs) continue;
      SchedEvent event{10 * kMs, CpuId{0}, 0, InterruptTimeEvent{context, irq, name, ns, 1}};
      recording.events.insert(recording.events.begin() + static_cast<ptrdiff_t>(i), event);
      break;
    }
    for (size_t i = 0; i < recording.events.size(); ++i) recording.events[i].sequence = i;
  };
  add(WakerContext::kSoftIrq, std::nullopt, "NET_RX", 2 * kMs);
  add(WakerContext::kHardIrq, 24, "virtio2-req.0", kMs);
  return recording;
}

// What no source accounts for has no name.
TEST(DelayTest, InterruptsAreNamedBySource) {
  EXPECT_THAT(CauseTexts(Explain(RanWithSources(15)), kMs),
              ElementsAre("A/preempted/slice 2", "irq 24 virtio2-req.0/running/- 1",
                          "irq/running/- 1", "self/running/- 1", "softirq NET_RX/running/- 2"));
}

TEST(DelayTest, SourcesOfAKindAreCappedTogether) {
  EXPECT_THAT(
      CauseTexts(Explain(RanWithSources(18)), kMs),
      ElementsAre("A/preempted/slice 2", "irq 24 virtio2-req.0/running/- 1", "irq/running/- 1"));
}

// W comes onto the CPU at 1, which the kernel hides; A's stay before it and W's lost 2 together.
TEST(DelayTest, AStintWithoutARecordOfItsBeginHasItsShare) {
  auto lost = [](int64_t softirq) {
    return [=](SwitchEvent& e) { e.stolen = {0, softirq * kMs, 0}; };
  };
  TraceBuilder builder(1, kMs);
  builder.Watch(kW).Name(kW, "W").Name(kA, "A").Allowed({0}).CpuSeed(0, 0, 0);
  builder.Wake(0, 0, kW)
      .Preempt(0, 0, 0, kA)
      .With<SwitchEvent>(lost(0))
      .Block(20, 0, kW, 0)
      .With<SwitchEvent>(lost(2))
      .With<SwitchEvent>([](SwitchEvent& e) { e.prev_arrival_ns = 1 * kMs; })
      .Late(0, 19, 20, 10);
  const Explanation explanation = Explain(builder.Build());
  const std::vector<Segment>& segments = explanation.misses[0].segments;
  ASSERT_EQ(segments.back().kind, SegmentKind::kRunning);
  ASSERT_FALSE(segments.back().parts.empty());
  EXPECT_EQ(segments.back().parts[0], (Part{PartKind::kSoftirq, 2 * kMs * 19 / 20, true, ""}));
}

TEST(StolenTest, SharesSumToTheAmount) {
  int64_t sum = 0;
  for (int64_t i = 0; i < 7; ++i) sum += ShareOf(10, i, i + 1, 7);
  EXPECT_EQ(sum, 10);
  EXPECT_EQ(ShareOf(int64_t{1} << 60, 0, int64_t{1} << 60, int64_t{1} << 61), int64_t{1} << 59);
}

}  // namespace
}  // namespace whylate
