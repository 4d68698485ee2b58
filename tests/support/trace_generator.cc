#include "tests/support/trace_generator.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace whylate {
namespace {

enum class Sim { kBlocked, kWaking, kQueued, kRunning, kThrottled, kGone };

struct SimTask {
  int32_t tid = 0;
  TaskStanding standing;
  Sim state = Sim::kBlocked;
  int32_t cpu = 0;
  int64_t arrival = 0;
  int64_t queued = 0;
  bool pending = false;  // woken while running
  bool delayed = false;  // asleep in name, still queued
  std::optional<int64_t> timer;
  int32_t lives = 1;
};

struct Stretch {
  int64_t start = 0;
  int64_t end = 0;
};

class Machine {
 public:
  explicit Machine(const GeneratorOptions& options)
      : options_(options),
        random_(options.seed),
        current_(static_cast<size_t>(options.cpus), 0),
        stolen_(static_cast<size_t>(options.cpus)) {}

  Recording Run() {
    Setup();
    for (int32_t i = 0; i < options_.actions; ++i) {
      now_ += 1 + Pick(4);
      Act();
    }
    BringWatchedOnCpu();
    const int64_t completion = now_ + 2 + Pick(6);
    EndRun(completion);
    MakeFrame(completion);
    now_ = completion + 3;
    // Something after the window, so that its last stints have ends.
    for (int32_t i = 0; i < 20; ++i) {
      now_ += 1 + Pick(4);
      Act();
    }
    recording_.end_ns = (now_ + 5) * options_.unit_ns;
    Number();
    return std::move(recording_);
  }

