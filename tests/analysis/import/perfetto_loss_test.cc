// What a Perfetto trace is known to miss: a loss, and no complete verdict.
#include "analysis/import/perfetto_loss.h"

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/attribution/activations.h"
#include "analysis/model/perfetto_fields.h"
#include "analysis/timeline/timeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/analysis/import/foreign_trace.h"
#include "tests/support/made_perfetto.h"

namespace whylate {
namespace {

using protozero::pbf_writer;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

const MadeTask kMake = {7, "make", 120};
const MadeTask kWoken = {5, "w", 120};
constexpr int64_t kSecond = 1'000'000'000;

//        1     2                       12    13 s
// CPU 0  make--(w woken)- - - - - - - -w-----i
MadeBundle BeforeTheHole() {
  MadeBundle bundle(0);
  bundle.Switch(1 * kSecond, kIdle, 0, kMake)
      .Waking(2 * kSecond, 7, kWoken)
      .Wakeup(2 * kSecond + 1000, kWoken, 0);
  return bundle;
}
MadeBundle AfterTheHole() {
  MadeBundle bundle(0);
  bundle.Switch(12 * kSecond, kMake, 1, kWoken).Switch(13 * kSecond, kWoken, 1, kIdle);
  return bundle;
}

// That w waited for ten seconds behind "make" is not known.
void ExpectNoWait(const ImportedTrace& trace) {
  const Timeline timeline(trace.recording);
  EXPECT_EQ(timeline.spans().SpanAt(timeline.TaskAt(Tid{5}, 0), 7 * kSecond)->state,
            TaskState::kUnknown);
  ActivationOptions options;
  options.task = "w";
  for (const Activation& activation : AnalyzeActivations(trace.recording, options).activations) {
    if (!activation.verdict.has_value()) continue;
    EXPECT_EQ(activation.verdict->confidence, Confidence::kIncomplete);
  }
}

TEST(PerfettoLossTest, WithoutAHoleTheWaitIsKnown) {
  const ImportedTrace trace = Import(BeforeTheHole().Packet() + AfterTheHole().Packet());
  EXPECT_THAT(trace.recording.losses, IsEmpty());
  const Timeline timeline(trace.recording);
  EXPECT_EQ(timeline.spans().SpanAt(timeline.TaskAt(Tid{5}, 0), 7 * kSecond)->state,
            TaskState::kQueued);
}

TEST(PerfettoLossTest, DroppedPacketsAreALoss) {
  const ImportedTrace trace =
      Import(BeforeTheHole().Packet() + AfterTheHole().PacketAfterDropped());
  EXPECT_THAT(trace.recording.losses,
              ElementsAre(LossInterval{CpuId{0}, 2 * kSecond + 1000, 12 * kSecond, 0}));
  ExpectNoWait(trace);
}

TEST(PerfettoLossTest, WhereNoWakeUpsAreTracedAWakingDoesNotLastThroughALoss) {
  MadeBundle before(0);
  before.Switch(1 * kSecond, kIdle, 0, kMake).Waking(2 * kSecond, 7, kWoken);
  ExpectNoWait(Import(before.Packet() + AfterTheHole().PacketAfterDropped()));
}

TEST(PerfettoLossTest, DroppedPacketsAreLostOnEveryCpu) {
  const ImportedTrace trace = Import(
      BeforeTheHole().Packet() + MadeBundle(1).Switch(20 * kSecond, kSeven, 1, kEight).Packet() +
      AfterTheHole().PacketAfterDropped() +
      MadeBundle(1).Switch(30 * kSecond, kEight, 1, kSeven).Packet());
  EXPECT_THAT(trace.recording.losses,
              ElementsAre(LossInterval{CpuId{0}, 2 * kSecond + 1000, 12 * kSecond, 0},
                          LossInterval{CpuId{1}, 20 * kSecond, 30 * kSecond, 0}));
}

TEST(PerfettoLossTest, TheFirstPacketsMarkTellsOfNoLossWithinTheTrace) {
  const ImportedTrace trace = Import(BeforeTheHole().PacketAfterDropped());
  EXPECT_THAT(trace.recording.losses, IsEmpty());
}

TEST(PerfettoLossTest, WhatOtherWritersDroppedAreNoSchedulerEvents) {
  const std::string other = MadePacket([](pbf_writer& packet) {
    packet.add_uint32(perfetto::Packet::kSequenceId, 9);
    packet.add_bool(perfetto::Packet::kPreviousPacketDropped, true);
  });
  const ImportedTrace trace =
      Import(other + BeforeTheHole().Packet() + other + AfterTheHole().Packet());
  EXPECT_THAT(trace.recording.losses, IsEmpty());
}

TEST(PerfettoLossTest, PacketsThatCannotBeReadAreALoss) {
  const std::string zstd = MadePacket([](pbf_writer& packet) {
    packet.add_bytes(perfetto::Packet::kZstdCompressedPackets, "not read");
  });
  // A packet whose second byte promises more than there is, and a bundle that does.
  const std::string broken_packet("\x0a\x02\x0a\x7f", 4);
  const std::string broken_bundle("\x0a\x06\x0a\x04\x08\x00\x12\x7f", 8);
  const std::string impossible_cpu = MadeBundle(1'000'000).Packet();
  for (const std::string& unread : {zstd, broken_packet, broken_bundle, impossible_cpu}) {
    const ImportedTrace trace = Import(BeforeTheHole().Packet() + unread + AfterTheHole().Packet());
    EXPECT_THAT(trace.recording.losses,
                ElementsAre(LossInterval{CpuId{0}, 2 * kSecond + 1000, 12 * kSecond, 0}));
    ExpectNoWait(trace);
  }
}

TEST(PerfettoLossTest, ACompressedPacketThatIsCutIsALoss) {
  std::string packed = MadeCompressedPacket(std::string(5000, '\x0a'));
  packed.back() ^= 1;  // of the checksum
  ExpectNoWait(Import(BeforeTheHole().Packet() + packed + AfterTheHole().Packet()));
}

TEST(PerfettoLossTest, OfACutFileTheEndsOfTheOtherCpusAreUnknown) {
  std::string bytes = MadeBundle(1).Switch(1 * kSecond, kSeven, 1, kEight).Packet() +
                      BeforeTheHole().Packet() + AfterTheHole().Packet() +
                      MadeBundle(1).Switch(2 * kSecond, kEight, 1, kSeven).Packet();
  bytes.pop_back();
  EXPECT_THAT(Import(bytes).recording.losses,
              Contains(LossInterval{CpuId{1}, 1 * kSecond, 13 * kSecond + 1, 0}));
}

TEST(PerfettoLossTest, OverrunsAreSaid) {
  const auto stats = [](int32_t phase, uint64_t overrun) {
    return MadePacket([=](pbf_writer& packet) {
      pbf_writer message(packet, perfetto::Packet::kFtraceStats);
      message.add_enum(perfetto::FtraceStats::kPhase, phase);
      pbf_writer cpu(message, perfetto::FtraceStats::kCpuStats);
      cpu.add_uint64(perfetto::FtraceCpuStats::kCpu, 2);
      cpu.add_uint64(perfetto::FtraceCpuStats::kOverrun, overrun);
    });
  };
  const ImportedTrace trace =
      Import(stats(1, 5) + MadeBundle(0).Switch(50, kSeven, 1, kIdle).Packet() + stats(2, 8));
  EXPECT_THAT(trace.notes, Contains("ring overrun on CPU 2: 3 events lost"));
  // No bundle tells where.
  EXPECT_THAT(trace.recording.losses, ElementsAre(LossInterval{CpuId{2}, 50, 51, 3}));
  EXPECT_EQ(trace.recording.trace->lost, 3u);
}

TEST(PerfettoLossTest, OverrunsThatNoBundleTellsOfAreLostSomewhere) {
  const auto stats = [](int32_t phase, uint64_t overrun, uint64_t dropped) {
    return MadePacket([=](pbf_writer& packet) {
      pbf_writer message(packet, perfetto::Packet::kFtraceStats);
      message.add_enum(perfetto::FtraceStats::kPhase, phase);
      pbf_writer cpu(message, perfetto::FtraceStats::kCpuStats);
      cpu.add_uint64(perfetto::FtraceCpuStats::kCpu, 0);
      cpu.add_uint64(perfetto::FtraceCpuStats::kOverrun, overrun);
      cpu.add_uint64(perfetto::FtraceCpuStats::kDroppedEvents, dropped);
    });
  };
  const std::string begin = stats(1, 0, 0);
  ExpectNoWait(
      Import(begin + BeforeTheHole().Packet() + AfterTheHole().Packet() + stats(2, 50'000, 0)));
  ExpectNoWait(Import(begin + BeforeTheHole().Packet() + AfterTheHole().Packet() + stats(2, 0, 9)));
  // A bundle that tells where knows better.
  EXPECT_THAT(Import(begin + BeforeTheHole().Packet() + AfterTheHole().Lost().Packet() +
                     stats(2, 50'000, 0))
                  .recording.losses,
              ElementsAre(LossInterval{CpuId{0}, 2 * kSecond + 1000, 12 * kSecond, 0}));
}

TEST(PerfettoLossTest, WhereClocksDoNotCompareNoVerdictIsComplete) {
  const auto confidences = [](const ImportedTrace& trace) {
    std::vector<Confidence> found;
    for (const Activation& activation :
         AnalyzeActivations(trace.recording, ActivationOptions()).activations) {
      if (activation.verdict.has_value()) found.push_back(activation.verdict->confidence);
    }
    return found;
  };
  EXPECT_THAT(confidences(Import(BeforeTheHole().Packet() + AfterTheHole().Packet())),
              Contains(Confidence::kComplete));
  const ImportedTrace two = Import(BeforeTheHole().Packet() + AfterTheHole().Packet() +
                                   MadeBundle(0).Clock(2).Switch(50, kSeven, 1, kIdle).Packet());
  EXPECT_THAT(confidences(two), Not(Contains(Confidence::kComplete)));
  // Local clocks: one for each CPU.
  constexpr int32_t kLocal = perfetto::FtraceBundle::kClockLocal;
  const std::string first = BeforeTheHole().Clock(kLocal).Packet();
  EXPECT_TRUE(Import(first).recording.trace->comparable_clocks);
  const ImportedTrace local =
      Import(first + MadeBundle(1).Clock(kLocal).Switch(50, kSeven, 1, kIdle).Packet());
  EXPECT_FALSE(local.recording.trace->comparable_clocks);
  EXPECT_THAT(local.notes, Contains("local clocks: times of different CPUs do not compare"));
}

}  // namespace
}  // namespace whylate
