#include "tests/support/trace_builder.h"

#include <algorithm>
#include <limits>

namespace whylate {

TraceBuilder::TraceBuilder(int32_t cpus, int64_t unit_ns) : unit_ns_(unit_ns) {
  recording_.workload = "video";
  recording_.load = "burn";
  recording_.trace = TraceFacts{.source = "drawn"};
  for (int32_t cpu = 0; cpu < cpus; ++cpu) recording_.cpus.push_back({CpuId{cpu}, true, false});
}

CpuSet TraceBuilder::Cpus(std::initializer_list<int32_t> cpus) {
  CpuSet set;
  for (const int32_t cpu : cpus) set.Add(CpuId{cpu});
  return set;
}

TaskStanding TraceBuilder::StandingOf(int32_t tid) const {
  if (tid == 0) return {SchedClass::kIdle, std::nullopt, std::nullopt};
  auto found = standing_.find(tid);
  return found == standing_.end() ? TaskStanding{SchedClass::kFair, std::nullopt, 0}
                                  : found->second;
}

TraceBuilder& TraceBuilder::Add(int64_t time, int32_t cpu, SchedEventBody body) {
  recording_.events.push_back({time * unit_ns_, CpuId{cpu}, 0, std::move(body)});
  return *this;
}

TraceBuilder& TraceBuilder::Watch(int32_t tid) {
  recording_.watched = Tid{tid};
  return *this;
}

TraceBuilder& TraceBuilder::Name(int32_t tid, std::string name, int64_t time) {
  return Add(time, 0, TaskNameEvent{Tid{tid}, Tgid{tid}, std::move(name), false});
}

TraceBuilder& TraceBuilder::Load(int32_t tid, const std::string& load, const std::string& name) {
  recording_.roles.push_back({Tgid{tid}, {RoleKind::kLoad, load}});
  return Name(tid, name.empty() ? load : name);
}

TraceBuilder& TraceBuilder::KernelThread(int32_t tid, std::string name) {
  return Add(0, 0, TaskNameEvent{Tid{tid}, Tgid{tid}, std::move(name), true});
}

TraceBuilder& TraceBuilder::Observer(int32_t tid) {
  recording_.roles.push_back({Tgid{tid}, {RoleKind::kObserver, ""}});
  return Name(tid, "whylate");
}

TraceBuilder& TraceBuilder::Class(int32_t tid, SchedClass sched_class,
                                  std::optional<int32_t> rt_priority) {
  standing_[tid] = {sched_class, rt_priority, std::nullopt};
  return *this;
}

TraceBuilder& TraceBuilder::Stage(int32_t tid, const std::string& name, int64_t demand) {
  std::vector<whylate::Stage>& stages = recording_.frames.stages;
  if (stages.empty()) Watch(tid);
  stages.push_back({name, Tid{tid}, demand * unit_ns_, std::nullopt, std::nullopt});
  return Add(0, 0, TaskNameEvent{Tid{tid}, Tgid{recording_.watched.value}, name, false});
}

TraceBuilder& TraceBuilder::Allowed(std::initializer_list<int32_t> cpus) {
  for (whylate::Stage& stage : recording_.frames.stages) {
    stage.allowed_before = Cpus(cpus);
    stage.allowed_after = Cpus(cpus);
  }
  recording_.allowed_before = Cpus(cpus);
  recording_.allowed_after = Cpus(cpus);
  return *this;
}

TraceBuilder& TraceBuilder::Isolated(int32_t cpu) {
  recording_.cpus[static_cast<size_t>(cpu)].isolated = true;
  return *this;
}

TraceBuilder& TraceBuilder::Switch(int64_t time, int32_t cpu, int32_t prev, int32_t next,
                                   SwitchOut out, uint32_t state) {
  SwitchEvent event;
  event.prev = Tid{prev};
  event.next = Tid{next};
  event.out = out;
  event.prev_state = state;
  event.prev_standing = StandingOf(prev);
  event.next_standing = StandingOf(next);
  return Add(time, cpu, std::move(event));
}

TraceBuilder& TraceBuilder::Preempt(int64_t time, int32_t cpu, int32_t prev, int32_t next) {
  return Switch(time, cpu, prev, next, SwitchOut::kRunnable);
}

TraceBuilder& TraceBuilder::Block(int64_t time, int32_t cpu, int32_t prev, int32_t next,
                                  uint32_t state) {
  return Switch(time, cpu, prev, next, SwitchOut::kBlocked, state);
}

TraceBuilder& TraceBuilder::Throttle(int64_t time, int32_t cpu, int32_t prev, int32_t next) {
  return Switch(time, cpu, prev, next, SwitchOut::kThrottled);
}

TraceBuilder& TraceBuilder::Exit(int64_t time, int32_t cpu, int32_t prev, int32_t next) {
  return Switch(time, cpu, prev, next, SwitchOut::kExited, 0x80);
}

TraceBuilder& TraceBuilder::Waking(int64_t time, int32_t cpu, int32_t wakee, int32_t waker) {
  WakingEvent event;
  event.wakee = Tid{wakee};
  event.waker = Tid{waker};
  event.context = waker == 0 ? WakerContext::kHardIrq : WakerContext::kTask;
  event.wakee_on_rq = false;
  event.wakee_on_cpu = false;
  return Add(time, cpu, std::move(event));
}

TraceBuilder& TraceBuilder::Wakeup(int64_t time, int32_t target, int32_t wakee) {
  return Add(time, target, WakeupEvent{Tid{wakee}, CpuId{target}, false, StandingOf(wakee)});
}

TraceBuilder& TraceBuilder::Wake(int64_t time, int32_t target, int32_t wakee, int32_t waker) {
  return Waking(time, target, wakee, waker).Wakeup(time, target, wakee);
}

TraceBuilder& TraceBuilder::Migrate(int64_t time, int32_t task, int32_t from, int32_t to) {
  return Add(time, to, MigrateEvent{Tid{task}, CpuId{from}, CpuId{to}});
}

TraceBuilder& TraceBuilder::Fork(int64_t time, int32_t cpu, int32_t parent, int32_t child) {
  return Add(time, cpu, ForkEvent{Tid{parent}, Tid{child}, Tgid{child}});
}

TraceBuilder& TraceBuilder::Affinity(int64_t time, int32_t cpu, int32_t task,
                                     std::initializer_list<int32_t> cpus) {
  return Add(time, cpu, AffinityEvent{Tid{task}, Cpus(cpus), std::nullopt});
}

TraceBuilder& TraceBuilder::TimerStart(int64_t time, int32_t cpu, int32_t task, int64_t expires,
                                       bool absolute) {
  recording_.trace->has_timers = true;
  return Add(time, cpu, TimerStartEvent{Tid{task}, expires * unit_ns_, absolute});
}

TraceBuilder& TraceBuilder::TimerExpire(int64_t time, int32_t cpu, int32_t task, int64_t expires) {
  recording_.trace->has_timers = true;
  return Add(time, cpu, TimerExpireEvent{Tid{task}, expires * unit_ns_, time * unit_ns_});
}

TraceBuilder& TraceBuilder::CpuSeed(int64_t time, int32_t cpu, int32_t current) {
  return Add(time, cpu, CpuSeedEvent{Tid{current}, StandingOf(current)});
}

TraceBuilder& TraceBuilder::TaskSeed(int64_t time, int32_t cpu, int32_t task, bool on_rq,
                                     int32_t queued_on) {
  return Add(time, cpu,
             TaskSeedEvent{Tid{task}, on_rq, CpuId{queued_on}, StandingOf(task), std::nullopt});
}

TraceBuilder& TraceBuilder::Loss(int32_t cpu, int64_t begin, int64_t end) {
  recording_.losses.push_back({CpuId{cpu}, begin * unit_ns_, end * unit_ns_, 1});
  return *this;
}

TraceBuilder& TraceBuilder::Omitted(int64_t begin, int64_t end) {
  recording_.omitted.push_back({begin * unit_ns_, end * unit_ns_});
  return *this;
}

TraceBuilder& TraceBuilder::End(int64_t time) {
  recording_.end_ns = time * unit_ns_;
  return *this;
}

TraceBuilder& TraceBuilder::Late(int64_t release, int64_t deadline, int64_t completion,
                                 int64_t demand) {
  CellFrames& frames = recording_.frames;
  frames.pacing = Pacing::kSkip;
  frames.origin_ns = release * unit_ns_;
  frames.period = {(deadline - release) * unit_ns_, 1};
  frames.end_ns = deadline * unit_ns_;
  return Frame(0, completion, demand);
}

TraceBuilder& TraceBuilder::Pace(Pacing pacing, int64_t period, int64_t end) {
  CellFrames& frames = recording_.frames;
  frames.pacing = pacing;
  frames.period = {period * unit_ns_, 1};
  frames.end_ns = end * unit_ns_;
  return *this;
}

TraceBuilder& TraceBuilder::Frame(int64_t index, int64_t completion, int64_t demand) {
  CellFrames& frames = recording_.frames;
  whylate::Frame frame;
  frame.index = index;
  frame.release_ns = frames.ReleaseNs(index);
  frame.start_ns = frame.release_ns;
  frame.completion_ns = completion * unit_ns_;
  frame.demand_ns = demand * unit_ns_;
  frame.cpu_ns = frame.demand_ns;
  frames.frames.push_back(frame);
  return *this;
}

TraceBuilder& TraceBuilder::Passed(std::initializer_list<int64_t> times) {
  CellFrames& frames = recording_.frames;
  for (const int64_t time : times) frames.passed_ns.push_back(time * unit_ns_);
  frames.stage_cpu_ns.push_back(frames.frames.back().cpu_ns);
  frames.stage_cpu_ns.resize(frames.frames.size() * frames.stages.size(), 0);
  return *this;
}

Recording TraceBuilder::Build() const {
  Recording built = recording_;
  std::stable_sort(built.events.begin(), built.events.end(),
                   [](const SchedEvent& a, const SchedEvent& b) { return a.time_ns < b.time_ns; });
  std::map<CpuId, uint64_t> sequence;
  for (SchedEvent& event : built.events) {
    event.sequence = sequence[event.cpu]++;
    built.end_ns = std::max(built.end_ns, event.time_ns);
  }
  for (const whylate::Frame& frame : built.frames.frames) {
    built.end_ns = std::max(built.end_ns, frame.completion_ns + unit_ns_);
  }
  std::sort(built.events.begin(), built.events.end(), Before);
  built.trace->events = built.events.size();
  return built;
}

}  // namespace whylate
