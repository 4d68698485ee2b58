#include "analysis/report/perfetto_sched.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "analysis/model/perfetto_facts.h"
#include "analysis/model/perfetto_fields.h"
#include "analysis/report/escape.h"

namespace whylate {
namespace {

using protozero::pbf_writer;

// a - b for any two times: the reader adds it back the same way.
int64_t Since(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

void AddPriority(pbf_writer& message, uint32_t field, Tid tid, const TaskStanding& standing) {
  if (const std::optional<int32_t> priority = perfetto::ReportedPriority(tid, standing)) {
    message.add_int32(field, *priority);
  }
}

}  // namespace

SchedEventWriter::SchedEventWriter(const Recording& recording, PacketStream& packets)
    : packets_(packets) {
  for (const LossInterval& loss : recording.losses) {
    cpus_[loss.cpu].loss_ends.push_back(loss.end_ns);
    cpus_[loss.cpu].gap_begins.push_back(loss.begin_ns);
  }
  for (const CpuDescription& cpu : recording.cpus) cpus_[cpu.cpu];
  for (auto& [id, cpu] : cpus_) {
    for (const OmittedInterval& omitted : recording.omitted) {
      cpu.gap_begins.push_back(omitted.begin_ns);
    }
    std::sort(cpu.loss_ends.begin(), cpu.loss_ends.end());
    std::sort(cpu.gap_begins.begin(), cpu.gap_begins.end());
  }
}

void SchedEventWriter::Add(const SchedEvent& event) {
  event_ = &event;
  cpu_ = &cpus_[event.cpu];
  while (cpu_->next_loss < cpu_->loss_ends.size() &&
         cpu_->loss_ends[cpu_->next_loss] <= event.time_ns) {
    cpu_->lost = true;
    ++cpu_->next_loss;
  }
  if (cpu_->bundle.empty()) {
    pbf_writer bundle(cpu_->bundle);
    bundle.add_uint32(perfetto::FtraceBundle::kCpu, static_cast<uint32_t>(event.cpu.value));
  }
  LeaveAtGaps();
  facts_.clear();
  if (event.sequence != cpu_->next_sequence) Fact("seq", static_cast<int64_t>(event.sequence));
  cpu_->next_sequence = event.sequence + 1;
  std::visit([this](const auto& body) { Write(body); }, event.body);
  cpu_->last_ns = event.time_ns;
  if (++in_stretch_ == kStretchEvents) Flush();
}

void SchedEventWriter::HiddenSwitch(int64_t time_ns, Tid prev, Tid next) {
  using perfetto::SchedSwitch;
  SchedEvent at = *event_;
  at.time_ns = time_ns;
  const SchedEvent* const real = std::exchange(event_, &at);
  std::string facts;
  facts.swap(facts_);
  Standard(perfetto::FtraceEvent::kSchedSwitch, prev, [&](pbf_writer& message) {
    AddTask(message, prev, SchedSwitch::kPrevComm, SchedSwitch::kPrevPid);
    message.add_int64(SchedSwitch::kPrevState, 1);  // asleep: it is not seen to wait
    AddTask(message, next, SchedSwitch::kNextComm, SchedSwitch::kNextPid);
  });
  Generic(perfetto::kHiddenSwitch, true);
  facts.swap(facts_);
  event_ = real;
  cpu_->shown = next;
}

// Who was on the CPU when a gap began is not known to be there in it.
void SchedEventWriter::LeaveAtGaps() {
  while (cpu_->next_gap < cpu_->gap_begins.size() &&
         cpu_->gap_begins[cpu_->next_gap] < event_->time_ns) {
    const int64_t begin_ns = std::max(cpu_->gap_begins[cpu_->next_gap++], cpu_->last_ns);
    if (cpu_->shown && *cpu_->shown != Tid{0}) HiddenSwitch(begin_ns, *cpu_->shown, Tid{0});
  }
}

void SchedEventWriter::Flush() {
  for (auto& [id, cpu] : cpus_) {
    if (cpu.bundle.empty()) continue;
    pbf_writer bundle(cpu.bundle);
    if (cpu.lost) bundle.add_bool(perfetto::FtraceBundle::kLostEvents, true);
    const std::string& encoded = cpu.bundle;
    packets_.Packet([&encoded](pbf_writer& packet) {
      packet.add_message(perfetto::Packet::kFtraceEvents, encoded);
    });
    cpu.bundle.clear();
    cpu.lost = false;
  }
  in_stretch_ = 0;
}

absl::string_view SchedEventWriter::Comm(Tid tid) const {
  if (tid == Tid{0}) return "swapper";
  const auto name = names_.find(tid);
  return name == names_.end() ? absl::string_view() : absl::string_view(name->second);
}

void SchedEventWriter::AddTask(pbf_writer& message, Tid tid, uint32_t comm, uint32_t pid) const {
  const absl::string_view name = Comm(tid);
  if (!name.empty()) AddText(message, comm, name);
  message.add_int32(pid, tid.value);
}

void SchedEventWriter::Standard(uint32_t field, std::optional<Tid> pid, FillMessage fill) {
  pbf_writer bundle(cpu_->bundle);
  pbf_writer event(bundle, perfetto::FtraceBundle::kEvent);
  AddHeader(event, pid);
  pbf_writer message(event, field);
  fill(message);
}

void SchedEventWriter::AddHeader(pbf_writer& event, std::optional<Tid> pid) const {
  event.add_uint64(perfetto::FtraceEvent::kTimestamp, static_cast<uint64_t>(event_->time_ns));
  if (pid) event.add_uint32(perfetto::FtraceEvent::kPid, static_cast<uint32_t>(pid->value));
}

void SchedEventWriter::Fact(absl::string_view name, int64_t value) {
  pbf_writer facts(facts_);
  pbf_writer field(facts, perfetto::GenericEvent::kField);
  AddText(field, perfetto::GenericField::kName, name);
  field.add_int64(perfetto::GenericField::kIntValue, value);
}

void SchedEventWriter::Fact(absl::string_view name, absl::string_view value) {
  pbf_writer facts(facts_);
  pbf_writer field(facts, perfetto::GenericEvent::kField);
  AddText(field, perfetto::GenericField::kName, name);
  AddText(field, perfetto::GenericField::kStrValue, value);
}

void SchedEventWriter::Forgotten(absl::string_view name) {
  pbf_writer facts(facts_);
  pbf_writer field(facts, perfetto::GenericEvent::kField);
  AddText(field, perfetto::GenericField::kName, name);
}

void SchedEventWriter::Caller(const std::optional<Tid>& by) {
  if (by) Fact("by", by->value);
}

void SchedEventWriter::FullStanding(absl::string_view prefix, const TaskStanding& standing) {
  Fact(absl::StrCat(prefix, "class"), perfetto::WordOf(standing.sched_class));
  if (standing.rt_priority) Fact(absl::StrCat(prefix, "rt"), *standing.rt_priority);
  if (standing.nice) Fact(absl::StrCat(prefix, "nice"), *standing.nice);
}

void SchedEventWriter::Standing(absl::string_view prefix, Tid tid, const TaskStanding& standing) {
  const std::optional<int32_t> priority = perfetto::ReportedPriority(tid, standing);
  if (standing == StandingOfPriority(tid, priority)) return;
  FullStanding(prefix, standing);
}

void SchedEventWriter::Allowed(absl::string_view name, const std::optional<CpuSet>& allowed) {
  if (allowed) Fact(name, allowed->ToString());
}

template <typename Value>
void SchedEventWriter::Changed(absl::string_view name, const std::optional<Value>& now,
                               std::optional<Value>& before) {
  if (now == before) return;
  if (now) {
    Fact(name, static_cast<int64_t>(*now));
  } else {
    Forgotten(name);
  }
  before = now;
}

void SchedEventWriter::Generic(absl::string_view name, bool alone) {
  if (facts_.empty() && !alone) return;
  generic_.clear();
  pbf_writer generic(generic_);
  AddText(generic, perfetto::GenericEvent::kEventName, name);
  generic_ += facts_;
  pbf_writer bundle(cpu_->bundle);
  pbf_writer event(bundle, perfetto::FtraceBundle::kEvent);
  AddHeader(event, cpu_->current);
  event.add_message(perfetto::FtraceEvent::kGeneric, generic_);
}

void SchedEventWriter::Write(const SwitchEvent& event) {
  using perfetto::SchedSwitch;
  const uint32_t state =
      perfetto::ReportedState(event.out, event.prev_state, event.preempt.value_or(false));
  if (cpu_->shown && *cpu_->shown != event.prev) {
    const int64_t arrival_ns = event.prev_arrival_ns.value_or(event_->time_ns);
    HiddenSwitch(std::clamp(arrival_ns, std::min(cpu_->last_ns, event_->time_ns), event_->time_ns),
                 *cpu_->shown, event.prev);
  }
  cpu_->shown = event.next;
  Standard(perfetto::FtraceEvent::kSchedSwitch, event.prev, [&](pbf_writer& message) {
    AddTask(message, event.prev, SchedSwitch::kPrevComm, SchedSwitch::kPrevPid);
    AddPriority(message, SchedSwitch::kPrevPrio, event.prev, event.prev_standing);
    message.add_int64(SchedSwitch::kPrevState, state);
    AddTask(message, event.next, SchedSwitch::kNextComm, SchedSwitch::kNextPid);
    AddPriority(message, SchedSwitch::kNextPrio, event.next, event.next_standing);
  });
  if (event.out != perfetto::OutOfReportedState(state)) Fact("out", perfetto::WordOf(event.out));
  if (event.prev_state != state) Fact("state", event.prev_state);
  Standing("prev_", event.prev, event.prev_standing);
  Standing("next_", event.next, event.next_standing);
  if (event.next_by_dl_server) Fact("dl_server", 1);
  if (event.prev_arrival_ns) Fact("ran_ns", Since(event_->time_ns, *event.prev_arrival_ns));
  if (event.next_queued_ns) Fact("queued_ns", Since(event_->time_ns, *event.next_queued_ns));
  Changed("irq_ns", event.stolen.irq_ns, cpu_->stolen.irq_ns);
  Changed("softirq_ns", event.stolen.softirq_ns, cpu_->stolen.softirq_ns);
  Changed("steal_ns", event.stolen.steal_ns, cpu_->stolen.steal_ns);
  Allowed("prev_allowed", event.prev_allowed);
  Allowed("next_allowed", event.next_allowed);
  Changed("preempt", event.preempt, cpu_->preempt);
  Changed("iowait", event.prev_in_iowait, cpu_->iowait);
  if (event.stack) Fact("stack", *event.stack);
  cpu_->current = event.prev;
  Generic(perfetto::kSwitchFacts, false);
  cpu_->current = event.next;
}

void SchedEventWriter::Write(const WakingEvent& event) {
  using perfetto::SchedWakeup;
  Standard(perfetto::FtraceEvent::kSchedWaking, event.waker, [&](pbf_writer& message) {
    AddTask(message, event.wakee, SchedWakeup::kComm, SchedWakeup::kPid);
    message.add_int32(SchedWakeup::kSuccess, 1);
  });
  if (event.context != WakerContext::kTask) Fact("context", perfetto::WordOf(event.context));
  if (event.irq) Fact("irq", *event.irq);
  if (!event.source_name.empty()) Fact("source", perfetto::AsciiOfBytes(event.source_name));
  if (event.wakee_on_rq) Fact("on_rq", *event.wakee_on_rq ? 1 : 0);
  if (event.wakee_on_cpu) Fact("on_cpu", *event.wakee_on_cpu ? 1 : 0);
  Allowed("allowed", event.allowed);
  Generic(perfetto::kWakingFacts, false);
}

void SchedEventWriter::Write(const WakeupEvent& event) {
  using perfetto::SchedWakeup;
  const uint32_t field = event.is_new
                             ? static_cast<uint32_t>(perfetto::FtraceEvent::kSchedWakeupNew)
                             : perfetto::FtraceEvent::kSchedWakeup;
  Standard(field, cpu_->current, [&](pbf_writer& message) {
    AddTask(message, event.wakee, SchedWakeup::kComm, SchedWakeup::kPid);
    AddPriority(message, SchedWakeup::kPrio, event.wakee, event.standing);
    message.add_int32(SchedWakeup::kSuccess, 1);
    message.add_int32(SchedWakeup::kTargetCpu, event.target.value);
  });
  Standing("", event.wakee, event.standing);
  if (event.throttled) Fact("throttled", 1);
  Generic(perfetto::kWakeupFacts, false);
}

void SchedEventWriter::Write(const MigrateEvent& event) {
  using perfetto::SchedMigrateTask;
  Standard(perfetto::FtraceEvent::kSchedMigrateTask, cpu_->current, [&](pbf_writer& message) {
    AddTask(message, event.task, SchedMigrateTask::kComm, SchedMigrateTask::kPid);
    message.add_int32(SchedMigrateTask::kOrigCpu, event.from.value);
    message.add_int32(SchedMigrateTask::kDestCpu, event.to.value);
  });
  Generic(perfetto::kMigrateFacts, false);
}

void SchedEventWriter::Write(const ForkEvent& event) {
  using perfetto::TaskNewtask;
  const bool is_thread = event.child_tgid.value != event.child.value;
  Standard(perfetto::FtraceEvent::kTaskNewtask, event.parent, [&](pbf_writer& message) {
    message.add_int32(TaskNewtask::kPid, event.child.value);
    // The child bears its parent's name until it gets one of its own.
    const absl::string_view name = Comm(event.parent);
    if (!name.empty()) AddText(message, TaskNewtask::kComm, name);
    message.add_uint64(TaskNewtask::kCloneFlags, is_thread ? TaskNewtask::kCloneThread : 0);
  });
  if (is_thread) Fact("tgid", event.child_tgid.value);
  names_[event.child] = std::string(Comm(event.parent));
  Generic(perfetto::kForkFacts, false);
}

void SchedEventWriter::Write(const ExitEvent& event) {
  using perfetto::SchedProcessExit;
  Standard(perfetto::FtraceEvent::kSchedProcessExit, event.task, [&](pbf_writer& message) {
    AddTask(message, event.task, SchedProcessExit::kComm, SchedProcessExit::kPid);
  });
  Generic(perfetto::kExitFacts, false);
}

void SchedEventWriter::Write(const TaskNameEvent& event) {
  using perfetto::TaskRename;
  std::string shown = EscapeForTerminal(event.name);
  Standard(perfetto::FtraceEvent::kTaskRename, event.task, [&](pbf_writer& message) {
    message.add_int32(TaskRename::kPid, event.task.value);
    const absl::string_view old = Comm(event.task);
    if (!old.empty()) AddText(message, TaskRename::kOldcomm, old);
    AddText(message, TaskRename::kNewcomm, shown);
  });
  if (event.tgid) Fact("tgid", event.tgid->value);
  if (event.is_kernel_thread) Fact("kernel", 1);
  if (shown != event.name) Fact("name", perfetto::AsciiOfBytes(event.name));
  names_[event.task] = std::move(shown);
  Generic(perfetto::kNameFacts, false);
}

void SchedEventWriter::Write(const TimerStartEvent& event) {
  Fact("tid", event.task.value);
  Fact("expires_ns", event.expires_ns);
  if (event.absolute) Fact("absolute", 1);
  Generic(perfetto::kTimerStart, true);
}

void SchedEventWriter::Write(const TimerExpireEvent& event) {
  Fact("tid", event.task.value);
  Fact("expires_ns", event.expires_ns);
  Fact("now_ns", event.now_ns);
  Generic(perfetto::kTimerExpire, true);
}

void SchedEventWriter::Write(const AffinityEvent& event) {
  Fact("tid", event.task.value);
  Fact("allowed", event.allowed.ToString());
  Caller(event.by);
  Generic(perfetto::kAffinity, true);
}

void SchedEventWriter::Write(const CpuSeedEvent& event) {
  Fact("tid", event.current.value);
  FullStanding("", event.standing);
  cpu_->current = event.current;
  cpu_->shown = cpu_->shown.value_or(event.current);
  Generic(perfetto::kCpuSeed, true);
}

void SchedEventWriter::Write(const TaskSeedEvent& event) {
  Fact("tid", event.task.value);
  if (event.on_rq) Fact("on_rq", 1);
  Fact("cpu", event.queued_on.value);
  FullStanding("", event.standing);
  Allowed("allowed", event.allowed);
  Generic(perfetto::kTaskSeed, true);
}

void SchedEventWriter::Write(const UnthrottleEvent& event) {
  Fact("tid", event.task.value);
  if (!event.group.empty()) Fact("group", perfetto::AsciiOfBytes(event.group));
  if (event.quota_ns) Fact("quota_ns", *event.quota_ns);
  if (event.period_ns) Fact("period_ns", *event.period_ns);
  Generic(perfetto::kUnthrottle, true);
}

void SchedEventWriter::Write(const InterruptTimeEvent& event) {
  Fact("context", perfetto::WordOf(event.context));
  if (event.irq) Fact("irq", *event.irq);
  if (!event.source_name.empty()) Fact("source", perfetto::AsciiOfBytes(event.source_name));
  Fact("ns", event.ns);
  Fact("count", static_cast<int64_t>(event.count));
  Generic(perfetto::kInterruptTime, true);
}

void SchedEventWriter::Write(const StandingEvent& event) {
  Fact("tid", event.task.value);
  FullStanding("", event.standing);
  Caller(event.by);
  Generic(perfetto::kStanding, true);
}

void SchedEventWriter::Write(const CgroupEvent& event) {
  Fact("tid", event.task.value);
  if (!event.path.empty()) Fact("path", perfetto::AsciiOfBytes(event.path));
  Caller(event.by);
  Generic(perfetto::kCgroup, true);
}

void SchedEventWriter::Write(const StopEvent& event) {
  Fact("tid", event.task.value);
  Caller(event.by);
  Generic(perfetto::kStop, true);
}

void SchedEventWriter::Write(const WorkEvent& event) {
  Fact("tid", event.task.value);
  if (!event.work.empty()) Fact("work", perfetto::AsciiOfBytes(event.work));
  Generic(perfetto::kWork, true);
}

}  // namespace whylate
