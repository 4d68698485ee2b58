#include "analysis/import/trace_dat_events.h"

#include <event-parse.h>

#include <algorithm>
#include <limits>

#include "absl/types/span.h"
#include "analysis/import/ftrace_field.h"

namespace whylate {
namespace {

constexpr size_t kPrevState = 6;  // of a switch
constexpr size_t kNoField = 7;    // always null

// The caller has looked that there are some.
absl::Span<const uint8_t> BytesOf(const tep_record& record) {
  return {static_cast<const uint8_t*>(record.data), static_cast<size_t>(record.size)};
}

std::optional<WakerContext> ContextOfRecord(tep_handle* tep, tep_record* record) {
  const int flags = tep_data_flags(tep, record);
  if (flags < 0) return std::nullopt;
  return ContextOfCommonFlags(static_cast<uint64_t>(flags));
}

}  // namespace

TraceDatEvents::TraceDatEvents(tep_handle* tep, EventCollector* collector, absl::string_view kernel)
    : tep_(tep), collector_(collector), layout_(LayoutOfKernel(kernel)) {
  if (layout_ == StateLayout::kIndices) collector_->Note("states of a 4.14 kernel are indices");
}

std::optional<int64_t> TraceDatEvents::FirstNs(CpuId cpu) const {
  auto found = streams_.find(cpu);
  if (found == streams_.end()) return std::nullopt;
  return found->second.first_ns;
}

std::optional<int64_t> TraceDatEvents::LastNs(CpuId cpu) const {
  auto found = streams_.find(cpu);
  if (found == streams_.end()) return std::nullopt;
  return found->second.last_ns;
}

bool TraceDatEvents::ToldLoss(CpuId cpu) const {
  auto found = streams_.find(cpu);
  return found != streams_.end() && found->second.told_loss;
}

const TraceDatEvents::Format& TraceDatEvents::FormatOf(int32_t id) {
  struct Row {
    const char* event;
    Kind kind;
    const char* fields[kNoField];
  };
  static constexpr Row kRows[] = {
      {"sched_switch",
       Kind::kSwitch,
       {"prev_comm", "prev_pid", "prev_prio", "next_comm", "next_pid", "next_prio", "prev_state"}},
      {"sched_waking", Kind::kWaking, {"comm", "pid", "prio", "target_cpu", "success"}},
      {"sched_wakeup", Kind::kWakeup, {"comm", "pid", "prio", "target_cpu", "success"}},
      {"sched_wakeup_new", Kind::kWakeupNew, {"comm", "pid", "prio", "target_cpu", "success"}},
      {"sched_migrate_task", Kind::kMigrate, {"comm", "pid", "prio", "orig_cpu", "dest_cpu"}},
      {"sched_process_fork", Kind::kFork, {"parent_comm", "parent_pid", "child_comm", "child_pid"}},
      {"sched_process_exit", Kind::kExit, {"comm", "pid", "prio"}},
      {"task_rename", Kind::kRename, {"newcomm", "pid"}},
      {"irq_handler_entry", Kind::kHardEntry, {"name", "irq"}},
      {"irq_handler_exit", Kind::kHardExit, {}},
      {"softirq_entry", Kind::kSoftEntry, {"vec"}},
      {"softirq_exit", Kind::kSoftExit, {}},
  };
  auto [found, is_new] = formats_.try_emplace(id);
  Format& format = found->second;
  if (!is_new) return format;
  tep_event* event = tep_find_event(tep_, id);
  if (event == nullptr || event->name == nullptr) return format;
  for (const Row& row : kRows) {
    if (absl::string_view(row.event) != event->name) continue;
    format.kind = row.kind;
    for (size_t i = 0; i < std::size(row.fields); ++i) {
      if (row.fields[i] != nullptr) format.fields[i] = tep_find_any_field(event, row.fields[i]);
    }
  }
  return format;
}

std::optional<int64_t> TraceDatEvents::Number(const At& at, size_t index) const {
  return FtraceNumber(at.format->fields[index], BytesOf(*at.record));
}

absl::string_view TraceDatEvents::Text(const At& at, size_t index) const {
  return FtraceText(at.format->fields[index], BytesOf(*at.record));
}

std::optional<TracedTask> TraceDatEvents::Task(const At& at, size_t name, size_t tid,
                                               size_t priority) const {
  const std::optional<int64_t> number = Number(at, tid);
  if (!number.has_value() || *number > std::numeric_limits<int32_t>::max()) return std::nullopt;
  TracedTask task{.tid = Tid{static_cast<int32_t>(std::max<int64_t>(*number, -1))},
                  .name = Text(at, name)};
  if (priority != kNoField) {
    const std::optional<int64_t> value = Number(at, priority);
    if (value.has_value()) {
      task.priority = static_cast<int32_t>(std::clamp<int64_t>(*value, -2, 1000));
    }
  }
  return task;
}

void TraceDatEvents::Switch(const At& at) {
  const std::optional<TracedTask> prev = Task(at, 0, 1, 2);
  const std::optional<TracedTask> next = Task(at, 3, 4, 5);
  const std::optional<int64_t> number = Number(at, kPrevState);
  contexts_.Reset(at.cpu);
  if (!prev.has_value() || !next.has_value()) return collector_->Seen(at.time_ns, at.cpu);
  PrevState state;
  if (number.has_value()) {
    const uint32_t raw = static_cast<uint32_t>(*number & 0xffffffff);
    state = PrevStateOfNumber(raw, layout_.value_or(StateLayout::kFlags));
  }
  collector_->Switch(at.time_ns, at.cpu, *prev, state.out, state.flags, *next);
}

void TraceDatEvents::Wake(const At& at, tep_record* record) {
  const std::optional<TracedTask> wakee = Task(at, 0, 1, 2);
  if (!wakee.has_value() || Number(at, 4) == 0) return collector_->Seen(at.time_ns, at.cpu);
  if (at.format->kind == Kind::kWaking) {
    const TracedWaker waker = contexts_.Waker(at.cpu, Tid{std::max(tep_data_pid(tep_, record), 0)},
                                              ContextOfRecord(tep_, record));
    return collector_->Waking(at.time_ns, at.cpu, *wakee, waker);
  }
  std::optional<CpuId> target;
  if (const auto cpu = Number(at, 3); cpu.has_value() && *cpu >= 0 && *cpu < CpuSet::kMaxCpus) {
    target = CpuId{static_cast<int32_t>(*cpu)};
  }
  collector_->Wakeup(at.time_ns, at.cpu, *wakee, target, at.format->kind == Kind::kWakeupNew);
}

void TraceDatEvents::Others(const At& at) {
  const Kind kind = at.format->kind;
  auto cpu_at = [&](size_t field) {
    const int64_t cpu = Number(at, field).value_or(-1);
    return CpuId{static_cast<int32_t>(std::clamp<int64_t>(cpu, -1, CpuSet::kMaxCpus))};
  };
  if (kind == Kind::kMigrate) {
    const std::optional<TracedTask> task = Task(at, 0, 1, 2);
    if (task.has_value()) collector_->Migrate(at.time_ns, at.cpu, *task, cpu_at(3), cpu_at(4));
  } else if (kind == Kind::kFork) {
    const std::optional<TracedTask> parent = Task(at, 0, 1, kNoField);
    const std::optional<TracedTask> child = Task(at, 2, 3, kNoField);
    if (parent.has_value() && child.has_value()) {
      collector_->Fork(at.time_ns, at.cpu, *parent, *child);
    }
  } else if (kind == Kind::kExit) {
    const std::optional<TracedTask> task = Task(at, 0, 1, 2);
    if (task.has_value()) collector_->Exit(at.time_ns, at.cpu, *task);
  } else if (kind == Kind::kRename) {
    const std::optional<TracedTask> task = Task(at, 0, 1, kNoField);
    if (task.has_value()) {
      collector_->Name(at.time_ns, at.cpu, *task, std::nullopt, /*is_kernel_thread=*/false);
    }
  } else if (kind == Kind::kHardEntry) {
    const int64_t irq = Number(at, 1).value_or(-1);
    contexts_.HardEntry(at.cpu, static_cast<int32_t>(irq & 0x7fffffff), Text(at, 0));
  } else if (kind == Kind::kHardExit) {
    contexts_.HardExit(at.cpu);
  } else if (kind == Kind::kSoftEntry) {
    const int64_t vector = Number(at, 0).value_or(-1);
    contexts_.SoftEntry(at.cpu, SoftirqName(static_cast<uint64_t>(vector)));
  } else if (kind == Kind::kSoftExit) {
    contexts_.SoftExit(at.cpu);
  }
  collector_->Seen(at.time_ns, at.cpu);
}

void TraceDatEvents::LookAtState(tep_record* record) {
  if (record->data == nullptr || record->size <= 0) return;
  At at;
  at.record = record;
  at.format = &FormatOf(tep_data_type(tep_, record));
  if (at.format->kind != Kind::kSwitch) return;
  const int64_t state = Number(at, kPrevState).value_or(0);
  largest_state_ = std::max(largest_state_, static_cast<uint32_t>(state & 0xffffffff));
}

void TraceDatEvents::Record(tep_record* record) {
  ++records_;
  if (record->data == nullptr || record->size <= 0 || record->cpu < 0 ||
      record->cpu >= CpuSet::kMaxCpus ||
      record->ts > static_cast<unsigned long long>(std::numeric_limits<int64_t>::max())) {
    return;
  }
  At at;
  at.time_ns = static_cast<int64_t>(record->ts);
  at.cpu = CpuId{record->cpu};
  at.record = record;
  auto [stream, is_first] = streams_.try_emplace(at.cpu, Stream{at.time_ns, at.time_ns, false});
  if (record->missed_events != 0) {
    std::optional<int64_t> begin_ns;
    if (!is_first) begin_ns = std::min(stream->second.last_ns, at.time_ns);
    // Negative: how many is not known.
    const long long count = std::max<long long>(record->missed_events, 0);
    collector_->Lost(at.cpu, begin_ns, at.time_ns, static_cast<uint64_t>(count));
    contexts_.Reset(at.cpu);
    stream->second.told_loss = true;
  }
  stream->second.last_ns = at.time_ns;
  at.format = &FormatOf(tep_data_type(tep_, record));
  switch (at.format->kind) {
    case Kind::kSwitch:
      return Switch(at);
    case Kind::kWaking:
    case Kind::kWakeup:
    case Kind::kWakeupNew:
      return Wake(at, record);
    default:
      return Others(at);
  }
}

}  // namespace whylate
