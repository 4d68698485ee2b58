// What the analysis says of one cell: each late frame's time, tiled, and why it was late.
//
// The lengths of a miss's segments sum to completion - release, to the nanosecond; the occupants of
// a wait tile it; the rows of `causes` are disjoint and sum to the sum over late frames of
// (completion - release - min(ran, demand)). Times are CLOCK_MONOTONIC ns, intervals half-open.
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_EXPLANATION_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_EXPLANATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/frame.h"
#include "analysis/model/ids.h"
#include "analysis/model/recording.h"
#include "analysis/model/sched_event.h"

namespace whylate {

enum class SegmentKind : uint8_t {
  kLateRelease,
  kWakeupDispatch,
  kRunqueueWait,
  kPreempted,
  kRunning,
  kBlocked,
  kThrottled,
  kCarryOver,
  kUnknown,
};

// What a sleeping task waited for.
enum class BlockKind : uint8_t {
  kLock,     // a lock of the kernel, or of user space through a futex
  kIo,       // input or output
  kFault,    // a page that had to be read
  kSleep,    // its own timer
  kStopped,  // by a signal or a tracer
  kFrozen,   // by a freezer
  kOther,    // a message, an event, anything that somebody does
  kUnknown,
};

enum class PartKind : uint8_t { kNmi, kIrq, kSoftirq, kSteal, kSlow };

// In the order in which they are tested at an instant of a wait; the first match is the decision.
enum class Decision : uint8_t {
  kRtBandwidth,
  kIdleExit,
  kNotPreemptible,
  kHigherClass,
  kPlacement,
  kMissedPull,
  kDisplaced,
  kSlice,
  kNoPreempt,
  kUndetermined,
};

enum class Confidence : uint8_t { kComplete, kIncomplete };

// The names used in JSON and text: "late_release", "irq", "no_preempt", "complete".
std::string ToString(SegmentKind kind);
std::string ToString(BlockKind kind);
std::string ToString(PartKind kind);
std::string ToString(Decision decision);
std::string ToString(Confidence confidence);
// "real_time"; "unknown" for kUnknown.
std::string ToString(SchedClass sched_class);

// An amount of time inside a running segment or an occupant's stint; its position is not known.
struct Part {
  PartKind kind = PartKind::kIrq;
  int64_t ns = 0;
  bool prorated = false;
  // Of an interrupt: which ("irq 24 virtio2-req.0", "softirq NET_RX"); "" not known.
  std::string source;
  friend bool operator==(const Part&, const Part&) = default;
};

// One stretch of one task (or idle) on the CPU that the waiting task was queued on.
struct Occupant {
  std::string task;  // its name at that time; raw, hostile
  std::optional<Tid> tid;
  Role role;
  std::optional<CpuId> cpu;  // unset where the queue it waited on is not known
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  Decision decision = Decision::kUndetermined;  // the one with most ns of this stretch
  std::vector<Part> parts;
  TaskStanding standing;
  friend bool operator==(const Occupant&, const Occupant&) = default;
};

// The waiting task was moved to another runqueue.
struct Migration {
  CpuId from;
  CpuId to;
  int64_t time_ns = 0;
  friend bool operator==(const Migration&, const Migration&) = default;
};

// What of a sleep passed with somebody else, on the way to who ended it: the links of a blocked
// segment that another task ended tile it. A task ran, waited for a CPU, or slept itself until
// something that is no task ended that.
struct ChainLink {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::string task;  // raw, hostile
  std::optional<Tid> tid;
  Role role;
  int32_t depth = 1;  // 1: who ended the sleep; 2: who ended a sleep of that one; ..
  SegmentKind kind = SegmentKind::kUnknown;
  BlockKind block_kind = BlockKind::kUnknown;  // kBlocked
  std::optional<CpuId> cpu;
  std::vector<Part> parts;          // kRunning
  std::vector<Occupant> occupants;  // kRunqueueWait, kPreempted
  std::optional<Decision> decision;
  std::string waker;   // who ended it
  std::string reason;  // kUnknown
  friend bool operator==(const ChainLink&, const ChainLink&) = default;
};

// Of a workload whose frames go through several threads: one of them.
struct StageThread {
  std::string name;
  Tid tid;
  friend bool operator==(const StageThread&, const StageThread&) = default;
};

struct Segment {
  SegmentKind kind = SegmentKind::kUnknown;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::optional<CpuId> cpu;
  std::vector<Part> parts;          // kRunning
  std::vector<Occupant> occupants;  // kRunqueueWait, kPreempted
  // Of a wait: while another CPU that the task was allowed to use was idle; of that, while no such
  // CPU ran the idle task itself, only SCHED_IDLE tasks.
  int64_t avoidable_ns = 0;
  int64_t avoidable_sched_idle_ns = 0;
  // The same where the affinity, the CPU it was queued on or what that CPU did is not known.
  int64_t possibly_avoidable_ns = 0;
  // While an allowed CPU was idle that load balancing does not reach, and no other.
  int64_t not_balanced_ns = 0;
  std::vector<Migration> migrations;  // of a wait
  bool repaired = false;              // one of its ends was rebuilt across a chain break
  std::optional<Decision> decision;   // the headline of a wait
  TaskStanding standing;              // of the task during a wait
  std::string waker;                  // who ended a block, or began the wait
  std::string reason;                 // kUnknown: why it is unknown
  // kBlocked: what for, where in the kernel (functions, innermost first; empty: not recorded), and
  // with whom it passed, where a task ended it.
  BlockKind block_kind = BlockKind::kUnknown;
  std::vector<std::string> stack;
  std::vector<ChainLink> chain;
  // kThrottled: the group that had no bandwidth left, and its quota per period; "" and unset: unknown.
  std::string group;
  std::optional<int64_t> quota_ns;
  std::optional<int64_t> period_ns;
  std::optional<StageThread> stage;  // of a chain: who held the frame, so whose time it is
  // kLateRelease: when its timer was to fire, and when it did; unset: not recorded.
  std::optional<int64_t> timer_expires_ns;
  std::optional<int64_t> timer_fired_ns;
  friend bool operator==(const Segment&, const Segment&) = default;
};

// A runqueue_wait or preempted: it has occupants.
bool IsWait(const Segment& segment);

struct Verdict {
  std::string subject;                // who; "A & B" where joint
  std::vector<std::string> subjects;  // more than one where joint
  std::string kind;                   // of its segments ("runqueue_wait"), or "overload"
  std::optional<Decision> decision;
  bool sufficient = false;  // the frame would have met its deadline without it
  int64_t margin_ns = 0;    // deadline - (completion - saving)
  Confidence confidence = Confidence::kComplete;
  int64_t repaired_ns = 0;
  // Of a chain: the stage that held the frame for most of what the (first) subject took of it; "" of
  // others, and of an overload.
  std::string stage;
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

struct Miss {
  Frame frame;
  int64_t deadline_ns = 0;
  int64_t dropped = 0;
  std::vector<Segment> segments;   // empty without a trace
  std::optional<Verdict> verdict;  // unset without a trace
};

struct CauseRow {
  std::string subject;
  std::string kind;
  std::optional<Decision> decision;
  int64_t frames = 0;
  int64_t frames_incomplete = 0;
  int64_t ns = 0;
};

struct SubjectRow {
  std::string subject;
  int64_t frames = 0;
  int64_t frames_incomplete = 0;
  // Late frames with a complete verdict, and releases that they skipped, that would have met their
  // deadlines without this subject alone. First order, and not additive: two may save the same one.
  int64_t frames_saved = 0;
  int64_t ns = 0;
};

// A watched task got another policy, nice value, priority, affinity or cgroup during the cell.
struct Change {
  int64_t time_ns = 0;  // of the call; where that was not seen, of the first event that shows it
  std::string task;     // raw, hostile
  std::string what;     // "policy", "affinity", "cgroup"
  std::string from;     // "" not known
  std::string to;
  std::string by;  // who did it; "" not known
  friend bool operator==(const Change&, const Change&) = default;
};

struct TraceTotals {
  std::string source;
  uint64_t events = 0;
  uint64_t lost = 0;
  uint64_t breaks = 0;  // of the chain of switches of a CPU: prev is not who was switched in last
  int64_t repaired_ns = 0;
  uint64_t recursion_misses = 0;
  bool has_steal_clock = false;  // else what a hypervisor took is not measurable, and is in "self"
};

struct Explanation {
  std::vector<Miss> misses;
  std::vector<CauseRow> causes;
  std::vector<SubjectRow> subjects;
  std::vector<Change> changes;  // in order of time
  std::optional<TraceTotals> trace;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_EXPLANATION_H_
