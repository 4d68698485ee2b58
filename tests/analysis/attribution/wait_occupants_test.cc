// Who had the CPU while W waited: lives of tids, roles, and what was taken from them. Times are
// milliseconds; W is the watched thread, on CPU 0.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/attribution/explain.h"
#include "tests/analysis/attribution/drawn_wait.h"
#include "tests/support/trace_builder.h"
#include "tests/support/trace_text.h"

namespace whylate {
namespace {

using ::testing::ElementsAre;

// A tid exits and is given away during the wait: two tasks.
TEST(OccupantTest, AReusedTidIsTwoTasks) {
  TraceBuilder builder = Drawn(1);
  builder.CpuSeed(0, 0, kA)
      .Wake(1, 0, kW)
      .Exit(3, 0, kA, kB)
      .Fork(4, 0, kB, kA)
      .Name(kA, "next", 4)
      .Add(4, 0, WakeupEvent{Tid{kA}, CpuId{0}, true, {SchedClass::kFair, std::nullopt, 0}})
      .Preempt(5, 0, kB, kA)
      .Preempt(8, 0, kA, kW)
      .Late(1, 9, 12, 4);
  EXPECT_EQ(WaitText(builder),
            "runqueue_wait 1-8 cpu0 no_preempt [A 1-3 no_preempt] [B 3-5 no_preempt] "
            "[next 5-8 no_preempt]");
}

// The tid is forked again before its last owner is off the CPU.
TEST(OccupantTest, ATidGivenAwayBeforeItsLastSwitchOut) {
  TraceBuilder builder = Drawn(2);
  builder.Allowed({0})
      .CpuSeed(0, 0, kA)
      .Preempt(0, 0, kA, kA)
      .Wake(1, 0, kW)
      .Fork(2, 1, kB, kA)
      .Name(kA, "next", 2)
      .Exit(3, 0, kA, kB)
      .Preempt(8, 0, kB, kW)
      .Late(1, 9, 12, 4);
  EXPECT_EQ(WaitText(builder),
            "runqueue_wait 1-8 cpu0 no_preempt [A 1-3 no_preempt] [B 3-8 no_preempt]");
}

// Two tasks called burn, of which one is the load; and one that calls itself what no task is.
TEST(OccupantTest, SomebodyElsesBurnIsNotTheLoad) {
  TraceBuilder builder = Drawn(1);
  builder.Load(20, "burn", "burn")
      .Name(kA, "burn")
      .Name(kB, "steal")
      .CpuSeed(1, 0, 20)
      .Wake(1, 0, kW)
      .Preempt(3, 0, 20, kA)
      .Preempt(6, 0, kA, kB)
      .Preempt(8, 0, kB, kW)
      .Late(1, 9, 12, 4);
  EXPECT_THAT(CauseTexts(Explain(builder.Build()), kMs),
              ElementsAre("burn/runqueue_wait/no_preempt 2", "task burn/runqueue_wait/no_preempt 3",
                          "task steal/runqueue_wait/no_preempt 2"));
}

// Nor does one whose name is written like two of them.
TEST(OccupantTest, NoTaskIsAJointCause) {
  TraceBuilder builder = Drawn(1);
  builder.Name(kA, "burn & read")
      .CpuSeed(1, 0, kA)
      .Wake(1, 0, kW)
      .Preempt(8, 0, kA, kW)
      .Late(1, 9, 12, 4);
  EXPECT_THAT(CauseTexts(Explain(builder.Build()), kMs),
              ElementsAre("burn + read/runqueue_wait/no_preempt 7"));
}

TEST(OccupantTest, RolesByProcessByForkAndByKind) {
  TraceBuilder builder = Drawn(1);
  builder.Load(20, "burn", "burn/0")
      .KernelThread(21, "kworker/0:1-events")
      .Observer(22)
      .Fork(0, 0, 20, 23)
      .Fork(0, 0, 23, 24)
      .Name(24, "sh", 0)
      .CpuSeed(1, 0, 20)
      .Wake(1, 0, kW)
      .Preempt(2, 0, 20, 21)
      .Preempt(3, 0, 21, 22)
      .Preempt(4, 0, 22, 23)
      .Preempt(5, 0, 23, 24)
      .Preempt(6, 0, 24, kA)
      .Preempt(8, 0, kA, kW)
      .Late(1, 9, 12, 4);
  const Segment wait = WaitOf(builder);
  std::vector<std::string> roles;
  for (const Occupant& occupant : wait.occupants) {
    roles.push_back(occupant.task + " " + occupant.role.ToString());
  }
  EXPECT_THAT(roles,
              ElementsAre("burn/0 load:burn", "kworker/0:1-events kernel", "whylate observer",
                          "burn/0 load:burn", "sh load:burn", "A other"));
  EXPECT_THAT(CauseTexts(Explain(builder.Build()), kMs),
              ElementsAre("A/runqueue_wait/no_preempt 2", "burn/runqueue_wait/no_preempt 3",
                          "kworker/0:1-events/runqueue_wait/no_preempt 1",
                          "observer/runqueue_wait/no_preempt 1"));
}

// What interrupts took from an occupant is theirs; cut by the wait's start, it is prorated.
TEST(OccupantTest, PartsOfAStintAreChargedApart) {
  auto stolen = [](int64_t irq_ns) {
    return [irq_ns](SwitchEvent& e) { e.stolen.irq_ns = irq_ns; };
  };
  TraceBuilder builder = Drawn(1);
  builder.CpuSeed(0, 0, kB)
      .Preempt(0, 0, kB, kA)
      .With<SwitchEvent>(stolen(0))
      .Wake(4, 0, kW)
      .Preempt(8, 0, kA, kB)
      .With<SwitchEvent>(stolen(2 * kMs))
      .Preempt(10, 0, kB, kW)
      .With<SwitchEvent>(stolen(3 * kMs))
      .Late(4, 12, 14, 4);
  const Segment wait = WaitOf(builder);
  EXPECT_THAT(wait.occupants[0].parts, ElementsAre(Part{PartKind::kIrq, 1 * kMs, true, ""}));
  EXPECT_THAT(wait.occupants[1].parts, ElementsAre(Part{PartKind::kIrq, 1 * kMs, false, ""}));
  EXPECT_THAT(CauseTexts(Explain(builder.Build()), kMs),
              ElementsAre("A/runqueue_wait/no_preempt 3", "B/runqueue_wait/no_preempt 1",
                          "irq/runqueue_wait/- 2"));
}

}  // namespace
}  // namespace whylate
