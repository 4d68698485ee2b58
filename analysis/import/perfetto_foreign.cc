#include "analysis/import/perfetto_foreign.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analysis/import/event_collector.h"
#include "analysis/import/irq_context.h"
#include "analysis/import/perfetto_bundle.h"
#include "analysis/import/perfetto_loss.h"
#include "analysis/import/perfetto_packets.h"
#include "analysis/import/perfetto_proto.h"
#include "analysis/import/prev_state.h"
#include "analysis/model/cpu_set.h"
#include "analysis/model/perfetto_fields.h"

namespace whylate {
namespace {

using perfetto::FtraceEvent;

// One ring buffer page holds a few hundred.
constexpr size_t kMostInBundle = size_t{1} << 20;

std::optional<WakerContext> ContextOf(const std::optional<uint64_t>& flags) {
  if (!flags) return std::nullopt;
  return ContextOfCommonFlags(*flags);
}

absl::string_view ClockName(uint64_t clock) {
  switch (clock) {
    case 0:
      return "CLOCK_BOOTTIME";
    case perfetto::FtraceBundle::kClockGlobal:
      return "ftrace's global clock";
    case perfetto::FtraceBundle::kClockLocal:
      return "ftrace's local clocks, which differ between CPUs";
    case perfetto::FtraceBundle::kClockMonoRaw:
      return "CLOCK_MONOTONIC_RAW";
    default:
      return "a clock that is not named";
  }
}

// A task, and the CPUs, of a wake-up, a migration, an exit ..: fields by their numbers there.
struct TaskFields {
  TracedTask task;
  std::optional<int32_t> first_cpu;
  std::optional<int32_t> second_cpu;
};
struct TaskNumbers {
  uint32_t comm = 0;
  uint32_t pid = 0;
  uint32_t prio = 0;
  uint32_t first_cpu = 0;
  uint32_t second_cpu = 0;
};
constexpr TaskNumbers kWakeupNumbers = {perfetto::SchedWakeup::kComm, perfetto::SchedWakeup::kPid,
                                        perfetto::SchedWakeup::kPrio,
                                        perfetto::SchedWakeup::kTargetCpu, 0};
constexpr TaskNumbers kMigrateNumbers = {
    perfetto::SchedMigrateTask::kComm, perfetto::SchedMigrateTask::kPid,
    perfetto::SchedMigrateTask::kPrio, perfetto::SchedMigrateTask::kOrigCpu,
    perfetto::SchedMigrateTask::kDestCpu};
constexpr TaskNumbers kExitNumbers = {perfetto::SchedProcessExit::kComm,
                                      perfetto::SchedProcessExit::kPid,
                                      perfetto::SchedProcessExit::kPrio, 0, 0};
constexpr TaskNumbers kNewtaskNumbers = {perfetto::TaskNewtask::kComm, perfetto::TaskNewtask::kPid,
                                         0, 0, 0};
constexpr TaskNumbers kRenameNumbers = {perfetto::TaskRename::kNewcomm, perfetto::TaskRename::kPid,
                                        0, 0, 0};

TaskFields ReadTask(absl::string_view body, const TaskNumbers& numbers) {
  TaskFields fields;
  ProtoReader reader(body);
  for (ProtoField field; reader.Next(&field);) {
    if (field.number == numbers.comm) fields.task.name = field.bytes;
    if (field.number == numbers.pid) fields.task.tid = Tid{field.Int32()};
    if (field.number == numbers.prio) fields.task.priority = field.Int32();
    if (field.number == numbers.first_cpu) fields.first_cpu = field.Int32();
    if (field.number == numbers.second_cpu) fields.second_cpu = field.Int32();
  }
  return fields;
}

class ForeignReader {
 public:
  explicit ForeignReader(const ImportLimits& limits)
      : limits_(limits), collector_("perfetto", limits) {}

  absl::StatusOr<ImportedTrace> Read(absl::string_view bytes) {
    FindKernel(bytes);
    const PerfettoPacketSummary summary = ForEachPacket(
        bytes, limits_, [this](const PerfettoPacket& packet) { return Visit(packet); });
    if (summary.unread_at_end) losses_.Everywhere();
    losses_.Finish();
    NameTasks();
    AddNotes(summary);
    absl::StatusOr<ImportedTrace> trace = collector_.Finish();
    if (trace.ok()) return trace;
    return absl::InvalidArgumentError(absl::StrCat(
        trace.status().message(), "; ", summary.packets, " packets, ", bundles_, " of ftrace",
        summary.cut_at ? absl::StrCat(", cut off after ", *summary.cut_at, " bytes")
                       : std::string()));
  }

