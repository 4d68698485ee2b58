// What of Perfetto's trace format is written or read here: field numbers of its published protos
// (protos/perfetto/trace/ of the Perfetto repository), by message, and the names of what we add.
//
// A trace is a sequence of packets. Scheduler events are FtraceEvents in one FtraceEventBundle per
// CPU and stretch; frames, their segments and the recording itself are TrackEvents. What no
// standard event can carry is a generic ftrace event with one of the names below, of the same time
// and in the same bundle, right after the standard event that it completes; or, outside of events,
// a debug annotation.
#ifndef WHYLATE_ANALYSIS_MODEL_PERFETTO_FIELDS_H_
#define WHYLATE_ANALYSIS_MODEL_PERFETTO_FIELDS_H_

#include <cstdint>

namespace whylate::perfetto {

// trace.proto
struct Trace {
  enum : uint32_t { kPacket = 1 };
};

// trace_packet.proto
struct Packet {
  enum : uint32_t {
    kFtraceEvents = 1,
    kProcessTree = 2,
    kClockSnapshot = 6,
    kTimestamp = 8,
    kSequenceId = 10,  // trusted_packet_sequence_id
    kTrackEvent = 11,
    kSequenceFlags = 13,
    kFtraceStats = 34,
    kPreviousPacketDropped = 42,
    kSystemInfo = 45,
    kCompressedPackets = 50,  // zlib, of a Trace
    kTimestampClockId = 58,
    kTrackDescriptor = 60,
    kZstdCompressedPackets = 133,
  };
  // SequenceFlags
  static constexpr uint32_t kIncrementalStateCleared = 1;
};

// clock_snapshot.proto
struct ClockSnapshot {
  enum : uint32_t { kClocks = 1, kPrimaryTraceClock = 2 };
};
struct Clock {
  enum : uint32_t { kClockId = 1, kTimestamp = 2 };
  // builtin_clock.proto
  static constexpr uint32_t kMonotonic = 3;
  static constexpr uint32_t kBoottime = 6;
};

// ps/process_tree.proto
struct ProcessTree {
  enum : uint32_t { kProcesses = 1, kThreads = 2 };
};
struct Process {
  enum : uint32_t { kPid = 1, kCmdline = 3, kIsKthread = 8, kCmdlineIsComm = 9 };
};
struct Thread {
  enum : uint32_t { kTid = 1, kName = 2, kTgid = 3 };
};

// ftrace/ftrace_event_bundle.proto
struct FtraceBundle {
  enum : uint32_t { kCpu = 1, kEvent = 2, kLostEvents = 3, kCompactSched = 4, kFtraceClock = 5 };
  // FtraceClock; without one the clock is CLOCK_BOOTTIME.
  static constexpr uint64_t kClockGlobal = 2;
  static constexpr uint64_t kClockLocal = 3;
  static constexpr uint64_t kClockMonoRaw = 4;
};
struct CompactSched {
  enum : uint32_t {
    kSwitchTimestamp = 1,
    kSwitchPrevState = 2,
    kSwitchNextPid = 3,
    kSwitchNextPrio = 4,
    kInternTable = 5,
    kSwitchNextCommIndex = 6,
    kWakingTimestamp = 7,
    kWakingPid = 8,
    kWakingTargetCpu = 9,
    kWakingPrio = 10,
    kWakingCommIndex = 11,
    kWakingCommonFlags = 12,
  };
};

// common/system_info.proto
struct SystemInfo {
  enum : uint32_t { kUtsname = 1 };
};
struct Utsname {
  enum : uint32_t { kSysname = 1, kRelease = 3 };
};

// ftrace/ftrace_stats.proto
struct FtraceStats {
  enum : uint32_t { kPhase = 1, kCpuStats = 2 };
  static constexpr uint64_t kEndOfTrace = 2;  // Phase
};
struct FtraceCpuStats {
  enum : uint32_t { kCpu = 1, kOverrun = 3, kDroppedEvents = 8 };
};

// ftrace/ftrace_event.proto
struct FtraceEvent {
  enum : uint32_t {
    kTimestamp = 1,
    kPid = 2,  // of the task current on the CPU: a tid
    kCommonFlags = 5,
    kSchedSwitch = 4,
    kSchedWakeup = 17,
    kSchedWaking = 20,
    kSoftirqEntry = 24,
    kSoftirqExit = 25,
    kIrqHandlerEntry = 36,
    kIrqHandlerExit = 37,
    kSchedWakeupNew = 114,
    kTaskNewtask = 235,
    kTaskRename = 236,
    kSchedProcessExit = 238,
    kGeneric = 327,
    kSchedMigrateTask = 491,
  };
};

// ftrace/sched.proto
struct SchedSwitch {
  enum : uint32_t {
    kPrevComm = 1,
    kPrevPid = 2,
    kPrevPrio = 3,
    kPrevState = 4,
    kNextComm = 5,
    kNextPid = 6,
    kNextPrio = 7,
  };
};
// sched_waking, sched_wakeup and sched_wakeup_new alike.
struct SchedWakeup {
  enum : uint32_t { kComm = 1, kPid = 2, kPrio = 3, kSuccess = 4, kTargetCpu = 5 };
};
struct SchedMigrateTask {
  enum : uint32_t { kComm = 1, kPid = 2, kPrio = 3, kOrigCpu = 4, kDestCpu = 5 };
};
struct SchedProcessExit {
  enum : uint32_t { kComm = 1, kPid = 2, kTgid = 3, kPrio = 4 };
};

// ftrace/task.proto
struct TaskNewtask {
  enum : uint32_t { kPid = 1, kComm = 2, kCloneFlags = 3 };
  static constexpr uint64_t kCloneThread = 0x10000;  // clone(2): in its parent's thread group
};
struct TaskRename {
  enum : uint32_t { kPid = 1, kOldcomm = 2, kNewcomm = 3 };
};

// ftrace/irq.proto
struct SoftirqEntry {
  enum : uint32_t { kVec = 1 };
};
struct IrqHandlerEntry {
  enum : uint32_t { kIrq = 1, kName = 2 };
};

// ftrace/generic.proto
struct GenericEvent {
  enum : uint32_t { kEventName = 1, kField = 2 };
};
struct GenericField {
  enum : uint32_t { kName = 1, kStrValue = 3, kIntValue = 4, kUintValue = 5 };
};

// track_event/track_descriptor.proto, thread_descriptor.proto, counter_descriptor.proto
struct TrackDescriptor {
  enum : uint32_t { kUuid = 1, kName = 2, kThread = 4, kParentUuid = 5, kCounter = 8 };
};
struct ThreadDescriptor {
  enum : uint32_t { kPid = 1, kTid = 2, kThreadName = 5 };
};
struct CounterDescriptor {
  enum : uint32_t { kUnit = 3 };
  static constexpr int32_t kUnitCount = 2;
};

// track_event/track_event.proto
struct TrackEvent {
  enum : uint32_t {
    kDebugAnnotations = 4,
    kType = 9,
    kTrackUuid = 11,
    kCategories = 22,
    kName = 23,
    kCounterValue = 30,
    kFlowIds = 47,             // fixed64
    kTerminatingFlowIds = 48,  // fixed64
  };
  static constexpr int32_t kSliceBegin = 1;
  static constexpr int32_t kSliceEnd = 2;
  static constexpr int32_t kInstant = 3;
  static constexpr int32_t kCounter = 4;
};

// track_event/debug_annotation.proto
struct DebugAnnotation {
  enum : uint32_t {
    kBoolValue = 2,
    kUintValue = 3,
    kIntValue = 4,
    kStringValue = 6,
    kName = 10,
    kDictEntries = 11,
    kArrayValues = 12,
  };
};

// Generic ftrace events that complete the standard event before them. A field that is not there is
// what the standard event already says or, where it says nothing, unset; so an event without
// anything to add has none. Texts are printable ASCII: see perfetto_facts.h.
//
// Of every event:
//   seq        sequence, where it does not follow that of the CPU's event before by one
//
// whylate_switch, after sched_switch:
//   out        how prev left, where not as prev_state says (OutOfReportedState)
//   state      prev_state as the kernel's own word, where not as sched_switch reports it
//   prev_class, prev_rt, prev_nice, next_class, next_rt, next_nice
//              a standing in full, where not as the priority says (StandingOfPriority)
//   dl_server  1: the fair server picked next
//   ran_ns     since prev came onto a CPU, by the kernel's own note
//   queued_ns  since next was queued, by the kernel's own note
//   irq_ns, softirq_ns, steal_ns
//              what the CPU has lost in all, where changed since its switch before; without a
//              value: no longer known
//   prev_allowed, next_allowed   CPUs, as a list
//   preempt, iowait   0 or 1, where not as at the CPU's switch before; without a value: not known
//   stack      index in the recording's whylate_stacks
inline constexpr char kSwitchFacts[] = "whylate_switch";
// whylate_waking, after sched_waking: context (where not "task"), irq, source, on_rq, on_cpu,
// allowed
inline constexpr char kWakingFacts[] = "whylate_waking";
// whylate_wakeup, after sched_wakeup and sched_wakeup_new: class, rt, nice, throttled
inline constexpr char kWakeupFacts[] = "whylate_wakeup";
// whylate_migrate, after sched_migrate_task; whylate_exit, after sched_process_exit
inline constexpr char kMigrateFacts[] = "whylate_migrate";
inline constexpr char kExitFacts[] = "whylate_exit";
// whylate_fork, after task_newtask: tgid, where the child is a thread
inline constexpr char kForkFacts[] = "whylate_fork";
// whylate_name, after task_rename: tgid, kernel (1: a kernel thread), name, where the standard
// event cannot bear its bytes
inline constexpr char kNameFacts[] = "whylate_name";

// whylate_hidden_switch, after a sched_switch that has no record: one that the kernel hid, or that
// lies where nothing was recorded. It is there so that other tools see who was on the CPU.
inline constexpr char kHiddenSwitch[] = "whylate_hidden_switch";

// Generic ftrace events that stand alone.
// tid, expires_ns, absolute: a watched task arms its sleep
inline constexpr char kTimerStart[] = "whylate_timer_start";
// tid, expires_ns, now_ns: the timer of its sleep fires
inline constexpr char kTimerExpire[] = "whylate_timer_expire";
// tid, allowed, by: sched_setaffinity() on a watched task, and the tid of who called it
inline constexpr char kAffinity[] = "whylate_affinity";
// tid, class, rt, nice, by: a watched task gets another policy or priority
inline constexpr char kStanding[] = "whylate_standing";
// tid, path, by: a watched task is moved to another cgroup
inline constexpr char kCgroup[] = "whylate_cgroup";
// tid, by: a watched process is told to stop
inline constexpr char kStop[] = "whylate_stop";
// tid, group, quota_ns, period_ns: a throttled task is queued again
inline constexpr char kUnthrottle[] = "whylate_unthrottle";
// context, irq, source, ns, count: time that interrupts took, before the switch that ends a stint
inline constexpr char kInterruptTime[] = "whylate_interrupt_time";
// tid, work: what a worker of the kernel worked on when it left its CPU
inline constexpr char kWork[] = "whylate_work";
// tid, class, rt, nice: what ran on this CPU when the recording began
inline constexpr char kCpuSeed[] = "whylate_cpu_seed";
// tid, on_rq, cpu, class, rt, nice, allowed: a task that was there when the recording began
inline constexpr char kTaskSeed[] = "whylate_task_seed";

// The instant that makes a trace a recording of ours, and its debug annotations. It comes before
// everything that it counts.
inline constexpr char kRecording[] = "whylate_recording";
inline constexpr char kFormat[] = "whylate_format";  // kFormatVersion
inline constexpr uint64_t kFormatVersion = 1;
inline constexpr char kWorkload[] = "whylate_workload";
inline constexpr char kLoad[] = "whylate_load";
inline constexpr char kRun[] = "whylate_run";
inline constexpr char kKernel[] = "whylate_kernel";    // its release; absent: not known
inline constexpr char kInvalid[] = "whylate_invalid";  // array: why the cell is not valid
inline constexpr char kNotes[] = "whylate_notes";      // array
inline constexpr char kPacing[] = "whylate_pacing";    // "skip", "carry", "back_to_back"
inline constexpr char kPeriodNs[] = "whylate_period_ns";
inline constexpr char kPeriodDenominator[] = "whylate_period_denominator";
inline constexpr char kHasUnfinished[] = "whylate_has_unfinished";  // a frame, at the end
inline constexpr char kOriginNs[] = "whylate_origin_ns";            // release 0
inline constexpr char kFramesEndNs[] = "whylate_frames_end_ns";     // of the cell's releases
inline constexpr char kDemandNs[] = "whylate_demand_ns";            // of each release, for x
inline constexpr char kWatchedTid[] = "whylate_watched_tid";
// Of a chain, array of {name, tid, demand_ns, allowed_before, allowed_after}.
inline constexpr char kStages[] = "whylate_stages";
inline constexpr char kAllowedBefore[] = "whylate_allowed_before";  // CPUs, as a list
inline constexpr char kAllowedAfter[] = "whylate_allowed_after";
inline constexpr char kBeginNs[] = "whylate_begin_ns";  // of the capture
inline constexpr char kEndNs[] = "whylate_end_ns";
// Dictionary of source, events, lost, recursion_misses, has_steal_clock, has_timers, clocks_differ;
// absent: no capture.
inline constexpr char kTrace[] = "whylate_trace";
inline constexpr char kRoles[] = "whylate_roles";  // of {tgid, kind, load}
inline constexpr char kCpus[] = "whylate_cpus";    // of {cpu, online, isolated}
// Array of arrays: functions, innermost first.
inline constexpr char kStacks[] = "whylate_stacks";
// How many of each the file has when it is whole.
inline constexpr char kFrameCount[] = "whylate_frames";
inline constexpr char kLossCount[] = "whylate_losses";
inline constexpr char kOmittedCount[] = "whylate_omitted_stretches";
inline constexpr char kEventCount[] = "whylate_events";
// Events are written in stretches of this many, each as one bundle per CPU.
inline constexpr char kStretchEvents[] = "whylate_stretch_events";

// Slices, by the debug annotation that they alone have.
// A frame, with release_ns, start_ns, completion_ns, cpu_ns, demand_ns, deadline_ns; of a chain also
// the arrays passed_ns and stage_cpu_ns; of a late one its verdict, and its segments as slices inside
// it.
inline constexpr char kFrame[] = "whylate_frame";
// A loss, with begin_ns, end_ns, count.
inline constexpr char kLossCpu[] = "whylate_loss_cpu";
// An omitted stretch, with end_ns.
inline constexpr char kOmittedBeginNs[] = "whylate_omitted_begin_ns";

}  // namespace whylate::perfetto

#endif  // WHYLATE_ANALYSIS_MODEL_PERFETTO_FIELDS_H_
