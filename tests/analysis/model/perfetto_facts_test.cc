#include "analysis/model/perfetto_facts.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace whylate::perfetto {
namespace {

TEST(AsciiOfBytesTest, OtherBytesAreSpelledOut) {
  EXPECT_EQ(AsciiOfBytes("a b\xff%\n"), "a b%FF%25%0A");
  EXPECT_EQ(AsciiOfBytes(std::string("\0x", 2)), "%00x");
}

TEST(AsciiOfBytesTest, EveryByteComesBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(BytesOfAscii(AsciiOfBytes(bytes)), bytes);
}

TEST(BytesOfAsciiTest, PercentSignsOfOthersStand) {
  EXPECT_EQ(BytesOfAscii("%"), "%");
  EXPECT_EQ(BytesOfAscii("%4"), "%4");
  EXPECT_EQ(BytesOfAscii("100%gone"), "100%gone");
}

TEST(WordsTest, EachEnumeratorIsFoundByItsWord) {
  for (int i = 0; i < 8; ++i) {
    const auto sched_class = static_cast<SchedClass>(i);
    EXPECT_EQ(SchedClassOf(WordOf(sched_class)), sched_class);
  }
  for (int i = 0; i < 5; ++i) {
    const auto out = static_cast<SwitchOut>(i);
    EXPECT_EQ(SwitchOutOf(WordOf(out)), out);
    const auto context = static_cast<WakerContext>(i);
    EXPECT_EQ(WakerContextOf(WordOf(context)), context);
  }
  EXPECT_EQ(SchedClassOf("none"), std::nullopt);
}

TEST(PriorityTest, StandingsThatItTellsComeBack) {
  const Tid tid{7};
  const TaskStanding deadline{SchedClass::kDeadline, {}, {}};
  EXPECT_EQ(StandingOfPriority(tid, ReportedPriority(tid, deadline)), deadline);
  for (int priority = 1; priority <= 99; ++priority) {
    const TaskStanding real_time{SchedClass::kRealTime, priority, {}};
    EXPECT_EQ(StandingOfPriority(tid, ReportedPriority(tid, real_time)), real_time);
  }
  for (int nice = -20; nice < 20; ++nice) {
    const TaskStanding fair{SchedClass::kFair, {}, nice};
    EXPECT_EQ(StandingOfPriority(tid, ReportedPriority(tid, fair)), fair);
  }
}

TEST(PriorityTest, WhatIsNotKnownIsNotMadeUp) {
  EXPECT_EQ(ReportedPriority(Tid{7}, {SchedClass::kFair, {}, {}}), std::nullopt);
  EXPECT_EQ(ReportedPriority(Tid{7}, {SchedClass::kUnknown, {}, {}}), std::nullopt);
  EXPECT_EQ(StandingOfPriority(Tid{7}, std::nullopt), TaskStanding());
}

TEST(ReportedStateTest, AsTheKernelReports) {
  EXPECT_EQ(ReportedState(SwitchOut::kRunnable, 0), 0u);
  EXPECT_EQ(ReportedState(SwitchOut::kRunnable, 1), 0x100u);
  EXPECT_EQ(ReportedState(SwitchOut::kRunnable, 0, true), 0x100u);
  EXPECT_EQ(ReportedState(SwitchOut::kBlocked, 1), 1u);
  EXPECT_EQ(ReportedState(SwitchOut::kBlocked, 2), 2u);
  EXPECT_EQ(ReportedState(SwitchOut::kBlocked, 0x402), 0x80u);
  EXPECT_EQ(ReportedState(SwitchOut::kExited, 0x80), 0x10u);
}

TEST(ReportedStateTest, TellsHowTheTaskLeft) {
  EXPECT_EQ(OutOfReportedState(0), SwitchOut::kRunnable);
  EXPECT_EQ(OutOfReportedState(0x100), SwitchOut::kRunnable);
  EXPECT_EQ(OutOfReportedState(2), SwitchOut::kBlocked);
  EXPECT_EQ(OutOfReportedState(0x10), SwitchOut::kExited);
}

}  // namespace
}  // namespace whylate::perfetto
