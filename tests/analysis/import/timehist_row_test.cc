#include "analysis/import/timehist_row.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace whylate {
namespace {

constexpr TimehistColumns kPlain;

TEST(TimehistRow, SplitsAStay) {
  const auto row =
      SplitTimehistRow("   10.000123 [0012]  my [1] disk[9/5]   1.500  0.250  2.001", kPlain);
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->kind, TimehistRow::Kind::kStay);
  EXPECT_EQ(row->time_ns, 10'000'123'000);
  EXPECT_EQ(row->cpu, CpuId{12});
  EXPECT_EQ(row->task.name, "my [1] disk");
  EXPECT_EQ(row->task.tid, Tid{9});
  EXPECT_EQ(row->tgid, Tgid{5});
  EXPECT_EQ(row->wait_ns, 1'500'000);
  EXPECT_EQ(row->delay_ns, 250'000);
  EXPECT_EQ(row->run_ns, 2'001'000);
  EXPECT_EQ(row->other_queue_ns, 0);
  EXPECT_EQ(row->state, "");
}

TEST(TimehistRow, TheHeadTellsTheColumns) {
  const auto columns = TimehistHead(
      "  time    cpu  012345678  task name   wait time  sch delay   run time  pre-mig time");
  ASSERT_TRUE(columns.has_value());
  EXPECT_TRUE(columns->has_cpus);
  EXPECT_TRUE(columns->has_other_queue);
  const auto row =
      SplitTimehistRow("10.000123 [0002]   s    disk[9]  3.000 2.000 1.000 1.750 D", *columns);
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->task.name, "disk");
  EXPECT_EQ(row->other_queue_ns, 1'750'000);
  EXPECT_EQ(row->state, "D");
  const auto plain = TimehistHead("time    cpu  task name                       wait time");
  ASSERT_TRUE(plain.has_value());
  EXPECT_FALSE(plain->has_cpus);
  EXPECT_FALSE(plain->has_other_queue);
  EXPECT_FALSE(TimehistHead("time flies").has_value());
}

TEST(TimehistRow, WithoutMarksANameMayBeginWithOne) {
  const auto row = SplitTimehistRow("1.000000 [0000] s disk[9] 0.000 0.000 1.000", kPlain);
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->task.name, "s disk");
}

TEST(TimehistRow, SplitsTheOthers) {
  const auto awakened = SplitTimehistRow("1.000000 [0001]  disk[9]   awakened: radio[7/5]", kPlain);
  ASSERT_TRUE(awakened.has_value());
  EXPECT_EQ(awakened->kind, TimehistRow::Kind::kAwakened);
  EXPECT_EQ(awakened->other.tid, Tid{7});
  const auto migrated =
      SplitTimehistRow("1.000000 [0001]  disk[9]  migrated: radio[7] cpu 1 => 3", kPlain);
  ASSERT_TRUE(migrated.has_value());
  EXPECT_EQ(migrated->kind, TimehistRow::Kind::kMigrated);
  EXPECT_EQ(migrated->from, CpuId{1});
  EXPECT_EQ(migrated->to, CpuId{3});
}

TEST(TimehistRow, IdleHasNoIds) {
  const auto row = SplitTimehistRow("1.000000 [0001]  <idle>   0.000 0.000 5.000", kPlain);
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(row->task.tid, Tid{0});
}

TEST(TimehistRow, OtherLinesAreNone) {
  for (const char* text :
       {"", "time cpu", "1.0 [0]", "1.000000 [0001] disk[9]", "1.000000 [0001] disk[9] 1.0 2.0 3.0",
        "1.000000 [0001] disk[9] 1.000 2.000", "1.000000 [-1] disk[9] 1.000 2.000 3.000",
        "1.000000 [0001] disk[9/] 1.000 2.000 3.000",
        "1.000000 [0001] disk[9] migrated: a[1] cpu x", "1.000000 [0001] [9] 1.000 2.000 3.000"}) {
    EXPECT_FALSE(SplitTimehistRow(text, kPlain).has_value()) << text;
  }
}

}  // namespace
}  // namespace whylate
