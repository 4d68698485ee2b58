#include "userspace/trace/wire_decoder.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "analysis/model/cpu_set.h"
#include "analysis/model/ids.h"
#include "analysis/model/sched_event.h"
#include "analysis/model/status_macros.h"
#include "bpf/sched_event.h"

namespace whylate {
namespace {

struct TypeRow {
  size_t size_bytes;
  WireKind kind;
};

// By enum whylate_type.
constexpr TypeRow kTypes[] = {
    {0, WireKind::kWindowed},
    {sizeof(whylate_switch), WireKind::kSwitch},
    {sizeof(whylate_waking), WireKind::kWindowed},
    {sizeof(whylate_wakeup), WireKind::kWindowed},
    {sizeof(whylate_wakeup), WireKind::kWindowed},
    {sizeof(whylate_migrate), WireKind::kWindowed},
    {sizeof(whylate_fork), WireKind::kAlways},
    {sizeof(whylate_exit), WireKind::kAlways},
    {sizeof(whylate_name), WireKind::kAlways},
    {sizeof(whylate_timer_start), WireKind::kWindowed},
    {sizeof(whylate_timer_expire), WireKind::kWindowed},
    {sizeof(whylate_affinity), WireKind::kWindowed},
    {sizeof(whylate_cpu_seed), WireKind::kAlways},
    {sizeof(whylate_task_seed), WireKind::kAlways},
    {sizeof(whylate_irq_time), WireKind::kWindowed},
    {sizeof(whylate_stack), WireKind::kWindowed},
    {sizeof(whylate_work), WireKind::kWindowed},
    {sizeof(whylate_unthrottle), WireKind::kWindowed},
    {sizeof(whylate_new_standing), WireKind::kAlways},
    {sizeof(whylate_cgroup), WireKind::kAlways},
    {sizeof(whylate_stop), WireKind::kAlways},
};
static_assert(sizeof(kTypes) / sizeof(kTypes[0]) == WHYLATE_TYPE_END);

// include/linux/interrupt.h, the softirq vectors; also printed by the kernel in /proc/softirqs.
constexpr const char* kSoftirqNames[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
                                         "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};
// By enum whylate_irq_source.
constexpr const char* kIrqSourceNames[] = {
    "", "", "local_timer", "reschedule", "call_function", "irq_work", "ipi"};
static_assert(sizeof(kIrqSourceNames) / sizeof(kIrqSourceNames[0]) == WHYLATE_IRQ_SOURCE_END);

constexpr uint32_t kTaskDead = 0x80;  // include/linux/sched.h, TASK_DEAD
constexpr uint8_t kSchedIdle = 5;     // include/uapi/linux/sched.h
constexpr uint8_t kSchedExt = 7;

// The record as its type; the caller has checked the length.
template <typename T>
T As(absl::Span<const uint8_t> record) {
  T value;
  std::memcpy(&value, record.data(), sizeof(value));
  return value;
}

Tid ToTid(uint32_t tid) { return Tid{static_cast<int32_t>(tid)}; }
Tgid ToTgid(uint32_t tgid) { return Tgid{static_cast<int32_t>(tgid)}; }

// Kernel names end at a NUL, or fill their field.
template <size_t kSize>
std::string Name(const char (&name)[kSize]) {
  return std::string(name, strnlen(name, sizeof(name)));
}

std::optional<int64_t> TimeBefore(int64_t time_ns, uint32_t ago_ns) {
  if (ago_ns == WHYLATE_NS_UNKNOWN) return std::nullopt;
  return time_ns - static_cast<int64_t>(ago_ns);
}

uint64_t Join(uint32_t low, uint8_t high) { return low | (static_cast<uint64_t>(high) << 32); }

WakerContext ToContext(uint8_t context) {
  switch (context) {
    case WHYLATE_IN_TASK:
      return WakerContext::kTask;
    case WHYLATE_IN_IRQ:
      return WakerContext::kHardIrq;
    case WHYLATE_IN_SOFTIRQ:
      return WakerContext::kSoftIrq;
    default:
      return WakerContext::kUnknown;
  }
}

bool IsDevice(uint8_t context, uint8_t source) {
  return context == WHYLATE_IN_IRQ && source == WHYLATE_IRQ_DEVICE;
}

// The order is that of the definition of SwitchOut. A delayed dequeue leaves the task on the queue
// although it sleeps; a throttled one has been dequeued although it does not.
SwitchOut Classify(uint8_t bits, uint32_t prev_state) {
  if (bits & WHYLATE_PREV_DELAYED) return SwitchOut::kBlocked;
  if (bits & WHYLATE_PREV_THROTTLED) return SwitchOut::kThrottled;
  if (bits & WHYLATE_PREV_ON_RQ) return SwitchOut::kRunnable;
  return prev_state & kTaskDead ? SwitchOut::kExited : SwitchOut::kBlocked;
}

}  // namespace

absl::StatusOr<size_t> FirstRecordSize(absl::Span<const uint8_t> records) {
  if (records.size() < sizeof(whylate_header)) {
    return absl::DataLossError(
        absl::StrCat("a record of ", records.size(), " bytes is shorter than its header"));
  }
  const auto header = As<whylate_header>(records);
  if (header.type == 0 || header.type >= WHYLATE_TYPE_END) {
    return absl::DataLossError(absl::StrCat("a record has the unknown type ", header.type));
  }
  const size_t size_bytes = kTypes[header.type].size_bytes;
  if (records.size() < size_bytes) {
    return absl::DataLossError(absl::StrCat("a record of type ", header.type, " has ",
                                            records.size(), " bytes, not ", size_bytes));
  }
  return size_bytes;
}

absl::StatusOr<WireHeader> PeekHeader(absl::Span<const uint8_t> record) {
  ASSIGN_OR_RETURN(const size_t size_bytes, FirstRecordSize(record));
  const auto header = As<whylate_header>(record);
  if (record.size() != size_bytes) {
    return absl::DataLossError(absl::StrCat("a record of type ", header.type, " has ",
                                            record.size(), " bytes, not ", size_bytes));
  }
  // The kernel's clock starts at 0; sums and differences of such times cannot overflow.
  constexpr uint64_t kLastTimeNs = uint64_t{1} << 62;
  if (header.time_ns >= kLastTimeNs) {
    return absl::DataLossError(absl::StrCat("a record has the time ", header.time_ns, " ns"));
  }
  WireHeader result;
  result.time_ns = static_cast<int64_t>(header.time_ns);
  result.cpu = CpuId{header.cpu};
  result.sequence = header.sequence;
  result.kind = kTypes[header.type].kind;
  if (header.type == WHYLATE_AFFINITY &&
      As<whylate_affinity>(record).kind == WHYLATE_AFFINITY_SET) {
    result.kind = WireKind::kAlways;
  }
  // The mask of a seed stays with it; only seeds are not counted.
  if (header.sequence == 0) result.kind = WireKind::kAlways;
  return result;
}

absl::StatusOr<WireDecoder> WireDecoder::Create(WireDecoderOptions options) {
  if (options.abi_version != WHYLATE_ABI_VERSION) {
    return absl::FailedPreconditionError(
        absl::StrCat("the eBPF programs write version ", options.abi_version,
                     " of the record format, this decoder reads version ", WHYLATE_ABI_VERSION,
                     ": build both from the same tree"));
  }
  return WireDecoder(std::move(options));
}

int64_t WireDecoder::Counter::Update(uint64_t low_40_bits) {
  if (!is_known) {
    is_known = true;
    value = static_cast<int64_t>(low_40_bits);
    return value;
  }
  // The difference modulo 2^40, as a signed number: records that an interrupt's overtook go back.
  const uint64_t difference = (low_40_bits - static_cast<uint64_t>(value)) << 24;
  value += static_cast<int64_t>(difference) >> 24;
  return value;
}

TaskStanding WireDecoder::Standing(int32_t tid, const whylate_standing& wire) const {
  TaskStanding standing;
  const uint8_t prio = wire.prio;
  const uint8_t policy = wire.policy;
  const uint8_t plain_policy = policy & WHYLATE_POLICY_MASK;
  if (tid == 0) {
    standing.sched_class = SchedClass::kIdle;
  } else if (policy & WHYLATE_POLICY_STOP) {
    standing.sched_class = SchedClass::kStop;
  } else if (prio == 0) {
    standing.sched_class = SchedClass::kDeadline;
  } else if (prio < 100) {
    // The effective priority, so that a boosted task is where it was boosted to.
    standing.sched_class = SchedClass::kRealTime;
    standing.rt_priority = 100 - prio;
  } else if (prio > 100 && prio <= 140) {
    standing.sched_class = SchedClass::kFair;
    if (plain_policy == kSchedIdle) standing.sched_class = SchedClass::kIdlePolicy;
    if (plain_policy == kSchedExt || options_.ext_takes_fair) {
      standing.sched_class = SchedClass::kExt;
    }
    standing.nice = prio - 121;
  }
  return standing;
}

void WireDecoder::DecodeSwitch(absl::Span<const uint8_t> record, SchedEvent* event) {
  const auto wire = As<whylate_switch>(record);
  CpuState& cpu = cpus_[event->cpu.value];
  SwitchEvent body;
  body.prev = ToTid(wire.prev);
  body.next = ToTid(wire.next);
  body.out = Classify(wire.bits, wire.prev_state);
  body.prev_state = wire.prev_state;
  body.prev_standing = Standing(body.prev.value, wire.prev_standing);
  body.next_standing = Standing(body.next.value, wire.next_standing);
  body.next_by_dl_server = (wire.bits & WHYLATE_NEXT_DL_SERVER) != 0;
  body.preempt = (wire.bits & WHYLATE_PREEMPT) != 0;
  body.prev_in_iowait = (wire.bits & WHYLATE_PREV_IOWAIT) != 0;
  body.prev_arrival_ns = TimeBefore(event->time_ns, wire.prev_arrival_ago_ns);
  body.next_queued_ns = TimeBefore(event->time_ns, wire.next_queued_ago_ns);
  if (options_.has_irq_times) {
    body.stolen.irq_ns = cpu.irq.Update(Join(wire.irq_ns_low, wire.irq_ns_high));
    body.stolen.softirq_ns = cpu.softirq.Update(Join(wire.softirq_ns_low, wire.softirq_ns_high));
  }
  if (wire.bits & WHYLATE_HAS_STEAL) {
    body.stolen.steal_ns = cpu.steal.Update(Join(wire.steal_ns_low, wire.steal_ns_high));
  }
  event->body = std::move(body);
}

std::string WireDecoder::SourceName(uint8_t context, uint8_t source, uint32_t irq) const {
  if (IsDevice(context, source)) {
    const auto name = options_.irq_names.find(static_cast<int32_t>(irq));
    return name == options_.irq_names.end() ? "" : name->second;
  }
  if (context == WHYLATE_IN_IRQ && source < WHYLATE_IRQ_SOURCE_END) return kIrqSourceNames[source];
  if (context == WHYLATE_IN_SOFTIRQ && source < sizeof(kSoftirqNames) / sizeof(kSoftirqNames[0])) {
    return kSoftirqNames[source];
  }
  return "";
}

void WireDecoder::DecodeWaking(absl::Span<const uint8_t> record, SchedEvent* event) {
  const auto wire = As<whylate_waking>(record);
  WakingEvent body;
  body.wakee = ToTid(wire.wakee);
  body.waker = ToTid(wire.waker);
  body.wakee_on_rq = (wire.bits & WHYLATE_WAKEE_ON_RQ) != 0;
  body.wakee_on_cpu = (wire.bits & WHYLATE_WAKEE_ON_CPU) != 0;
  body.context = ToContext(wire.context);
  body.source_name = SourceName(wire.context, wire.source, wire.irq);
  if (IsDevice(wire.context, wire.source)) body.irq = static_cast<int32_t>(wire.irq);
  event->body = std::move(body);
}

void WireDecoder::DecodeAffinity(absl::Span<const uint8_t> record, SchedEvent event,
                                 std::vector<SchedEvent>* events) {
  const auto wire = As<whylate_affinity>(record);
  CpuState& cpu = cpus_[event.cpu.value];
  if (wire.first_cpu == 0) {
    cpu.mask = CpuSet();
  } else if (wire.first_cpu != cpu.next_mask_cpu) {
    cpu.next_mask_cpu = -1;  // a chunk was lost, and with it the mask
    return;
  }
  cpu.next_mask_cpu = wire.is_last ? -1 : wire.first_cpu + WHYLATE_MASK_CPUS;
  for (int32_t i = 0; i < WHYLATE_MASK_CPUS; ++i) {
    const int32_t id = wire.first_cpu + i;
    if (id >= options_.possible_cpus) break;
    if ((wire.mask[i / 64] >> (i % 64)) & 1) cpu.mask.Add(CpuId{id});
  }
  if (!wire.is_last) return;
  CpuSet mask = std::exchange(cpu.mask, CpuSet());
  const Tid task = ToTid(wire.task);
  if (wire.kind == WHYLATE_AFFINITY_SET) {
    event.body = AffinityEvent{task, std::move(mask), ToTid(wire.by)};
    events->push_back(std::move(event));
    return;
  }
  // A mask whose record was lost or dropped belongs to nothing.
  if (!cpu.has_event || cpu.event_time_ns != event.time_ns || mask.empty()) return;
  SchedEventBody& owner = (*events)[cpu.event].body;
  if (auto* switched = std::get_if<SwitchEvent>(&owner)) {
    if (switched->prev == task) {
      switched->prev_allowed = std::move(mask);
    } else if (switched->next == task) {
      switched->next_allowed = std::move(mask);
    }
  } else if (auto* waking = std::get_if<WakingEvent>(&owner)) {
    if (waking->wakee == task) waking->allowed = std::move(mask);
  } else if (auto* seed = std::get_if<TaskSeedEvent>(&owner)) {
    if (seed->task == task) seed->allowed = std::move(mask);
  }
}

bool WireDecoder::DecodeTask(absl::Span<const uint8_t> record, SchedEvent* event) const {
  switch (As<whylate_header>(record).type) {
    case WHYLATE_WAKEUP:
    case WHYLATE_WAKEUP_NEW: {
      const auto wire = As<whylate_wakeup>(record);
      const Tid wakee = ToTid(wire.wakee);
      event->body = WakeupEvent{wakee, CpuId{wire.target}, wire.header.type == WHYLATE_WAKEUP_NEW,
                                Standing(wakee.value, wire.standing),
                                (wire.header.flags & WHYLATE_WAKEE_THROTTLED) != 0};
      return true;
    }
    case WHYLATE_MIGRATE: {
      const auto wire = As<whylate_migrate>(record);
      event->body = MigrateEvent{ToTid(wire.task), CpuId{wire.from}, CpuId{wire.to}};
      return true;
    }
    case WHYLATE_EXIT:
      event->body = ExitEvent{ToTid(As<whylate_exit>(record).task)};
      return true;
    case WHYLATE_NAME: {
      const auto wire = As<whylate_name>(record);
      event->body = TaskNameEvent{ToTid(wire.task), ToTgid(wire.tgid), Name(wire.name),
                                  wire.is_kernel_thread != 0};
      return true;
    }
    case WHYLATE_TIMER_START: {
      const auto wire = As<whylate_timer_start>(record);
      const bool is_relative = (wire.mode & 1) != 0;  // HRTIMER_MODE_REL
      event->body = TimerStartEvent{ToTid(wire.task), wire.expires_ns, !is_relative};
      return true;
    }
    case WHYLATE_TIMER_EXPIRE: {
      const auto wire = As<whylate_timer_expire>(record);
      event->body = TimerExpireEvent{ToTid(wire.task), wire.expires_ns, wire.now_ns};
      return true;
    }
    default:
      return false;
  }
}

bool WireDecoder::DecodeFact(absl::Span<const uint8_t> record, SchedEvent* event) const {
  switch (As<whylate_header>(record).type) {
    case WHYLATE_IRQ_TIME: {
      const auto wire = As<whylate_irq_time>(record);
      InterruptTimeEvent body;
      body.context = ToContext(wire.context);
      if (IsDevice(wire.context, wire.source)) body.irq = static_cast<int32_t>(wire.irq);
      body.source_name = SourceName(wire.context, wire.source, wire.irq);
      body.ns = static_cast<int64_t>(wire.ns);
      body.count = wire.count;
      event->body = std::move(body);
      return true;
    }
    case WHYLATE_WORK: {
      const auto wire = As<whylate_work>(record);
      event->body = WorkEvent{ToTid(wire.task), Name(wire.work)};
      return true;
    }
    case WHYLATE_UNTHROTTLE: {
      const auto wire = As<whylate_unthrottle>(record);
      UnthrottleEvent body{ToTid(wire.task), Name(wire.group), std::nullopt, std::nullopt};
      if (wire.quota_ns != 0) {
        body.quota_ns = static_cast<int64_t>(wire.quota_ns);
        body.period_ns = static_cast<int64_t>(wire.period_ns);
      }
      event->body = std::move(body);
      return true;
    }
    case WHYLATE_STANDING: {
      const auto wire = As<whylate_new_standing>(record);
      const Tid task = ToTid(wire.task);
      event->body = StandingEvent{task, Standing(task.value, wire.standing), ToTid(wire.by)};
      return true;
    }
    case WHYLATE_CGROUP: {
      const auto wire = As<whylate_cgroup>(record);
      event->body = CgroupEvent{ToTid(wire.task), Name(wire.path), ToTid(wire.by)};
      return true;
    }
    case WHYLATE_STOP: {
      const auto wire = As<whylate_stop>(record);
      event->body = StopEvent{ToTid(wire.task), ToTid(wire.by)};
      return true;
    }
    default:
      return false;
  }
}

void WireDecoder::DecodeStack(absl::Span<const uint8_t> record, const SchedEvent& event,
                              std::vector<SchedEvent>* events) const {
  const auto wire = As<whylate_stack>(record);
  const auto cpu = cpus_.find(event.cpu.value);
  const auto stack = options_.stacks.find(wire.stack);
  if (stack == options_.stacks.end() || cpu == cpus_.end() || !cpu->second.has_event ||
      cpu->second.event_time_ns != event.time_ns) {
    return;  // its switch was lost or dropped
  }
  auto* switched = std::get_if<SwitchEvent>(&(*events)[cpu->second.event].body);
  if (switched != nullptr && switched->prev == ToTid(wire.task)) switched->stack = stack->second;
}

bool WireDecoder::DecodeSeed(absl::Span<const uint8_t> record, SchedEvent* event,
                             std::vector<SchedEvent>* events) const {
  switch (As<whylate_header>(record).type) {
    case WHYLATE_FORK: {
      const auto wire = As<whylate_fork>(record);
      const Tid child = ToTid(wire.child);
      const Tgid tgid = ToTgid(wire.child_tgid);
      event->body = ForkEvent{ToTid(wire.parent), child, tgid};
      events->push_back(*event);
      event->body = TaskNameEvent{child, tgid, Name(wire.name), wire.is_kernel_thread != 0};
      return true;
    }
    case WHYLATE_CPU_SEED: {
      const auto wire = As<whylate_cpu_seed>(record);
      const Tid task = ToTid(wire.current_task);
      event->body = CpuSeedEvent{task, Standing(task.value, wire.standing)};
      return true;
    }
    case WHYLATE_TASK_SEED: {
      const auto wire = As<whylate_task_seed>(record);
      const Tid task = ToTid(wire.task);
      event->body = TaskNameEvent{task, ToTgid(wire.tgid), Name(wire.name),
                                  (wire.bits & WHYLATE_SEED_KERNEL_THREAD) != 0};
      events->push_back(*event);
      event->body =
          TaskSeedEvent{task, (wire.bits & WHYLATE_SEED_ON_RQ) != 0, CpuId{wire.queued_on},
                        Standing(task.value, wire.standing), std::nullopt};
      return true;
    }
    default:
      return false;
  }
}

absl::Status WireDecoder::Decode(absl::Span<const uint8_t> record, uint64_t sequence,
                                 std::vector<SchedEvent>* events) {
  ASSIGN_OR_RETURN(const WireHeader peeked, PeekHeader(record));
  const auto header = As<whylate_header>(record);
  SchedEvent event;
  event.time_ns = peeked.time_ns;
  event.cpu = peeked.cpu;
  event.sequence = sequence;
  if (header.type == WHYLATE_AFFINITY) {
    DecodeAffinity(record, std::move(event), events);
    return absl::OkStatus();
  }
  if (header.type == WHYLATE_STACK) {
    DecodeStack(record, event, events);
    return absl::OkStatus();
  }
  if (header.type == WHYLATE_SWITCH) {
    DecodeSwitch(record, &event);
  } else if (header.type == WHYLATE_WAKING) {
    DecodeWaking(record, &event);
  } else if (!DecodeTask(record, &event) && !DecodeFact(record, &event) &&
             !DecodeSeed(record, &event, events)) {
    return absl::InternalError("a record type has a size, and no decoder");
  }
  if (header.flags & (WHYLATE_MASK_PREV | WHYLATE_MASK_NEXT)) {
    CpuState& cpu = cpus_[event.cpu.value];
    cpu.has_event = true;
    cpu.event = events->size();
    cpu.event_time_ns = event.time_ns;
  }
  events->push_back(std::move(event));
  return absl::OkStatus();
}

}  // namespace whylate
