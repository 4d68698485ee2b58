#include "userspace/trace/ftrace_decoder.h"

#include <sched.h>

#include <limits>
#include <string>
#include <utility>

#include "analysis/import/irq_context.h"
#include "analysis/model/cpu_set.h"

namespace whylate {
namespace {

using F = FtraceField;

constexpr uint32_t kReportedStates = 0xff;
constexpr uint32_t kPreempted = 0x100;  // TASK_REPORT_MAX of include/trace/events/sched.h

std::optional<CpuId> ToCpu(std::optional<int64_t> number) {
  if (!number.has_value() || *number < 0 || *number >= CpuSet::kMaxCpus) return std::nullopt;
  return CpuId{static_cast<int32_t>(*number)};
}

}  // namespace

std::optional<Tid> FtraceDecoder::At::TidOf(FtraceField field) const {
  const std::optional<int64_t> number = Number(field);
  if (!number.has_value() || *number < 0 || *number > std::numeric_limits<int32_t>::max()) {
    return std::nullopt;
  }
  return Tid{static_cast<int32_t>(*number)};
}

void FtraceDecoder::At::Emit(SchedEventBody body) const {
  SchedEvent event = head;
  event.body = std::move(body);
  events->push_back(std::move(event));
}

FtraceDecoder::FtraceDecoder(const FtraceFormats* formats, const FtraceDecoderOptions& options)
    : formats_(formats),
      layout_(options.layout),
      has_irq_times_(options.has_irq_times),
      cpu_hierarchy_(options.cpu_hierarchy),
      watched_(options.watched.begin(), options.watched.end()),
      tasks_(options.tasks, options.ext_takes_fair),
      timers_(options.offsets_ns) {}

bool FtraceDecoder::IsWatched(Tid task) const {
  const std::optional<Tgid> tgid = tasks_.TgidOf(task);
  return tgid.has_value() && watched_.contains(*tgid);
}

// Every event that names a task heals a name that was lost.
void FtraceDecoder::Bind(const At& at, Tid task, FtraceField name) {
  std::optional<TaskNameEvent> bound = tasks_.Bind(task, at.format->Text(name, at.bytes));
  if (bound.has_value()) at.Emit(*std::move(bound));
}

void FtraceDecoder::Switch(const At& at) {
  const std::optional<Tid> prev = at.TidOf(F::kTid);
  const std::optional<Tid> next = at.TidOf(F::kNextTid);
  const std::optional<int64_t> number = at.Number(F::kState);
  if (!prev.has_value() || !next.has_value() || !number.has_value()) return;
  const PrevState state = PrevStateOfNumber(static_cast<uint32_t>(*number), layout_);
  SwitchEvent body;
  body.prev = *prev;
  body.next = *next;
  body.out = state.out;
  body.prev_state = state.flags & kReportedStates;
  if (layout_ != StateLayout::kOldFlags) body.preempt = (state.flags & kPreempted) != 0;
  body.prev_standing =
      tasks_.Standing(*prev, at.format->Text(F::kName, at.bytes), at.Number(F::kPriority));
  body.next_standing =
      tasks_.Standing(*next, at.format->Text(F::kNextName, at.bytes), at.Number(F::kNextPriority));
  // Preempted or throttled: both leave in state R, and another task comes on.
  const bool may_be_throttled = state.out == SwitchOut::kRunnable && *next != Tid{0} &&
                                body.prev_standing.sched_class == SchedClass::kFair &&
                                tasks_.HasQuota(*prev);
  if (may_be_throttled) body.out = SwitchOut::kUnknown;
  if (*prev == Tid{0}) body.out = SwitchOut::kRunnable;
  FtraceInterrupts& interrupts = interrupts_[at.head.cpu];
  std::vector<InterruptTimeEvent> taken = interrupts.Switch(at.head.time_ns);
  if (has_irq_times_) {
    body.stolen.irq_ns = interrupts.irq_ns();
    body.stolen.softirq_ns = interrupts.softirq_ns();
  }
  Bind(at, *prev, F::kName);
  Bind(at, *next, F::kNextName);
  // Nobody is delayed by what is taken from the idle task.
  if (*prev == Tid{0}) taken.clear();
  for (InterruptTimeEvent& event : taken) at.Emit(std::move(event));
  at.Emit(std::move(body));
}

void FtraceDecoder::Waking(const At& at) {
  const std::optional<Tid> wakee = at.TidOf(F::kTid);
  const std::optional<int64_t> flags = at.format->Flags(at.bytes);
  const std::optional<int64_t> current = at.format->CurrentTid(at.bytes);
  if (!wakee.has_value() || !flags.has_value() || !current.has_value() || *current < 0) return;
  WakingEvent body;
  body.wakee = *wakee;
  body.waker = Tid{static_cast<int32_t>(*current)};
  body.context = ContextOfCommonFlags(static_cast<uint64_t>(*flags));
  interrupts_[at.head.cpu].Describe(body.context, &body);
  Bind(at, *wakee, F::kName);
  at.Emit(std::move(body));
}

void FtraceDecoder::Wakeup(const At& at, bool is_new) {
  const std::optional<Tid> wakee = at.TidOf(F::kTid);
  const std::optional<CpuId> target = ToCpu(at.Number(F::kCpu));
  if (!wakee.has_value() || !target.has_value()) return;
  Bind(at, *wakee, F::kName);
  at.Emit(WakeupEvent{
      *wakee, *target, is_new,
      tasks_.Standing(*wakee, at.format->Text(F::kName, at.bytes), at.Number(F::kPriority))});
}

void FtraceDecoder::Migrate(const At& at) {
  const std::optional<Tid> task = at.TidOf(F::kTid);
  const std::optional<CpuId> from = ToCpu(at.Number(F::kFromCpu));
  const std::optional<CpuId> to = ToCpu(at.Number(F::kCpu));
  if (!task.has_value() || !from.has_value() || !to.has_value()) return;
  at.Emit(MigrateEvent{*task, *from, *to});
}

void FtraceDecoder::Life(const At& at) {
  const std::optional<Tid> task = at.TidOf(F::kTid);
  if (!task.has_value()) return;
  switch (at.format->row().kind) {
    case FtraceKind::kNewTask:
      // Comes right before the fork, and alone knows whether the child is a thread.
      new_threads_.erase(*task);
      if ((at.Number(F::kCloneFlags).value_or(0) & CLONE_THREAD) != 0) new_threads_.insert(*task);
      break;
    case FtraceKind::kFork: {
      const std::optional<Tid> child = at.TidOf(F::kNextTid);
      if (!child.has_value()) return;
      TaskNameEvent name = tasks_.Fork(*task, *child, new_threads_.erase(*child) > 0,
                                       at.format->Text(F::kNextName, at.bytes));
      at.Emit(ForkEvent{*task, *child, name.tgid.value_or(Tgid{child->value})});
      at.Emit(std::move(name));
      break;
    }
    case FtraceKind::kExec:
      at.Emit(tasks_.Exec(*task));
      break;
    case FtraceKind::kRename:
      at.Emit(tasks_.Rename(*task, at.format->Text(F::kName, at.bytes)));
      break;
    default:
      at.Emit(ExitEvent{*task});
  }
}

void FtraceDecoder::Cgroup(const At& at) {
  const std::optional<Tid> task = at.TidOf(F::kTid);
  const std::optional<int64_t> hierarchy = at.Number(F::kHierarchy);
  const std::optional<int64_t> current = at.format->CurrentTid(at.bytes);
  if (!task.has_value() || !hierarchy.has_value() || !current.has_value()) return;
  if (hierarchy == cpu_hierarchy_) tasks_.SetQuota(*task);
  if (!IsWatched(*task)) return;
  at.Emit(CgroupEvent{*task, std::string(at.format->Text(F::kName, at.bytes)),
                      Tid{static_cast<int32_t>(*current)}});
}

void FtraceDecoder::Stop(const At& at) {
  const std::optional<Tid> task = at.TidOf(F::kTid);
  const std::optional<int64_t> current = at.format->CurrentTid(at.bytes);
  if (!task.has_value() || !current.has_value() || !IsWatched(*task)) return;
  at.Emit(StopEvent{*task, Tid{static_cast<int32_t>(*current)}});
}

void FtraceDecoder::Interrupt(const At& at) {
  FtraceInterrupts& interrupts = interrupts_[at.head.cpu];
  const int64_t time_ns = at.head.time_ns;
  switch (at.format->row().kind) {
    case FtraceKind::kHardEntry:
      interrupts.HardEntry(time_ns, static_cast<int32_t>(at.Number(F::kIrq).value_or(0)),
                           at.format->Text(F::kName, at.bytes));
      break;
    case FtraceKind::kVectorEntry:
      interrupts.HardEntry(time_ns, std::nullopt, at.format->row().source);
      break;
    case FtraceKind::kHardExit:
      interrupts.HardExit(time_ns);
      break;
    case FtraceKind::kSoftEntry:
      interrupts.SoftEntry(time_ns, static_cast<uint64_t>(at.Number(F::kVector).value_or(-1)));
      break;
    default:
      interrupts.SoftExit(time_ns);
  }
}

void FtraceDecoder::Timer(const At& at) {
  const std::optional<int64_t> timer = at.Number(F::kTimer);
  const std::optional<int64_t> number = at.format->CurrentTid(at.bytes);
  if (!timer.has_value() || !number.has_value()) return;
  const Tid current{static_cast<int32_t>(*number)};
  if (at.format->row().kind == FtraceKind::kTimerSetup) {
    if (const auto clock = at.Number(F::kClock); clock.has_value() && IsWatched(current)) {
      timers_.Setup(current, *timer, *clock);
    }
  } else if (at.format->row().kind == FtraceKind::kTimerStart) {
    const std::optional<int64_t> expires_ns = at.Number(F::kExpires);
    const std::optional<int64_t> mode = at.Number(F::kMode);
    if (!expires_ns.has_value() || !mode.has_value()) return;
    const std::optional<TimerStartEvent> start =
        timers_.Start(current, IsWatched(current), *timer, *expires_ns, *mode);
    if (start.has_value()) at.Emit(*start);
  } else if (const std::optional<int64_t> now_ns = at.Number(F::kNow); now_ns.has_value()) {
    const std::optional<TimerExpireEvent> expiry = timers_.Expire(*timer, *now_ns);
    if (expiry.has_value()) at.Emit(*expiry);
  }
}

void FtraceDecoder::Decode(const FtraceRecord& record, CpuId cpu, uint64_t sequence,
                           std::vector<SchedEvent>* events) {
  At at;
  at.head.time_ns = record.time_ns;
  at.head.cpu = cpu;
  at.head.sequence = sequence;
  at.bytes = record.bytes;
  at.format = formats_->Find(record.bytes);
  at.events = events;
  if (at.format == nullptr) return;
  switch (at.format->row().kind) {
    case FtraceKind::kSwitch:
      return Switch(at);
    case FtraceKind::kWaking:
      return Waking(at);
    case FtraceKind::kWakeup:
      return Wakeup(at, /*is_new=*/false);
    case FtraceKind::kWakeupNew:
      return Wakeup(at, /*is_new=*/true);
    case FtraceKind::kMigrate:
      return Migrate(at);
    case FtraceKind::kNewTask:
    case FtraceKind::kFork:
    case FtraceKind::kExec:
    case FtraceKind::kExit:
    case FtraceKind::kRename:
      return Life(at);
    case FtraceKind::kCgroup:
      return Cgroup(at);
    case FtraceKind::kStop:
      return Stop(at);
    case FtraceKind::kHardEntry:
    case FtraceKind::kVectorEntry:
    case FtraceKind::kHardExit:
    case FtraceKind::kSoftEntry:
    case FtraceKind::kSoftExit:
      return Interrupt(at);
    case FtraceKind::kTimerSetup:
    case FtraceKind::kTimerStart:
    case FtraceKind::kTimerExpire:
      return Timer(at);
    case FtraceKind::kCallEnter:
    case FtraceKind::kCallExit:
      return;
  }
}

void FtraceDecoder::Lost(CpuId cpu) {
  interrupts_[cpu].Reset();
  timers_.Reset();
  new_threads_.clear();
}

}  // namespace whylate
