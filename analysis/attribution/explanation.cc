#include "analysis/attribution/explanation.h"

namespace whylate {

std::string ToString(SegmentKind kind) {
  switch (kind) {
    case SegmentKind::kLateRelease:
      return "late_release";
    case SegmentKind::kWakeupDispatch:
      return "wakeup_dispatch";
    case SegmentKind::kRunqueueWait:
      return "runqueue_wait";
    case SegmentKind::kPreempted:
      return "preempted";
    case SegmentKind::kRunning:
      return "running";
    case SegmentKind::kBlocked:
      return "blocked";
    case SegmentKind::kThrottled:
      return "throttled";
    case SegmentKind::kCarryOver:
      return "carry_over";
    case SegmentKind::kUnknown:
      break;
  }
  return "unknown";
}

std::string ToString(BlockKind kind) {
  switch (kind) {
    case BlockKind::kLock:
      return "lock";
    case BlockKind::kIo:
      return "io";
    case BlockKind::kFault:
      return "fault";
    case BlockKind::kSleep:
      return "sleep";
    case BlockKind::kStopped:
      return "stopped";
    case BlockKind::kFrozen:
      return "frozen";
    case BlockKind::kOther:
      return "other";
    case BlockKind::kUnknown:
      break;
  }
  return "unknown";
}

std::string ToString(PartKind kind) {
  switch (kind) {
    case PartKind::kNmi:
      return "nmi";
    case PartKind::kIrq:
      return "irq";
    case PartKind::kSoftirq:
      return "softirq";
    case PartKind::kSteal:
      return "steal";
    case PartKind::kSlow:
      break;
  }
  return "slow";
}

std::string ToString(Decision decision) {
  switch (decision) {
    case Decision::kRtBandwidth:
      return "rt_bandwidth";
    case Decision::kIdleExit:
      return "idle_exit";
    case Decision::kNotPreemptible:
      return "not_preemptible";
    case Decision::kHigherClass:
      return "higher_class";
    case Decision::kPlacement:
      return "placement";
    case Decision::kMissedPull:
      return "missed_pull";
    case Decision::kDisplaced:
      return "displaced";
    case Decision::kSlice:
      return "slice";
    case Decision::kNoPreempt:
      return "no_preempt";
    case Decision::kUndetermined:
      break;
  }
  return "undetermined";
}

std::string ToString(Confidence confidence) {
  return confidence == Confidence::kComplete ? "complete" : "incomplete";
}

std::string ToString(SchedClass sched_class) {
  switch (sched_class) {
    case SchedClass::kStop:
      return "stop";
    case SchedClass::kDeadline:
      return "deadline";
    case SchedClass::kRealTime:
      return "real_time";
    case SchedClass::kFair:
      return "fair";
    case SchedClass::kExt:
      return "ext";
    case SchedClass::kIdlePolicy:
      return "idle_policy";
    case SchedClass::kIdle:
      return "idle";
    case SchedClass::kUnknown:
      break;
  }
  return "unknown";
}

bool IsWait(const Segment& segment) {
  return segment.kind == SegmentKind::kRunqueueWait || segment.kind == SegmentKind::kPreempted;
}

}  // namespace whylate