 private:
  struct Cpu {
    // Who is on it, as far as the trace tells; its name belongs here, as bundles do not last.
    std::optional<Tid> current;
    std::optional<int32_t> priority;
    std::string name;
  };
  struct KnownTask {
    std::string name;
    std::optional<Tgid> tgid;
    bool is_kernel_thread = false;
  };

  // The kernel's release tells what the states of sched_switch mean. It may come after them.
  void FindKernel(absl::string_view bytes) {
    ForEachPacket(bytes, limits_, [this](const PerfettoPacket& packet) {
      ProtoReader info(packet.system_info);
      for (ProtoField field; info.Next(&field);) {
        if (field.number != perfetto::SystemInfo::kUtsname) continue;
        ProtoReader utsname(field.bytes);
        for (ProtoField name; utsname.Next(&name);) {
          if (name.number != perfetto::Utsname::kRelease) continue;
          const std::optional<StateLayout> layout = LayoutOfKernel(name.bytes);
          if (!layout) continue;
          layout_ = *layout;
          return PacketUse::kStop;
        }
      }
      return PacketUse::kGood;
    });
  }

  PacketUse Visit(const PerfettoPacket& packet) {
    if (packet.process_tree.data() != nullptr) ReadProcessTree(packet.process_tree);
    if (packet.ftrace_stats.data() != nullptr) losses_.Stats(packet.ftrace_stats);
    if (packet.unread_before) losses_.Everywhere();
    losses_.Packet(packet.sequence, packet.previous_dropped,
                   packet.ftrace_events.data() != nullptr);
    if (packet.ftrace_events.data() == nullptr) return PacketUse::kGood;
    ReadFtraceBundle(packet.ftrace_events, kMostInBundle, &bundle_);
    ++bundles_;
    if (bundle_.cpu >= CpuSet::kMaxCpus) {
      losses_.Everywhere();
      return PacketUse::kMalformed;
    }
    if (bundle_.has_compact) has_compact_ = true;
    if (bundle_.too_long) {
      collector_.Note(absl::StrCat("a bundle of more than ", kMostInBundle,
                                   " events: the rest of it was left out"));
    }
    AddBundle();
    return bundle_.malformed ? PacketUse::kMalformed : PacketUse::kGood;
  }

  void AddBundle() {
    cpu_id_ = CpuId{static_cast<int32_t>(bundle_.cpu)};
    cpu_ = &cpus_[cpu_id_];
    if (!bundle_.events.empty()) ++clocks_[bundle_.clock];
    const std::optional<int64_t> before_ns = losses_.LastNs(cpu_id_);
    if (bundle_.lost) losses_.Told(cpu_id_);
    for (const BundleEvent& event : bundle_.events) {
      if (losses_.BeforeEvent(cpu_id_, event.view.time_ns)) {
        cpu_->current.reset();
        contexts_.Reset(cpu_id_);
      }
      AddEvent(event);
      if (event.view.time_ns >= 0) {
        first_ns_ = std::min(first_ns_.value_or(event.view.time_ns), event.view.time_ns);
        if (*first_ns_ == event.view.time_ns) first_cpu_ = cpu_id_;
      }
    }
    // Where in the bundle its missing events were is not known.
    if (bundle_.malformed || bundle_.too_long) losses_.On(cpu_id_, before_ns);
    if (bundle_.malformed) losses_.Everywhere();
  }

  void AddEvent(const BundleEvent& event) {
    const FtraceEventView& view = event.view;
    const int64_t time_ns = view.time_ns;
    switch (view.kind) {
      case BundleEvent::kCompactSwitch:
        AddCompactSwitch(event);
        break;
      case BundleEvent::kCompactWaking:
        AddWaking(view, {Tid{event.compact.tid}, event.compact.comm, event.compact.priority});
        break;
      case FtraceEvent::kSchedSwitch:
        AddSwitch(view);
        break;
      case FtraceEvent::kSchedWaking:
        AddWaking(view, ReadTask(view.body, kWakeupNumbers).task);
        break;
      case FtraceEvent::kSchedWakeup:
      case FtraceEvent::kSchedWakeupNew: {
        const TaskFields fields = ReadTask(view.body, kWakeupNumbers);
        std::optional<CpuId> target;
        if (fields.first_cpu) target = CpuId{*fields.first_cpu};
        collector_.Wakeup(time_ns, cpu_id_, fields.task, target,
                          view.kind == FtraceEvent::kSchedWakeupNew);
        break;
      }
      case FtraceEvent::kSchedMigrateTask: {
        const TaskFields fields = ReadTask(view.body, kMigrateNumbers);
        if (!fields.first_cpu || !fields.second_cpu) break;
        collector_.Migrate(time_ns, cpu_id_, fields.task, CpuId{*fields.first_cpu},
                           CpuId{*fields.second_cpu});
        break;
      }
      case FtraceEvent::kTaskNewtask:
        AddFork(view);
        break;
      case FtraceEvent::kTaskRename:
        collector_.Name(time_ns, cpu_id_, ReadTask(view.body, kRenameNumbers).task, std::nullopt,
                        false);
        break;
      case FtraceEvent::kSchedProcessExit:
        collector_.Exit(time_ns, cpu_id_, ReadTask(view.body, kExitNumbers).task);
        break;
      default:
        AddInterrupt(view);
        collector_.Seen(time_ns, cpu_id_);
    }
  }

