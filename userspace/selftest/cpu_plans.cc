#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "analysis/model/status_macros.h"
#include "userspace/platform/clock.h"
#include "userspace/selftest/injectors.h"
#include "userspace/selftest/interrupt_injectors.h"
#include "userspace/selftest/scenario_plans.h"
#include "userspace/selftest/stamps.h"
#include "userspace/workload/workload.h"

namespace whylate {
namespace {

constexpr int64_t kPieceNs = 20'000;
constexpr int32_t kWorkloadPriority = 10;
constexpr int32_t kFillerPriority = 5;
// So that nothing but an interrupt takes its CPU.
constexpr int32_t kHighPriority = 70;
// Of the releases that interrupts strike at.
constexpr int64_t kFloodEvery = 12;
constexpr size_t kMiddleStage = 1;
// When a mask is widened: in time for a task that has been woken and waits, or before that.
constexpr int64_t kWidenAfterNs = 300'000;
constexpr int64_t kWidenBeforeNs = 400'000;
// Of the releases that a hog waits at.
constexpr int64_t kPlaceEvery = 6;
// What is longer is a stroke of the flood's own; what is shorter, the machine's everyday.
constexpr int64_t kStrokeNs = 200'000;

// Has the workload watch the clock while it works.
absl::StatusOr<std::shared_ptr<Losses>> Watch(const ScenarioStage& stage, ScenarioPlan& plan) {
  ASSIGN_OR_RETURN(Losses made, Losses::Create());
  auto losses = std::make_shared<Losses>(std::move(made));
  const auto piece_loops =
      static_cast<uint64_t>(std::max<int64_t>(1, stage.loops_per_ms * kPieceNs / kNsPerMs));
  plan.body = [losses, piece_loops](const FrameStep& step) {
    WorkWatched(step.loops, piece_loops, kPieceNs, *losses);
  };
  return losses;
}

// When the workload had a frame to do and no CPU, by its own account. Around its watch, where its CPU
// time is read, it had one but for a moment: often that is where it loses it. It is woken on `woken_on`;
// unset: where it ran last.
std::vector<Stamp> WithoutCpu(const ScenarioRun& run, const Losses& losses,
                              std::optional<CpuId> woken_on) {
  std::vector<Stamp> stamps = losses.away.Stamps();
  const std::vector<Stamp> watched = losses.watched.Stamps();
  auto watch = watched.begin();
  for (const Frame& frame : run.recording.frames.frames) {
    while (watch != watched.end() && watch->time.begin_ns < frame.start_ns) ++watch;
    if (watch == watched.end()) break;
    const CpuId last_cpu = watch == watched.begin() ? watch->from : std::prev(watch)->to;
    stamps.push_back(
        {{frame.release_ns, watch->time.begin_ns}, woken_on.value_or(last_cpu), watch->from});
    stamps.push_back({{watch->time.end_ns, frame.completion_ns}, watch->to, watch->to});
  }
  std::sort(stamps.begin(), stamps.end(),
            [](const Stamp& a, const Stamp& b) { return a.time.begin_ns < b.time.begin_ns; });
  return stamps;
}

// The injector delays a workload that may get away only while that has no CPU, and waits on its own.
void NarrowToItsWaits(ScenarioPlan& plan, std::shared_ptr<Losses> losses, const char* name,
                      std::optional<CpuId> woken_on) {
  plan.settle = [losses, name, woken_on](ScenarioRun& run) {
    Injection& injection = run.injection(name);
    const OnSameCpu found = FindOnSameCpu(injection.stamps, WithoutCpu(run, *losses, woken_on));
    injection.busy = found.sure;
    for (const Frame& frame : run.recording.frames.frames) {
      const int64_t ns = OverlapNs(found.unsure, frame.release_ns, frame.completion_ns);
      if (ns > 0) injection.amounts.emplace(frame.index, Amount{0, 0, ns});
    }
    injection.is_exclusive = true;
  };
}

// Adds what the workload lost without being switched out as an injection, "interrupts": in the frames
// that are struck. In others it was the host that took the virtual CPU.
void CountInterrupts(ScenarioPlan& plan, std::shared_ptr<Losses> losses) {
  plan.settle = [losses](ScenarioRun& run) {
    Injection interrupts;
    interrupts.name = "interrupts";
    interrupts.subjects = {"irq*", "softirq*"};
    interrupts.means = Means::kInterrupts;
    const std::vector<TimeWindow> lost = losses->interrupted.Stretches();
    for (const Frame& frame : run.recording.frames.frames) {
      if (frame.index % kFloodEvery != 0) continue;
      Amount& amount = interrupts.amounts[frame.index];
      amount.ns = OverlapNs(lost, frame.release_ns, frame.completion_ns);
      amount.count = std::count_if(lost.begin(), lost.end(), [&](const TimeWindow& one) {
        return one.begin_ns < frame.completion_ns && one.end_ns > frame.release_ns &&
               one.end_ns - one.begin_ns > kStrokeNs;
      });
    }
    run.injections.push_back(std::move(interrupts));
  };
}

// When a stage of a chain (not the first one) held a frame, by the stages' own clocks.
std::vector<TimeWindow> HeldBy(const CellFrames& frames, size_t stage) {
  std::vector<TimeWindow> held;
  for (size_t i = 0; i < frames.frames.size(); ++i) {
    const std::span<const int64_t> passed_ns = frames.PassedNs(i);
    held.push_back({passed_ns[stage - 1],
                    stage < passed_ns.size() ? passed_ns[stage] : frames.frames[i].completion_ns});
  }
  return held;
}

}  // namespace

ScenarioPlan PlanVideo(const ScenarioStage& stage, const CpuSet& cpus, int64_t demand_ns) {
  ScenarioPlan plan;
  plan.workload = *MakeWorkload("video", {});
  if (demand_ns > 0) plan.workload.demand_ns = demand_ns;
  plan.workload_settings.cpus = cpus;
  plan.duration_ns = stage.duration_ns;
  return plan;
}

CpuSet BothCpus(const ScenarioStage& stage) {
  CpuSet cpus = OneCpu(stage.home);
  if (stage.other) cpus.Add(*stage.other);
  return cpus;
}

absl::StatusOr<ScenarioPlan> PlanHogPinned(const ScenarioStage& stage) {
  ScenarioPlan plan = PlanVideo(stage, OneCpu(stage.home));
  // Not a multiple of the period, or it would strike in the same phase for ever.
  plan.injectors.push_back(MakeHog(stage.home, 14 * kNsPerMs, 187 * kNsPerMs));
  return plan;
}

Proof ProveHogPinned() {
  Proof proof;
  proof.expected = {{"hog", {"preempted", "runqueue_wait"}, {Decision::kHigherClass}}};
  proof.none_avoidable = true;
  return proof;
}

absl::StatusOr<ScenarioPlan> PlanHogFree(const ScenarioStage& stage) {
  ScenarioPlan plan = PlanVideo(stage, BothCpus(stage), 12 * kNsPerMs);
  ASSIGN_OR_RETURN(const std::shared_ptr<Losses> losses, Watch(stage, plan));
  plan.injectors.push_back(MakeFollowingHog(14 * kNsPerMs, 187 * kNsPerMs));
  NarrowToItsWaits(plan, losses, "hog", std::nullopt);
  return plan;
}

Proof ProveHogFree() {
  Proof proof;
  proof.expected = {
      {"hog", {"preempted", "runqueue_wait"}, {Decision::kHigherClass, Decision::kMissedPull}}};
  proof.some_avoidable = true;
  return proof;
}

absl::StatusOr<ScenarioPlan> PlanBurnPinned(const ScenarioStage& stage) {
  ScenarioPlan plan = PlanVideo(stage, OneCpu(stage.home));
  plan.injectors.push_back(MakeBurn(stage.home));
  plan.injectors.push_back(MakeBurn(stage.home));
  return plan;
}

absl::StatusOr<ScenarioPlan> PlanWithoutBurn(const ScenarioStage& stage) {
  return PlanVideo(stage, OneCpu(stage.home));
}

Proof ProveBurnPinned() {
  Proof proof;
  proof.expected = {{"burn",
                     {"preempted", "runqueue_wait"},
                     {Decision::kDisplaced, Decision::kSlice, Decision::kNoPreempt}}};
  proof.none_avoidable = true;
  return proof;
}

absl::StatusOr<ScenarioPlan> PlanWidenedMask(const ScenarioStage& stage) {
  ScenarioPlan plan = PlanVideo(stage, OneCpu(stage.home), 13 * kNsPerMs);
  ASSIGN_OR_RETURN(const std::shared_ptr<Losses> losses, Watch(stage, plan));
  plan.injectors.push_back(MakeBurn(stage.home));
  plan.injectors.push_back(MakeMaskHelper(stage.home, BothCpus(stage), kWidenAfterNs));
  NarrowToItsWaits(plan, losses, "burn", stage.home);
  return plan;
}

Proof ProveWidenedMask() {
  Proof proof;
  proof.expected = {{"burn", {"preempted", "runqueue_wait"}, {Decision::kMissedPull}}};
  proof.some_avoidable = true;
  return proof;
}

// A wake-up looks for an idle CPU behind the cache of the one it was on, and no further. The hog is of the
// workload's class, and gone when its turn of the CPU is over: the workload is late by its first wait alone.
absl::StatusOr<ScenarioPlan> PlanPlacement(const ScenarioStage& stage) {
  if (!stage.far) return absl::FailedPreconditionError("needs two last-level caches");
  CpuSet wide = OneCpu(stage.home);
  wide.Add(*stage.far);
  ScenarioPlan plan = PlanVideo(stage, OneCpu(stage.home), 15 * kNsPerMs);
  ASSIGN_OR_RETURN(const std::shared_ptr<Losses> losses, Watch(stage, plan));
  Injector hog = MakeStrikingHog(stage.home, kPlaceEvery, -800'000, 2'500'000);
  hog.settings.fifo_priority = std::nullopt;
  plan.injectors.push_back(std::move(hog));
  plan.injectors.push_back(MakeMaskHelper(stage.home, wide, -kWidenBeforeNs));
  NarrowToItsWaits(plan, losses, "hog", stage.home);
  return plan;
}

Proof ProvePlacement() {
  Proof proof;
  proof.expected = {{"hog", {"runqueue_wait"}, {Decision::kPlacement}}};
  proof.some_avoidable = true;
  return proof;
}

absl::StatusOr<ScenarioPlan> PlanRtBandwidth(const ScenarioStage& stage) {
  ScenarioPlan plan = PlanVideo(stage, OneCpu(stage.home), 40 * kNsPerMs);
  plan.workload.period = {50 * kNsPerMs, 1};
  plan.workload_settings.fifo_priority = kWorkloadPriority;
  plan.injectors.push_back(MakeBurn(stage.home));
  // Takes by the clock what the workload leaves, so that burn is held back whatever the speed of the
  // machine is. Never in the workload's way.
  Injector filler = MakeStrikingHog(stage.home, 1, 0, 49'500'000);
  filler.name = "filler";
  filler.settings = {"filler", OneCpu(stage.home), kFillerPriority};
  filler.is_exclusive = false;
  filler.has_stamps = false;
  plan.injectors.push_back(std::move(filler));
  return plan;
}

Proof ProveRtBandwidth() {
  Proof proof;
  proof.expected = {{"burn", {"preempted", "runqueue_wait"}, {Decision::kRtBandwidth}}};
  return proof;
}

absl::StatusOr<ScenarioPlan> PlanOverload(const ScenarioStage& stage) {
  return PlanVideo(stage, OneCpu(stage.home), 18 * kNsPerMs);
}

Proof ProveOverload() {
  Proof proof;
  proof.only_kind = "overload";
  return proof;
}

absl::StatusOr<ScenarioPlan> PlanTimerFlood(const ScenarioStage& stage) {
  ScenarioPlan plan = PlanVideo(stage, OneCpu(stage.home), 13 * kNsPerMs);
  plan.workload_settings.fifo_priority = kHighPriority;
  ASSIGN_OR_RETURN(const std::shared_ptr<Losses> losses, Watch(stage, plan));
  ASSIGN_OR_RETURN(Injector flood,
                   MakeTimerFlood(stage.home, kFloodEvery, 2 * kNsPerMs, 11 * kNsPerMs));
  plan.injectors.push_back(std::move(flood));
  CountInterrupts(plan, losses);
  return plan;
}

absl::StatusOr<ScenarioPlan> PlanPacketFlood(const ScenarioStage& stage) {
  ScenarioPlan plan = PlanVideo(stage, OneCpu(stage.home), 13 * kNsPerMs);
  plan.workload_settings.fifo_priority = kHighPriority;
  ASSIGN_OR_RETURN(const std::shared_ptr<Losses> losses, Watch(stage, plan));
  plan.injectors.push_back(
      MakePacketFlood(*stage.other, stage.home, kFloodEvery, 1 * kNsPerMs, 13 * kNsPerMs));
  CountInterrupts(plan, losses);
  return plan;
}

Proof ProveInterrupts() {
  Proof proof;
  proof.expected = {{"interrupts", {"running"}, {}}};
  return proof;
}

absl::StatusOr<ScenarioPlan> PlanChain(const ScenarioStage& stage) {
  ScenarioPlan plan = PlanVideo(stage, OneCpu(stage.home));
  plan.workload = *MakeWorkload("desktop", {});
  plan.injectors.push_back(MakeStageHog(kMiddleStage, *stage.other, 14 * kNsPerMs, 187 * kNsPerMs));
  plan.settle = [](ScenarioRun& run) {
    Injection& hog = run.injection("hog");
    hog.busy = Intersection(hog.busy, HeldBy(run.recording.frames, kMiddleStage));
  };
  return plan;
}

Proof ProveChain() {
  Proof proof;
  proof.expected = {
      {"hog", {"preempted", "runqueue_wait"}, {Decision::kHigherClass}, "desktop-app"}};
  proof.none_avoidable = true;
  return proof;
}

absl::StatusOr<ScenarioPlan> PlanNothing(const ScenarioStage& stage) {
  ScenarioPlan plan = PlanVideo(stage, BothCpus(stage));
  plan.injectors.push_back(MakeSleeper("hog"));
  plan.injectors.push_back(MakeSleeper("burn"));
  return plan;
}

Proof ProveNothing() {
  Proof proof;
  proof.needs_late_frames = false;
  return proof;
}

absl::StatusOr<ScenarioPlan> PlanStorm(const ScenarioStage& stage) {
  ScenarioPlan plan = PlanVideo(stage, OneCpu(stage.home), 10 * kNsPerMs);
  plan.injectors.push_back(MakeStorm(20));
  plan.buffer_bytes = 64 << 10;
  return plan;
}

Proof ProveStorm() {
  Proof proof;
  proof.needs_losses = true;
  return proof;
}

}  // namespace whylate