 private:
  int64_t Pick(int64_t below) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(below));
  }
  bool Chance(int64_t percent) { return Pick(100) < percent; }
  SimTask& Watched() { return tasks_.front(); }

  SchedEvent& Emit(int32_t cpu, SchedEventBody body) {
    recording_.events.push_back({now_ * options_.unit_ns, CpuId{cpu}, 0, std::move(body)});
    return recording_.events.back();
  }

  void AddTask(int32_t tid, const std::string& name, TaskStanding standing, bool kernel = false) {
    SimTask task;
    task.tid = tid;
    task.standing = standing;
    tasks_.push_back(task);
    Emit(0, TaskNameEvent{Tid{tid}, Tgid{tid}, name, kernel});
    Emit(0, TaskSeedEvent{Tid{tid}, false, CpuId{0}, standing, std::nullopt});
  }

  void Setup() {
    const TaskStanding fair{SchedClass::kFair, std::nullopt, 0};
    recording_.trace =
        TraceFacts{.source = "generated", .has_steal_clock = options_.stolen, .has_timers = true};
    recording_.watched = Tid{kGeneratedTask};
    for (int32_t cpu = 0; cpu < options_.cpus; ++cpu) {
      recording_.cpus.push_back({CpuId{cpu}, true, false});
      Emit(cpu, CpuSeedEvent{Tid{0}, {SchedClass::kIdle, std::nullopt, std::nullopt}});
    }
    AddTask(kGeneratedTask, "W",
            options_.rt_workload ? TaskStanding{SchedClass::kRealTime, 50, std::nullopt} : fair);
    AddTask(10, "burn/0", fair);
    AddTask(11, "burn/1", fair);
    AddTask(12, "hog", {SchedClass::kRealTime, 60, std::nullopt});
    AddTask(13, "kworker/0:1", fair, true);
    AddTask(14, "miner", {SchedClass::kIdlePolicy, std::nullopt, 19});
    AddTask(15, "sh", fair);
    recording_.roles.push_back({Tgid{10}, {RoleKind::kLoad, "burn"}});
    recording_.roles.push_back({Tgid{11}, {RoleKind::kLoad, "burn"}});
    allowed_ = RandomMask();
    recording_.allowed_before = allowed_;
  }

  CpuSet RandomMask() {
    CpuSet mask;
    for (int32_t cpu = 0; cpu < options_.cpus; ++cpu) {
      if (Chance(70)) mask.Add(CpuId{cpu});
    }
    if (mask.empty()) mask.Add(CpuId{0});
    return mask;
  }

  int32_t RandomCpuFor(const SimTask& task) {
    if (task.tid != kGeneratedTask) return static_cast<int32_t>(Pick(options_.cpus));
    const std::vector<CpuId> cpus = allowed_.ToVector();
    return cpus[static_cast<size_t>(Pick(static_cast<int64_t>(cpus.size())))].value;
  }

  std::vector<SimTask*> In(Sim state) {
    std::vector<SimTask*> found;
    for (SimTask& task : tasks_) {
      if (task.state == state) found.push_back(&task);
    }
    return found;
  }
  SimTask* AnyIn(Sim state) {
    std::vector<SimTask*> found = In(state);
    return found.empty() ? nullptr
                         : found[static_cast<size_t>(Pick(static_cast<int64_t>(found.size())))];
  }
  SimTask* ByTid(int32_t tid) {
    for (SimTask& task : tasks_) {
      if (task.tid == tid && task.state != Sim::kGone) return &task;
    }
    return nullptr;
  }

  void Act() {
    const int64_t roll = Pick(100);
    if (roll < 28) {
      if (SimTask* task = AnyIn(Sim::kWaking)) FinishWakeup(task);
    } else if (roll < 50) {
      if (SimTask* task = AnyIn(Sim::kBlocked)) Wake(task);
    } else if (roll < 85) {
      Switch(static_cast<int32_t>(Pick(options_.cpus)));
    } else if (roll < 90) {
      if (SimTask* task = AnyIn(Sim::kQueued)) Migrate(task);
    } else if (roll < 94) {
      if (SimTask* task = AnyIn(Sim::kRunning)) WakeRunning(task);
    } else if (roll < 95) {
      if (SimTask* task = AnyIn(Sim::kThrottled)) Unthrottle(task);
    } else if (roll < 97) {
      allowed_ = RandomMask();
      Emit(0, AffinityEvent{Tid{kGeneratedTask}, allowed_, std::nullopt});
    } else {
      if (SimTask* task = AnyIn(Sim::kGone)) Reuse(task);
    }
  }

  void Unthrottle(SimTask* task) {
    task->state = Sim::kQueued;
    task->queued = now_;
    Emit(task->cpu, UnthrottleEvent{Tid{task->tid}, "group", 10, 50});
  }

  void FinishWakeup(SimTask* task) {
    task->state = Sim::kQueued;
    task->cpu = RandomCpuFor(*task);
    task->queued = now_;
    Emit(task->cpu, WakeupEvent{Tid{task->tid}, CpuId{task->cpu}, false, task->standing});
  }

  WakingEvent WakingOf(const SimTask& task, int32_t* cpu) {
    WakingEvent event;
    event.wakee = Tid{task.tid};
    *cpu = static_cast<int32_t>(Pick(options_.cpus));
    event.waker = Tid{current_[static_cast<size_t>(*cpu)]};
    const bool by_task = event.waker != Tid{0} && event.waker != Tid{task.tid} && Chance(60);
    event.context = by_task ? WakerContext::kTask : WakerContext::kHardIrq;
    if (!by_task && Chance(50)) {
      event.irq = 24;
      event.source_name = "nvme0q1";
    }
    event.wakee_on_rq = false;
    event.wakee_on_cpu = false;
    return event;
  }

  void Wake(SimTask* task) {
    int32_t cpu = 0;
    WakingEvent event = WakingOf(*task, &cpu);
    if (task->timer.has_value()) {
      // Its timer fires, or something else comes first.
      if (Chance(70)) {
        now_ = std::max(now_, *task->timer);
        Emit(cpu, TimerExpireEvent{Tid{task->tid}, *task->timer * options_.unit_ns,
                                   now_ * options_.unit_ns});
        ++now_;
        event.context = WakerContext::kHardIrq;
        event.source_name = "hrtimer";
      }
      task->timer.reset();
    }
    event.wakee_on_rq = task->delayed;
    Emit(cpu, event);
    task->state = task->delayed ? Sim::kQueued : Sim::kWaking;
    task->queued = now_;
    task->delayed = false;
  }

  void WakeRunning(SimTask* task) {
    if (task->pending) {
      Emit(task->cpu, WakeupEvent{Tid{task->tid}, CpuId{task->cpu}, false, task->standing});
      task->pending = false;
      return;
    }
    int32_t cpu = 0;
    WakingEvent event = WakingOf(*task, &cpu);
    event.wakee_on_rq = true;
    event.wakee_on_cpu = true;
    Emit(cpu, event);
    task->pending = true;
  }

  void Migrate(SimTask* task) {
    const int32_t to = RandomCpuFor(*task);
    if (to == task->cpu) return;
    Emit(to, MigrateEvent{Tid{task->tid}, CpuId{task->cpu}, CpuId{to}});
    task->cpu = to;
  }

  void Switch(int32_t cpu) {
    std::vector<SimTask*> ready;
    for (SimTask& task : tasks_) {
      const bool queued = task.state == Sim::kQueued && task.cpu == cpu;
      const bool unthrottled = task.state == Sim::kThrottled && task.cpu == cpu && Chance(50);
      if (queued || unthrottled) ready.push_back(&task);
    }
    SimTask* next = nullptr;
    if (!ready.empty() && Chance(90)) {
      next = ready[static_cast<size_t>(Pick(static_cast<int64_t>(ready.size())))];
    }
    SwitchTo(cpu, next);
  }

  void SwitchTo(int32_t cpu, SimTask* next) {
    SimTask* prev = ByTid(current_[static_cast<size_t>(cpu)]);
    if (prev == nullptr && next == nullptr) return;
    SwitchEvent event;
    event.prev_standing.sched_class = SchedClass::kIdle;
    event.next_standing.sched_class = SchedClass::kIdle;
    event.out = SwitchOut::kRunnable;
    if (prev != nullptr) Leave(cpu, prev, &event);
    if (next != nullptr) {
      event.next = Tid{next->tid};
      event.next_standing = next->standing;
      // The end of a throttle is not noted.
      if (next->state != Sim::kThrottled) event.next_queued_ns = next->queued * options_.unit_ns;
      next->state = Sim::kRunning;
      next->cpu = cpu;
      next->arrival = now_;
      if (next->tid == kGeneratedTask) running_.push_back({now_, now_});
    }
    if (options_.stolen) {
      StolenTime& stolen = stolen_[static_cast<size_t>(cpu)];
      stolen.irq_ns = stolen.irq_ns.value_or(0) + Pick(2) * options_.unit_ns;
      stolen.softirq_ns = stolen.softirq_ns.value_or(0) + Pick(2) * options_.unit_ns / 2;
      stolen.steal_ns = stolen.steal_ns.value_or(0) + Pick(3) * options_.unit_ns / 3;
      event.stolen = stolen;
    }
    current_[static_cast<size_t>(cpu)] = next == nullptr ? 0 : next->tid;
    Emit(cpu, event);
  }

  void Leave(int32_t cpu, SimTask* prev, SwitchEvent* event) {
    event->prev = Tid{prev->tid};
    event->prev_standing = prev->standing;
    event->prev_arrival_ns = prev->arrival * options_.unit_ns;
    const int64_t roll = Pick(100);
    prev->cpu = cpu;
    const bool watched = prev->tid == kGeneratedTask;
    if (watched) {
      EndRun(now_);
      slept_.push_back({now_, now_});
    }
    if (roll >= 45 && roll < 90) {
      event->out = SwitchOut::kBlocked;
      static constexpr uint32_t kStates[] = {1, 1, 1, 2, 0x2001, 4};
      event->prev_state = kStates[Pick(6)];
      prev->state = Sim::kBlocked;
      prev->delayed = Chance(20);
      if (watched && (event->prev_state & 1) != 0 && Chance(50)) ArmTimer(cpu, prev);
    } else if (roll >= 90 && roll < 94) {
      event->out = SwitchOut::kThrottled;
      prev->state = Sim::kThrottled;
    } else if (roll >= 94 && !watched && prev->tid >= 12) {
      event->out = SwitchOut::kExited;
      event->prev_state = 0x80;
      prev->state = Sim::kGone;
    } else {
      prev->state = Sim::kQueued;
      prev->queued = now_;
    }
    if (prev->pending && prev->state != Sim::kGone) {
      prev->state = Sim::kWaking;
      prev->delayed = false;
      prev->timer.reset();
    }
    prev->pending = false;
    if (watched && prev->state != Sim::kBlocked) slept_.pop_back();
  }

  void ArmTimer(int32_t cpu, SimTask* task) {
    task->timer = now_ + 2 + Pick(20);
    Emit(cpu, TimerStartEvent{Tid{task->tid}, *task->timer * options_.unit_ns, Chance(50)});
    ++now_;
    slept_.back() = {now_, now_};
    running_.back().end = now_;
  }

  void EndRun(int64_t time) {
    if (!running_.empty() && Watched().state == Sim::kRunning) running_.back().end = time;
  }

  // The tid of a task that is gone goes to another, forked by a burner or by one never seen.
  void Reuse(SimTask* task) {
    ++task->lives;
    const std::string name =
        "child" + std::to_string(task->tid) + "." + std::to_string(task->lives);
    task->standing = {SchedClass::kFair, std::nullopt, 0};
    task->timer.reset();
    task->pending = false;
    task->delayed = false;
    const bool by_burn = Chance(30);
    Emit(0, ForkEvent{Tid{by_burn ? 10 : kGeneratedTask + 100}, Tid{task->tid}, Tgid{task->tid}});
    ++now_;
    Emit(0, TaskNameEvent{Tid{task->tid}, Tgid{task->tid}, name, false});
    ++now_;
    task->state = Sim::kQueued;
    task->cpu = RandomCpuFor(*task);
    task->queued = now_;
    Emit(task->cpu, WakeupEvent{Tid{task->tid}, CpuId{task->cpu}, true, task->standing});
  }

  void BringWatchedOnCpu() {
    SimTask& watched = Watched();
    for (int32_t tries = 0; watched.state != Sim::kRunning; ++tries) {
      now_ += 1 + Pick(3);
      if (watched.state == Sim::kBlocked) {
        Wake(&watched);
      } else if (watched.state == Sim::kWaking) {
        FinishWakeup(&watched);
      } else {
        SwitchTo(watched.cpu, &watched);
      }
    }
  }

  void MakeFrame(int64_t completion) {
    int64_t release = 1 + Pick(std::max<int64_t>(1, completion * 7 / 10));
    if (options_.asleep_at_release && !slept_.empty()) {
      release = slept_[static_cast<size_t>(Pick(static_cast<int64_t>(slept_.size())))].start + 1;
    }
    int64_t ran = 0;
    for (const Stretch& run : running_) {
      ran += std::max<int64_t>(0, std::min(run.end, completion) - std::max(run.start, release));
    }
    const int64_t length = completion - release;
    int64_t budget = std::max<int64_t>(1, length * (20 + Pick(75)) / 100);
    int64_t demand = std::min(budget, ran * (30 + Pick(71)) / 100);
    if (options_.exact_demand) {
      budget = std::clamp<int64_t>(std::max(budget, ran), 1, length - 1);
      demand = ran;
    }
    CellFrames& frames = recording_.frames;
    frames.pacing = Pacing::kSkip;
    frames.origin_ns = release * options_.unit_ns;
    frames.period = {budget * options_.unit_ns, 1};
    frames.end_ns = (release + 3 * budget) * options_.unit_ns;
    Frame frame;
    frame.release_ns = frames.origin_ns;
    frame.start_ns = frames.origin_ns;
    frame.completion_ns = completion * options_.unit_ns;
    frame.cpu_ns = ran * options_.unit_ns;
    frame.demand_ns = demand * options_.unit_ns;
    frames.frames.push_back(frame);
  }

  void Number() {
    recording_.allowed_after = allowed_;
    recording_.trace->events = recording_.events.size();
    std::vector<uint64_t> sequence(static_cast<size_t>(options_.cpus), 0);
    for (SchedEvent& event : recording_.events) {
      event.sequence = sequence[static_cast<size_t>(event.cpu.value)]++;
    }
    std::stable_sort(recording_.events.begin(), recording_.events.end(), Before);
  }

  const GeneratorOptions options_;
  std::mt19937_64 random_;
  Recording recording_;
  std::vector<SimTask> tasks_;
  std::vector<int32_t> current_;  // tid on each CPU
  std::vector<StolenTime> stolen_;
  CpuSet allowed_;
  std::vector<Stretch> running_;  // of the watched task
  std::vector<Stretch> slept_;
  int64_t now_ = 0;
};

}  // namespace

