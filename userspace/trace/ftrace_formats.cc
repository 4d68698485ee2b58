#include "userspace/trace/ftrace_formats.h"

#include <event-parse.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "analysis/import/ftrace_field.h"
#include "analysis/model/status_macros.h"

namespace whylate {
namespace {

using F = FtraceField;
using K = FtraceKind;

constexpr FtraceEventRow kSchedEvents[] = {
    {"sched",
     "sched_switch",
     K::kSwitch,
     true,
     "",
     {{{F::kName, "prev_comm"},
       {F::kTid, "prev_pid"},
       {F::kPriority, "prev_prio"},
       {F::kState, "prev_state"},
       {F::kNextName, "next_comm"},
       {F::kNextTid, "next_pid"},
       {F::kNextPriority, "next_prio"}}}},
    {"sched", "sched_waking", K::kWaking, true, "", {{{F::kTid, "pid"}, {F::kName, "comm"}}}},
    {"sched",
     "sched_wakeup",
     K::kWakeup,
     true,
     "",
     {{{F::kTid, "pid"}, {F::kName, "comm"}, {F::kPriority, "prio"}, {F::kCpu, "target_cpu"}}}},
    {"sched",
     "sched_wakeup_new",
     K::kWakeupNew,
     true,
     "",
     {{{F::kTid, "pid"}, {F::kName, "comm"}, {F::kPriority, "prio"}, {F::kCpu, "target_cpu"}}}},
    {"sched",
     "sched_migrate_task",
     K::kMigrate,
     true,
     "",
     {{{F::kTid, "pid"}, {F::kFromCpu, "orig_cpu"}, {F::kCpu, "dest_cpu"}}}},
    {"task",
     "task_newtask",
     K::kNewTask,
     false,
     "",
     {{{F::kTid, "pid"}, {F::kCloneFlags, "clone_flags"}}}},
    {"sched",
     "sched_process_fork",
     K::kFork,
     true,
     "",
     {{{F::kTid, "parent_pid"}, {F::kNextTid, "child_pid"}, {F::kNextName, "child_comm"}}}},
    {"sched",
     "sched_process_exec",
     K::kExec,
     false,
     "",
     {{{F::kTid, "pid"}, {F::kOldTid, "old_pid"}}}},
    {"sched", "sched_process_exit", K::kExit, true, "", {{{F::kTid, "pid"}}}},
    {"task", "task_rename", K::kRename, false, "", {{{F::kTid, "pid"}, {F::kName, "newcomm"}}}},
    {"cgroup",
     "cgroup_attach_task",
     K::kCgroup,
     false,
     "",
     {{{F::kTid, "pid"}, {F::kName, "dst_path"}, {F::kHierarchy, "dst_root"}}}},
    {"signal", "signal_generate", K::kStop, false, "", {{{F::kTid, "pid"}}}},
    {"irq",
     "irq_handler_entry",
     K::kHardEntry,
     false,
     "",
     {{{F::kIrq, "irq"}, {F::kName, "name"}}}},
    {"irq", "irq_handler_exit", K::kHardExit, false, "", {}},
    {"irq", "softirq_entry", K::kSoftEntry, false, "", {{{F::kVector, "vec"}}}},
    {"irq", "softirq_exit", K::kSoftExit, false, "", {}},
    // arch/x86/include/asm/trace/irq_vectors.h
    {"irq_vectors", "local_timer_entry", K::kVectorEntry, false, "local_timer", {}},
    {"irq_vectors", "local_timer_exit", K::kHardExit, false, "", {}},
    {"irq_vectors", "reschedule_entry", K::kVectorEntry, false, "reschedule", {}},
    {"irq_vectors", "reschedule_exit", K::kHardExit, false, "", {}},
    {"irq_vectors", "call_function_entry", K::kVectorEntry, false, "call_function", {}},
    {"irq_vectors", "call_function_exit", K::kHardExit, false, "", {}},
    {"irq_vectors", "call_function_single_entry", K::kVectorEntry, false, "call_function", {}},
    {"irq_vectors", "call_function_single_exit", K::kHardExit, false, "", {}},
    {"irq_vectors", "irq_work_entry", K::kVectorEntry, false, "irq_work", {}},
    {"irq_vectors", "irq_work_exit", K::kHardExit, false, "", {}},
#if !defined(__x86_64__)
    // arch/arm64/kernel/smp.c, do_handle_IPI(); its timer is an ordinary irq_handler. On x86-64 this
    // system has other events.
    {"ipi", "ipi_entry", K::kVectorEntry, false, "ipi", {}},
    {"ipi", "ipi_exit", K::kHardExit, false, "", {}},
#endif
    // hrtimer_init until 6.14.
    {"timer",
     "hrtimer_init",
     K::kTimerSetup,
     false,
     "",
     {{{F::kTimer, "hrtimer"}, {F::kClock, "clockid"}}}},
    {"timer",
     "hrtimer_setup",
     K::kTimerSetup,
     false,
     "",
     {{{F::kTimer, "hrtimer"}, {F::kClock, "clockid"}}}},
    {"timer",
     "hrtimer_start",
     K::kTimerStart,
     false,
     "",
     {{{F::kTimer, "hrtimer"}, {F::kExpires, "softexpires"}, {F::kMode, "mode"}}}},
    {"timer",
     "hrtimer_expire_entry",
     K::kTimerExpire,
     false,
     "",
     {{{F::kTimer, "hrtimer"}, {F::kNow, "now"}}}},
};

constexpr FtraceEventRow kCallEvents[] = {
    {"raw_syscalls",
     "sys_enter",
     K::kCallEnter,
     false,
     "",
     {{{F::kCallNumber, "id"}, {F::kCallArguments, "args"}}}},
    {"raw_syscalls",
     "sys_exit",
     K::kCallExit,
     false,
     "",
     {{{F::kCallNumber, "id"}, {F::kCallResult, "ret"}}}},
};

constexpr size_t Index(FtraceField field) { return static_cast<size_t>(field); }

}  // namespace

absl::Span<const FtraceEventRow> FtraceSchedEvents() { return kSchedEvents; }
absl::Span<const FtraceEventRow> FtraceCallEvents() { return kCallEvents; }

std::optional<int64_t> FtraceFormat::Number(FtraceField field,
                                            absl::Span<const uint8_t> record) const {
  return FtraceNumber(fields_[Index(field)], record);
}

absl::string_view FtraceFormat::Text(FtraceField field, absl::Span<const uint8_t> record) const {
  return FtraceText(fields_[Index(field)], record);
}

std::optional<int64_t> FtraceFormat::CurrentTid(absl::Span<const uint8_t> record) const {
  return FtraceNumber(current_, record);
}

std::optional<int64_t> FtraceFormat::Flags(absl::Span<const uint8_t> record) const {
  return FtraceNumber(flags_, record);
}

std::optional<int64_t> FtraceFormat::CallArgument(size_t index,
                                                  absl::Span<const uint8_t> record) const {
  const tep_format_field* all = fields_[Index(F::kCallArguments)];
  if (all == nullptr) return std::nullopt;
  tep_format_field one = *all;
  one.size = static_cast<int>(sizeof(int64_t));
  if (index >= static_cast<size_t>(all->size) / sizeof(int64_t)) return std::nullopt;
  one.offset += static_cast<int>(index * sizeof(int64_t));
  return FtraceNumber(&one, record);
}

void FtraceFormats::TepDeleter::operator()(tep_handle* tep) const { tep_free(tep); }

FtraceFormats::FtraceFormats() : tep_(tep_alloc()) {}
FtraceFormats::FtraceFormats(FtraceFormats&&) noexcept = default;
FtraceFormats& FtraceFormats::operator=(FtraceFormats&&) noexcept = default;
FtraceFormats::~FtraceFormats() = default;

absl::Status FtraceFormats::Add(const Text& text) {
  const FtraceEventRow& row = *text.row;
  auto unusable = [&](absl::string_view why) {
    return absl::FailedPreconditionError(
        absl::StrCat("use the kernel's format of ", row.system, "/", row.name, ": ", why));
  };
  if (tep_parse_event(tep_.get(), text.format.c_str(), text.format.size(), row.system) !=
      TEP_ERRNO__SUCCESS) {
    return unusable("libtraceevent cannot parse it");
  }
  tep_event* event = tep_find_event_by_name(tep_.get(), row.system, row.name);
  if (event == nullptr) return unusable("it is of another event");
  FtraceFormat format;
  format.row_ = &row;
  format.current_ = tep_find_common_field(event, "common_pid");
  format.flags_ = tep_find_common_field(event, "common_flags");
  type_ = tep_find_common_field(event, "common_type");
  if (format.current_ == nullptr || format.flags_ == nullptr || type_ == nullptr) {
    return unusable("it lacks a field that all events have");
  }
  for (const FtraceEventRow::Field& field : row.fields) {
    if (field.name == nullptr) continue;
    const tep_format_field* found = tep_find_field(event, field.name);
    if (found == nullptr) return unusable(absl::StrCat("it lacks the field ", field.name));
    format.fields_[Index(field.field)] = found;
  }
  formats_[event->id] = format;
  return absl::OkStatus();
}

absl::StatusOr<FtraceFormats> FtraceFormats::Parse(absl::Span<const Text> texts) {
  // Nothing of ours prints: what cannot be parsed is an error here.
  tep_set_loglevel(TEP_LOG_NONE);
  FtraceFormats formats;
  if (formats.tep_ == nullptr) {
    return absl::ResourceExhaustedError("no memory for the formats of ftrace");
  }
  for (const Text& text : texts) RETURN_IF_ERROR(formats.Add(text));
  return formats;
}

const FtraceFormat* FtraceFormats::Find(absl::Span<const uint8_t> record) const {
  const std::optional<int64_t> id = FtraceNumber(type_, record);
  if (!id.has_value()) return nullptr;
  const auto found = formats_.find(*id);
  return found == formats_.end() ? nullptr : &found->second;
}

}  // namespace whylate
