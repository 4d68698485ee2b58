#include "userspace/load/load.h"

#include <unistd.h>

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

std::vector<std::string> Names(absl::string_view load) {
  std::vector<std::string> names;
  const std::vector<const LoadRow*> rows = ParseLoad(load).value();
  for (const LoadRow* row : rows) names.push_back(row->name);
  return names;
}

const LoadRow& Row(absl::string_view name) { return *ParseLoad(name).value().front(); }

TEST(ParseLoadTest, NoneIsNothing) { EXPECT_THAT(ParseLoad("none"), IsOkAndHolds(IsEmpty())); }

TEST(ParseLoadTest, EveryRowIsFoundByItsName) {
  for (const LoadRow& row : LoadRows()) {
    EXPECT_THAT(ParseLoad(row.name), IsOkAndHolds(ElementsAre(&row)));
  }
}

TEST(ParseLoadTest, CombinationsKeepTheirOrder) {
  EXPECT_THAT(Names("write+burn+hack"), ElementsAre("write", "burn", "hack"));
}

TEST(ParseLoadTest, CompileIsBurnWriteAndRead) {
  EXPECT_THAT(Names("compile"), ElementsAre("burn", "write", "read"));
}

TEST(ParseLoadTest, CompileCombines) {
  EXPECT_THAT(Names("hack+compile"), ElementsAre("hack", "burn", "write", "read"));
}

TEST(ParseLoadTest, NothingIsNamedTwice) {
  EXPECT_THAT(ParseLoad("burn+write+burn"),
              StatusIs(kInvalid, HasSubstr("'burn+write+burn' has burn more than once")));
  EXPECT_THAT(ParseLoad("read+compile"), StatusIs(kInvalid, HasSubstr("read more than once")));
  EXPECT_THAT(ParseLoad("compile+compile"), StatusIs(kInvalid, HasSubstr("more than once")));
}

TEST(ParseLoadTest, NoneStandsAlone) {
  EXPECT_THAT(ParseLoad("burn+none"), StatusIs(kInvalid, HasSubstr("none stands alone")));
  EXPECT_THAT(ParseLoad("none+none"), StatusIs(kInvalid, HasSubstr("none stands alone")));
}

TEST(ParseLoadTest, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  EXPECT_THAT(ParseLoad("burn+brun"),
              StatusIs(kInvalid, AllOf(HasSubstr("'brun'"),
                                       HasSubstr("none, video, x, burn, write, read, ring, "
                                                 "memload, hack, custom, command, compile"))));
}

TEST(ParseLoadTest, EmptyPartsAreUnknown) {
  for (const char* load : {"", "+", "burn+", "+burn", "burn++write"}) {
    EXPECT_THAT(ParseLoad(load), StatusIs(kInvalid, HasSubstr("unknown load ''"))) << load;
  }
}

TEST(ParseLoadTest, NamesAreExact) {
  for (const char* load : {"Burn", " burn", "burn ", "bur", "burn,write", "gaming", "audio"}) {
    EXPECT_THAT(ParseLoad(load), StatusIs(kInvalid, HasSubstr("unknown load"))) << load;
  }
}

TEST(LoadRowsTest, AreWhole) {
  for (const LoadRow& row : LoadRows()) {
    EXPECT_STRNE(row.summary, "") << row.name;
    EXPECT_STRNE(row.unit, "") << row.name;
    EXPECT_NE(row.run, nullptr) << row.name;
    EXPECT_GE(row.thread_count(1), 1) << row.name;
  }
}

TEST(LoadRowsTest, ThreadsFollowLoadThreads) {
  EXPECT_EQ(Row("burn").thread_count(8), 8);
  EXPECT_EQ(Row("ring").thread_count(8), 8);
  EXPECT_EQ(Row("ring").thread_count(1), 2);  // a token needs somebody to go to
  EXPECT_EQ(Row("hack").thread_count(3), 120);
  EXPECT_EQ(Row("write").thread_count(8), 1);
}

TEST(LoadRowsTest, DiskLoadsHaveTheirFile) {
  EXPECT_EQ(Row("read").file, LoadFile::kRead);
  EXPECT_EQ(Row("write").file, LoadFile::kWrite);
  EXPECT_EQ(Row("memload").file, LoadFile::kMapped);
  EXPECT_EQ(Row("burn").file, LoadFile::kNone);
}

TEST(LoadRowsTest, ACommandsProgressIsItsTreesCpuTime) {
  for (const LoadRow& row : LoadRows()) {
    EXPECT_EQ(row.progress == ProgressSource::kTreeCpuTime, std::string(row.name) == "command");
  }
}

TEST(ProgressCountersTest, SumAllLanes) {
  const ProgressCounters counters = ProgressCounters::Create(3).value();
  EXPECT_EQ(counters.lanes(), 3u);
  EXPECT_EQ(counters.Sum(), 0u);
  counters.lane(0) += 5;
  counters.lane(2) += 7;
  EXPECT_EQ(counters.Sum(), 12u);
}

TEST(ProgressCountersTest, AreSharedWithTheLoad) {
  const ProgressCounters supervisor = ProgressCounters::Create(2).value();
  const ProgressCounters load = ProgressCounters::Map(UniqueFd(dup(supervisor.fd()))).value();
  EXPECT_EQ(load.lanes(), 2u);
  load.lane(1) += 3;
  EXPECT_EQ(supervisor.Sum(), 3u);
}

class LoadContextTest : public testing::Test {
 protected:
  std::pair<Channel, Channel> ends_ = Channel::CreatePair().value();
  Channel& supervisor_ = ends_.first;
  ProgressCounters progress_ = ProgressCounters::Create(2).value();
  LoadContext context_{LoadSettings(), std::move(ends_.second),
                       ProgressCounters::Map(UniqueFd(dup(progress_.fd()))).value(), UniqueFd()};
};

TEST_F(LoadContextTest, IsReadyThenWaitsForTheStart) {
  ASSERT_THAT(supervisor_.Send("go"), IsOk());
  EXPECT_THAT(context_.Ready(), IsOk());
  EXPECT_THAT(supervisor_.Receive(), IsOkAndHolds("ready"));
}

TEST_F(LoadContextTest, DoesNotBeginWithoutASupervisor) {
  supervisor_.Close();
  EXPECT_FALSE(context_.Ready().ok());
}

TEST_F(LoadContextTest, AdvancesTheLaneThatIsSeen) {
  context_.Advance(1, 40);
  context_.Advance(1, 2);
  EXPECT_EQ(progress_.lane(1).load(), 42u);
  EXPECT_EQ(progress_.lane(0).load(), 0u);
}

TEST_F(LoadContextTest, HasNoFileWhereNoneIsNeeded) { EXPECT_EQ(context_.file(), -1); }

}  // namespace
}  // namespace whylate