  void AddFork(const FtraceEventView& view) {
    uint64_t flags = 0;
    ProtoReader reader(view.body);
    for (ProtoField field; reader.Next(&field);) {
      if (field.number == perfetto::TaskNewtask::kCloneFlags) flags = field.value;
    }
    collector_.Fork(view.time_ns, cpu_id_, {.tid = Tid{view.pid.value_or(0)}, .name = ""},
                    ReadTask(view.body, kNewtaskNumbers).task,
                    (flags & perfetto::TaskNewtask::kCloneThread) != 0);
  }

  void AddInterrupt(const FtraceEventView& view) {
    switch (view.kind) {
      case FtraceEvent::kIrqHandlerEntry: {
        const TaskFields fields = ReadTask(view.body, {perfetto::IrqHandlerEntry::kName,
                                                       perfetto::IrqHandlerEntry::kIrq, 0, 0, 0});
        contexts_.HardEntry(cpu_id_, fields.task.tid.value, fields.task.name);
        break;
      }
      case FtraceEvent::kIrqHandlerExit:
        contexts_.HardExit(cpu_id_);
        break;
      case FtraceEvent::kSoftirqEntry: {
        // A vector that is not set is 0.
        const TaskFields fields = ReadTask(view.body, {0, perfetto::SoftirqEntry::kVec, 0, 0, 0});
        contexts_.SoftEntry(cpu_id_, SoftirqName(static_cast<uint32_t>(fields.task.tid.value)));
        break;
      }
      case FtraceEvent::kSoftirqExit:
        contexts_.SoftExit(cpu_id_);
        break;
      default:
        break;
    }
  }

  void AddSwitch(const FtraceEventView& view) {
    using perfetto::SchedSwitch;
    TracedTask prev;
    TracedTask next;
    std::optional<uint32_t> state;
    ProtoReader reader(view.body);
    for (ProtoField field; reader.Next(&field);) {
      if (field.number == SchedSwitch::kPrevComm) prev.name = field.bytes;
      if (field.number == SchedSwitch::kPrevPid) prev.tid = Tid{field.Int32()};
      if (field.number == SchedSwitch::kPrevPrio) prev.priority = field.Int32();
      if (field.number == SchedSwitch::kPrevState) state = static_cast<uint32_t>(field.value);
      if (field.number == SchedSwitch::kNextComm) next.name = field.bytes;
      if (field.number == SchedSwitch::kNextPid) next.tid = Tid{field.Int32()};
      if (field.number == SchedSwitch::kNextPrio) next.priority = field.Int32();
    }
    Switch(view.time_ns, prev, state, next);
  }

  void AddCompactSwitch(const BundleEvent& event) {
    const TracedTask next{Tid{event.compact.tid}, event.compact.comm, event.compact.priority};
    if (!cpu_->current) {
      // Who left is not known, nor since when it had been there.
      collector_.Unseen(cpu_id_, losses_.LastLossEndNs(cpu_id_), event.view.time_ns);
      collector_.Seed(event.view.time_ns, cpu_id_, next);
      contexts_.Reset(cpu_id_);
      SetCurrent(next);
      return;
    }
    const std::string name = cpu_->name;
    Switch(event.view.time_ns, {*cpu_->current, name, cpu_->priority},
           static_cast<uint32_t>(event.compact.prev_state), next);
  }

  void Switch(int64_t time_ns, const TracedTask& prev, std::optional<uint32_t> number,
              const TracedTask& next) {
    PrevState state;
    if (number) {
      state = PrevStateOfNumber(*number, layout_);
      largest_state_ = std::max(largest_state_, *number);
    } else if (prev.tid != Tid{0}) {
      collector_.Note("some switches do not tell in which state a task left its CPU");
    }
    collector_.Switch(time_ns, cpu_id_, prev, state.out, state.flags, next);
    contexts_.Reset(cpu_id_);
    SetCurrent(next);
  }

  void SetCurrent(const TracedTask& task) {
    constexpr size_t kLongestName = 64;
    cpu_->current = task.tid;
    cpu_->priority = task.priority;
    const absl::string_view name = task.name.substr(0, kLongestName);
    cpu_->name.assign(name.data(), name.size());
  }

