#include "analysis/import/trace_dat.h"

#include <unistd.h>

#include <fstream>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "analysis/import/trace_dat_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/imported_waits.h"
#include "tests/support/made_trace_dat.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temporary_directory.h"

namespace whylate {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class TraceDat : public testing::Test {
 protected:
  absl::StatusOr<ImportedTrace> Import(const std::string& bytes) {
    const std::string path = directory_.path() + "/trace.dat";
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    return ImportTraceDat(path, ImportLimits());
  }

  TemporaryDirectory directory_;
};

MadeTraceDat AWait() {
  MadeTraceDat made(2);
  made.Switch(1000, 0, 0, "swapper/0", 0, 5, "beta")
      .Waking(2000, 0, 5, 0x08, 7, "alpha", 1)
      .Switch(3000, 0, 5, "beta", 0x100, 7, "alpha")
      .Switch(9'000'000'000, 0, 7, "alpha", 1, 0, "swapper/0")
      .Switch(1500, 1, 0, "swapper/1", 0, 6, "gamma");
  return made;
}

TEST_F(TraceDat, DecodesRecordsByTheirFormats) {
  const auto trace = Import(AWait().Bytes());
  ASSERT_THAT(trace, IsOk());
  EXPECT_EQ(trace->format, "trace.dat v6");
  EXPECT_EQ(CountOf<SwitchEvent>(trace->recording), 4u);
  EXPECT_EQ(trace->recording.begin_ns, 1000);
  EXPECT_EQ(trace->recording.end_ns, 9'000'000'001);
  for (const SchedEvent& event : trace->recording.events) {
    if (const auto* waking = std::get_if<WakingEvent>(&event.body)) {
      EXPECT_EQ(waking->waker, Tid{5});
      EXPECT_EQ(waking->context, WakerContext::kHardIrq);
    }
  }
}

TEST_F(TraceDat, TheKernelTellsWhatAStateMeans) {
  MadeTraceDat made(1);
  made.Uname("Linux host 4.14.15-v7 armv7l").Switch(1000, 0, 5, "kworker/0:1", 8, 0, "swapper/0");
  const auto trace = Import(made.Bytes());
  ASSERT_THAT(trace, IsOk());
  const auto& last = std::get<SwitchEvent>(trace->recording.events.back().body);
  EXPECT_EQ(last.out, SwitchOut::kBlocked);
  EXPECT_EQ(last.prev_state, 0x80u);
  EXPECT_THAT(trace->notes, Contains("states of a 4.14 kernel are indices"));
}

// 4096 is a preempted task of an old kernel, and tells what 64 is.
TEST_F(TraceDat, WithoutAKernelTheLargestStateOfTheFileTells) {
  MadeTraceDat made(1);
  made.Switch(1000, 0, 5, "alpha", 64, 6, "beta").Switch(2000, 0, 6, "beta", 4096, 5, "alpha");
  const auto trace = Import(made.Bytes());
  ASSERT_THAT(trace, IsOk());
  std::vector<SwitchOut> outs;
  for (const SchedEvent& event : trace->recording.events) {
    if (const auto* out = std::get_if<SwitchEvent>(&event.body)) outs.push_back(out->out);
  }
  // 64 is "dead" there, and "parked" since 4.15.
  EXPECT_THAT(outs, testing::ElementsAre(SwitchOut::kExited, SwitchOut::kRunnable));
  EXPECT_THAT(trace->notes, Contains(HasSubstr("does not name its kernel")));
}

TEST_F(TraceDat, ClocksThatDoNotCompareLeaveNoVerdictComplete) {
  for (const char* clock : {"counter", "x86-tsc"}) {
    const auto trace = Import(AWait().Clock(clock).Bytes());
    ASSERT_THAT(trace, IsOk());
    EXPECT_FALSE(trace->recording.trace->comparable_clocks) << clock;
    EXPECT_THAT(trace->notes, Contains(HasSubstr("clock"))) << clock;
  }
  // trace-cmd's default: a note, no more.
  const auto local = Import(AWait().Clock("local").Bytes());
  EXPECT_TRUE(local->recording.trace->comparable_clocks);
  EXPECT_THAT(local->notes, Contains(HasSubstr("local clocks")));
  EXPECT_TRUE(Import(AWait().Clock("mono").Bytes())->recording.trace->comparable_clocks);
  EXPECT_TRUE(Import(AWait().Bytes())->recording.trace->comparable_clocks);
  MadeTraceDat one(1);
  one.Clock("local").Switch(1000, 0, 5, "alpha", 1, 6, "beta");
  EXPECT_TRUE(Import(one.Bytes())->recording.trace->comparable_clocks);
}

TEST_F(TraceDat, LossesOfThePagesAndOfTheCountersAreTold) {
  MadeTraceDat made = AWait();
  made.LostBefore(1, 12);
  made.Stats(0, "entries: 7\noverrun: 3\ndropped events: 0\n");
  const auto trace = Import(made.Bytes());
  ASSERT_THAT(trace, IsOk());
  EXPECT_THAT(trace->recording.losses,
              testing::UnorderedElementsAre(
                  LossInterval{CpuId{1}, 1000, 1500, 12}, LossInterval{CpuId{0}, 1000, 1000, 3},
                  LossInterval{CpuId{0}, 9'000'000'001, 9'000'000'001, 7}));
  EXPECT_THAT(trace->notes, Contains("ring overrun on CPU 0: 3 events were overwritten"));
}

TEST_F(TraceDat, CutAnywhereItIsRefused) {
  const std::string whole = AWait().Bytes();
  for (size_t size = 0; size < whole.size(); size += 53) {
    const auto trace = Import(whole.substr(0, size));
    EXPECT_THAT(trace, StatusIs(absl::StatusCode::kInvalidArgument, Not(HasSubstr("\n")))) << size;
  }
}

// The library's temporary files are called so.
TEST_F(TraceDat, AFileThatLooksTemporaryIsKept) {
  const std::string path = absl::StrCat("/tmp/trace_cpu_of_", getpid(), ".dat");
  std::ofstream(path, std::ios::binary | std::ios::trunc) << AWait().Bytes();
  EXPECT_THAT(ImportTraceDat(path, ImportLimits()), IsOk());
  EXPECT_EQ(unlink(path.c_str()), 0);
}

TEST_F(TraceDat, WithoutASchedulerEventItIsNoTrace) {
  EXPECT_THAT(Import(MadeTraceDat(1).Bytes()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("without an event")));
}

TEST_F(TraceDat, SaysWhatItFoundInstead) {
  EXPECT_THAT(Import(""), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("empty")));
  EXPECT_THAT(Import(std::string("\0\x05\x16\x07", 4)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\\x00\\x05\\x16\\x07")));
  EXPECT_THAT(Import(std::string("\x17\x08\x44tracing8\0", 12)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("version '8'")));
  EXPECT_THAT(ImportTraceDat(directory_.path(), ImportLimits()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no regular file")));
  EXPECT_THAT(ImportTraceDat(directory_.path() + "/none", ImportLimits()),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cannot open")));
}

TEST(TraceDatLayout, TellsTheMachineAndTheBuffers) {
  MadeTraceDat made(2);
  made.Uname("Linux host 6.1.0-18-amd64 x86_64").Stats(1, "entries: 1\noverrun: 2\n");
  made.Switch(1000, 1, 5, "a", 1, 0, "swapper/1");
  const auto layout = ReadTraceDatLayout(made.Bytes());
  ASSERT_THAT(layout, IsOk());
  EXPECT_EQ(layout->Kernel(), "6.1.0-18-amd64");
  ASSERT_THAT(layout->stats, SizeIs(1));
  EXPECT_EQ(layout->stats[0].cpu, CpuId{1});
  EXPECT_EQ(layout->stats[0].overrun, 2u);
  ASSERT_THAT(layout->cpus, SizeIs(2));
  EXPECT_EQ(layout->cpus[0].size_bytes, 0u);
  EXPECT_EQ(layout->cpus[1].size_bytes, 4096u);
}

TEST(TraceDatLayout, Version7IsFollowedOptionByOption) {
  // Header, then an options section: its formats' place, its one CPU, and the end.
  const std::string header("\x17\x08\x44tracing7\0\0\x08\0\x10\0\0none\0\0", 24);
  auto word = [](uint64_t value, size_t bytes) {
    std::string text;
    for (size_t i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i) & 0xff));
    return text;
  };
  auto file = [&](uint64_t next, uint64_t data_size) {
    const uint64_t at = header.size() + 8;
    const std::string buffer = word(at, 8) + std::string("\0mono\0", 6) + word(4096, 4) +
                               word(1, 4) + word(3, 4) + word(at, 8) + word(data_size, 8);
    const std::string options = word(18, 2) + word(8, 4) + word(at, 8) + word(3, 2) +
                                word(buffer.size(), 4) + buffer + word(0, 2) + word(8, 4) +
                                word(next, 8);
    return header + word(at, 8) + word(0, 8) + word(options.size(), 8) + options;
  };
  const auto layout = ReadTraceDatLayout(file(0, 16));
  ASSERT_THAT(layout, IsOk());
  EXPECT_EQ(layout->version, 7);
  EXPECT_EQ(layout->clock, "mono");
  EXPECT_EQ(layout->compression, "none");
  ASSERT_THAT(layout->cpus, SizeIs(1));
  EXPECT_EQ(layout->cpus[0].cpu, CpuId{3});
  EXPECT_THAT(ReadTraceDatLayout(file(header.size() + 8, 16)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("circle")));
  EXPECT_THAT(ReadTraceDatLayout(file(0, 4096)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("data of CPU 3")));
  const std::string whole = file(0, 16);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(ReadTraceDatLayout(absl::string_view(whole).substr(0, size)), Not(IsOk())) << size;
  }
}

}  // namespace
}  // namespace whylate