Recording GenerateTrace(const GeneratorOptions& options) { return Machine(options).Run(); }

Recording ThroughStages(Recording generated, uint64_t seed) {
  std::mt19937_64 random(seed);
  CellFrames& cell = generated.frames;
  Frame& frame = cell.frames.front();
  const int64_t length_ns = frame.completion_ns - frame.start_ns;
  for (const int32_t tid : {kGeneratedTask, static_cast<int32_t>(10 + random() % 3),
                            static_cast<int32_t>(13 + random() % 3)}) {
    Stage stage{absl::StrCat("stage ", tid), Tid{tid}, frame.demand_ns / 3, {}, {}};
    if (random() % 2 == 0) {
      stage.allowed_before = generated.allowed_before;
      stage.allowed_after = generated.allowed_before;
    }
    cell.stages.push_back(std::move(stage));
    cell.stage_cpu_ns.push_back(frame.cpu_ns);
  }
  frame.cpu_ns *= 3;
  for (size_t i = 1; i < cell.stages.size(); ++i) {
    cell.passed_ns.push_back(frame.start_ns +
                             static_cast<int64_t>(random() % static_cast<uint64_t>(length_ns + 1)));
  }
  std::sort(cell.passed_ns.begin(), cell.passed_ns.end());
  return generated;
}

}  // namespace whylate
