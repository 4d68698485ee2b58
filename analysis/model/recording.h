// Everything that was observed of one cell: the input of the analysis, and all of it.
//
// The same Recording always gives the same verdicts, on any machine. Events are in total order (see
// Before() in sched_event.h). A Recording without events is valid: it has frames, and no reasons.
#ifndef WHYLATE_ANALYSIS_MODEL_RECORDING_H_
#define WHYLATE_ANALYSIS_MODEL_RECORDING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/model/cpu_set.h"
#include "analysis/model/frame.h"
#include "analysis/model/ids.h"
#include "analysis/model/sched_event.h"

namespace whylate {

enum class RoleKind : uint8_t { kWorkload, kLoad, kKernel, kObserver, kOther, kIdle, kUnknown };

struct Role {
  RoleKind kind = RoleKind::kUnknown;
  std::string load;  // for kLoad: the part's name ("burn" of burn+write)
  friend auto operator<=>(const Role&, const Role&) = default;

  // "workload", "load:burn", "kernel", "observer", "other", "idle", "unknown".
  std::string ToString() const;
};

// Processes (and all their descendants, by fork) that play a role.
struct RoleAssignment {
  Tgid tgid;
  Role role;
  friend bool operator==(const RoleAssignment&, const RoleAssignment&) = default;
};

// Records that `cpu` tried to emit and could not, between its delivered neighbours.
struct LossInterval {
  CpuId cpu;
  int64_t begin_ns = 0;  // of the last record delivered before the gap (or the recording's begin)
  int64_t end_ns = 0;    // of the first one after it (or the recording's end)
  uint64_t count = 0;
  friend bool operator==(const LossInterval&, const LossInterval&) = default;
};

// A stretch, of all CPUs, whose events the consumer received and did not keep, because no late
// frame needs them. Nothing is known in it, and nothing is lost.
struct OmittedInterval {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  friend bool operator==(const OmittedInterval&, const OmittedInterval&) = default;
};

struct CpuDescription {
  CpuId cpu;
  bool online = true;
  bool isolated = false;  // outside the scheduler's load balancing, by the kernel's own list
  friend bool operator==(const CpuDescription&, const CpuDescription&) = default;
};

struct TraceFacts {
  std::string source;  // "bpf", "tracefs", a file format
  uint64_t events = 0;
  uint64_t lost = 0;
  uint64_t recursion_misses = 0;
  bool has_steal_clock = false;  // a steal of 0 means that nothing was stolen
  bool has_timers = false;       // what arms and ends the watched thread's sleeps is recorded
  // False: times of different CPUs, or of different stretches, do not compare, so that no verdict is
  // complete.
  bool comparable_clocks = true;
  friend bool operator==(const TraceFacts&, const TraceFacts&) = default;
};

struct Recording {
  std::string workload;
  std::string load;
  int32_t run = 0;
  std::string kernel;                // release of the machine's kernel; "" not known
  std::vector<std::string> invalid;  // why its cell is not valid, by who ran it
  std::vector<std::string> notes;    // what else is worth knowing of it

  CellFrames frames;
  Tid watched;                           // the thread of the frames; of a chain, its first stage
  std::optional<CpuSet> allowed_before;  // the owner's reading before the first frame
  std::optional<CpuSet> allowed_after;   // and after the last one

  std::optional<TraceFacts> trace;  // unset: nothing was captured
  int64_t begin_ns = 0;             // of the capture
  int64_t end_ns = 0;
  std::vector<SchedEvent> events;
  std::vector<LossInterval> losses;
  std::vector<OmittedInterval> omitted;
  std::vector<RoleAssignment> roles;
  std::vector<CpuDescription> cpus;
  // Kernel stacks by function names, innermost first: where sleeps began (SwitchEvent::stack).
  std::vector<std::vector<std::string>> stacks;

  // The watched thread, and of a chain the other stages'; each once.
  std::vector<Tid> WatchedThreads() const;
};

// A chain has no more stages than this.
inline constexpr size_t kMostStages = 16;

// Whether its times can be subtracted from each other, and are in the order that they must have: what
// the analysis asks of a recording that came from a file; of a chain also that each frame went
// through all of its stages, and that the first of them is the watched thread. O(events + frames).
bool HasUsableTimes(const Recording& recording);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_MODEL_RECORDING_H_