  void AddWaking(const FtraceEventView& view, const TracedTask& wakee) {
    const Tid current = view.pid ? Tid{*view.pid} : cpu_->current.value_or(Tid{0});
    collector_.Waking(view.time_ns, cpu_id_, wakee,
                      contexts_.Waker(cpu_id_, current, ContextOf(view.flags)));
  }

  void ReadProcessTree(absl::string_view bytes) {
    ProtoReader reader(bytes);
    for (ProtoField field; reader.Next(&field);) {
      const bool is_thread = field.number == perfetto::ProcessTree::kThreads;
      if (!is_thread && field.number != perfetto::ProcessTree::kProcesses) continue;
      if (tasks_.size() >= limits_.names) return;
      Tid tid;
      KnownTask task;
      ProtoReader entry(field.bytes);
      for (ProtoField part; entry.Next(&part);) {
        if (is_thread) {
          if (part.number == perfetto::Thread::kTid) tid = Tid{part.Int32()};
          if (part.number == perfetto::Thread::kTgid) task.tgid = Tgid{part.Int32()};
          if (part.number == perfetto::Thread::kName) task.name = std::string(part.bytes);
        } else {
          if (part.number == perfetto::Process::kPid) tid = Tid{part.Int32()};
          if (part.number == perfetto::Process::kIsKthread) task.is_kernel_thread = part.Bool();
          if (part.number == perfetto::Process::kCmdline && task.name.empty()) {
            task.name = std::string(part.bytes);
          }
        }
      }
      if (!is_thread) task.tgid = Tgid{tid.value};
      // A thread's own name is better than its process's command line.
      KnownTask& known = tasks_[tid];
      if (known.name.empty() || is_thread) known.name = std::move(task.name);
      if (!known.tgid) known.tgid = task.tgid;
      known.is_kernel_thread = known.is_kernel_thread || task.is_kernel_thread;
    }
  }

  // As names at the beginning of the trace: those that events bring later replace them.
  void NameTasks() {
    if (!first_ns_) return;
    for (const auto& [tid, task] : tasks_) {
      collector_.Name(*first_ns_, first_cpu_, {.tid = tid, .name = task.name}, task.tgid,
                      task.is_kernel_thread);
    }
  }

  void AddNotes(const PerfettoPacketSummary& summary) {
    for (const auto& [clock, bundles] : clocks_) {
      collector_.Note(absl::StrCat("times are of ", ClockName(clock)));
    }
    if (clocks_.size() > 1) {
      collector_.ClocksDiffer("several clocks in one trace: their times do not compare");
    }
    if (clocks_.count(perfetto::FtraceBundle::kClockLocal) > 0 && collector_.cpus() > 1) {
      collector_.ClocksDiffer("local clocks: times of different CPUs do not compare");
    }
    if (has_compact_) {
      collector_.Note(
          "compact scheduler events: who left a CPU is taken to be who came onto it before");
    }
    if (LayoutOfLargest(largest_state_) == StateLayout::kOldFlags &&
        layout_ == StateLayout::kFlags) {
      collector_.Note("states of an older kernel: how tasks left their CPU is uncertain");
    }
    if (summary.malformed > 0) {
      collector_.Note(absl::StrCat(summary.malformed, " packets are broken: skipped"));
    }
    if (summary.zstd > 0) {
      collector_.Note(absl::StrCat(summary.zstd, " packets are compressed with zstd: skipped"));
    }
    if (summary.unpacked_too_much) {
      collector_.Note("compressed packets unpack to too much: the rest was skipped");
    }
    if (summary.cut_at) {
      collector_.Note(absl::StrCat("cut off after ", *summary.cut_at, " bytes"));
    }
  }

  const ImportLimits& limits_;
  EventCollector collector_;
  PerfettoLosses losses_{&collector_};
  IrqContexts contexts_;
  StateLayout layout_ = StateLayout::kFlags;
  uint32_t largest_state_ = 0;
  FtraceBundleView bundle_;
  std::map<CpuId, Cpu> cpus_;
  CpuId cpu_id_;
  Cpu* cpu_ = nullptr;
  std::map<Tid, KnownTask> tasks_;
  std::map<uint64_t, uint64_t> clocks_;  // bundles by clock
  std::optional<int64_t> first_ns_;
  CpuId first_cpu_;
  uint64_t bundles_ = 0;
  bool has_compact_ = false;
};

}  // namespace

absl::StatusOr<ImportedTrace> ReadForeignPerfetto(absl::string_view bytes,
                                                  const ImportLimits& limits) {
  return ForeignReader(limits).Read(bytes);
}

}  // namespace whylate
