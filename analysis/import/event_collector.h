// Collects the scheduler events of a foreign trace, in whatever order its format has them, into an
// ImportedTrace: total order, names, standings, losses, and notes on what was missing.
//
//   EventCollector collector("ftrace text", limits);
//   collector.Switch(time_ns, cpu, {.tid = Tid{8}, .name = "rcu_preempt", .priority = 120},
//                    SwitchOut::kBlocked, 1, {.tid = Tid{0}, .name = "swapper/0", .priority = 120});
//   ASSIGN_OR_RETURN(ImportedTrace trace, collector.Finish());
//
// Events of one CPU are expected in the order of its buffer; equal times keep it. CPUs may come one
// after another. What no trace can hold (a negative tid, a CPU past CpuSet::kMaxCpus, a time outside
// 0 .. 73 years) is counted and left out. Not thread-safe.
#ifndef WHYLATE_ANALYSIS_IMPORT_EVENT_COLLECTOR_H_
#define WHYLATE_ANALYSIS_IMPORT_EVENT_COLLECTOR_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/import/imported_trace.h"
#include "analysis/model/ids.h"
#include "analysis/model/sched_event.h"

namespace whylate {

// A task as a trace's event names it.
struct TracedTask {
  Tid tid;
  absl::string_view name;  // "" or "<...>": not known; else binds the name from here on
  std::optional<int32_t> priority =
      std::nullopt;  // the kernel's: -1 deadline, 0..99 real-time, 100..139 fair
};

// Who woke: the task current on the CPU, and the context it was in, with the interrupt's handler or
// softirq vector by name where the trace has it.
struct TracedWaker {
  Tid tid;
  WakerContext context = WakerContext::kUnknown;
  std::optional<int32_t> irq = std::nullopt;
  std::string source_name = "";
};

class EventCollector {
 public:
  EventCollector(std::string format, const ImportLimits& limits);

  // Past the limit of events further ones are counted, not kept: from the first of them on, on all
  // CPUs, the recording is an omitted stretch.
  bool full() const { return kept_ >= limits_.events; }

  // `out` kUnknown: the trace does not tell. A task that leaves in state R for the idle task was not
  // preempted by it; what it did follows from its wake-ups, and is decided by Finish():
  //   a waking that was pending, or comes before it is back: it slept (the prev_state race)
  //   none, a FIFO/RR or deadline task: it could run, and the bandwidth of its class was used up
  //   none, a fair task that comes back, in a trace with wake-ups: it was throttled
  //   else, and where events may be missing or no wake-ups are traced: unknown
  void Switch(int64_t time_ns, CpuId cpu, const TracedTask& prev, SwitchOut out,
              uint32_t prev_state, const TracedTask& next);
  void Waking(int64_t time_ns, CpuId cpu, const TracedTask& wakee, const TracedWaker& waker);
  // `target` unset: not in the trace.
  void Wakeup(int64_t time_ns, CpuId cpu, const TracedTask& wakee, std::optional<CpuId> target,
              bool is_new);
  void Migrate(int64_t time_ns, CpuId cpu, const TracedTask& task, CpuId from, CpuId to);
  // `is_thread`: the child is of its parent's process. Else it leads one of its own, as far as is
  // known: unless ForkedInto() tells, a child of a trace that does not say may be a thread.
  void Fork(int64_t time_ns, CpuId cpu, const TracedTask& parent, const TracedTask& child,
            bool is_thread = false);
  // The process of a forked child; of no use where the tid was forked more than once.
  void ForkedInto(Tid child, Tgid tgid) { forked_into_[child] = tgid; }
  void Exit(int64_t time_ns, CpuId cpu, const TracedTask& task);
  void Name(int64_t time_ns, CpuId cpu, const TracedTask& task, std::optional<Tgid> tgid,
            bool is_kernel_thread);
  // Events of `cpu` were lost between its neighbours; `count` 0: how many is not known.
  void Lost(CpuId cpu, std::optional<int64_t> begin_ns, std::optional<int64_t> end_ns,
            uint64_t count);
  // `task` came onto `cpu`, and from whom is not known.
  void Seed(int64_t time_ns, CpuId cpu, const TracedTask& task);
  // Nothing was lost, and who was on `cpu` is not known all the same; unset: from the trace's begin,
  // or to its end.
  void Unseen(CpuId cpu, std::optional<int64_t> begin_ns, std::optional<int64_t> end_ns);
  // An event of another kind: the trace covers this time, and its CPU was traced.
  void Seen(int64_t time_ns, CpuId cpu);
  // `why`, a note: times do not compare, so that no verdict on the trace is complete.
  void ClocksDiffer(std::string why);
  size_t cpus() const { return cpus_.size(); }
  // Once each, in the order in which they came.
  void Note(std::string note);
  // A note says what there is to say: Finish() is content without a scheduler event.
  void ToldResult() { told_result_ = true; }

  // InvalidArgument where there was no scheduler event at all, and no result told. Adds the notes that follow from what
  // was seen: no wake-ups, no affinity, classes from priorities alone, times out of order, limits.
  absl::StatusOr<ImportedTrace> Finish();

 private:
  struct BoundName {
    uint32_t life = 0;
    std::string name;
  };
  struct CpuStream {
    std::optional<int64_t> last_ns;
    std::optional<size_t> last_loss;  // in recording.losses
  };

  bool Possible(int64_t time_ns, CpuId cpu, std::initializer_list<Tid> tids,
                std::initializer_list<CpuId> cpus = {});
  // False where the event is not kept.
  bool Add(int64_t time_ns, CpuId cpu, SchedEventBody body);
  void Bind(int64_t time_ns, CpuId cpu, const TracedTask& task);
  void OrderEvents();
  void DropRepeatedNames();
  void SettleForks();
  void SettleLeavingForIdle();
  void CloseLosses();
  void AddUnseen();
  void AddNotes();
  void AddLossNotes();

  ImportLimits limits_;
  ImportedTrace trace_;
  size_t kept_ = 0;
  uint64_t dropped_ = 0;
  std::optional<int64_t> dropped_from_ns_;
  uint64_t impossible_ = 0;
  uint64_t disordered_ = 0;
  uint64_t switches_ = 0;
  uint64_t wakings_ = 0;
  uint64_t wakeups_ = 0;
  bool clocks_differ_ = false;
  bool priorities_ = false;
  bool told_result_ = false;
  bool names_full_ = false;
  std::optional<int64_t> first_ns_;
  int64_t last_ns_ = 0;
  std::map<CpuId, CpuStream> cpus_;
  // The name that a CPU's stream gave a tid last; a life ends with an exit or a fork of the tid.
  absl::flat_hash_map<std::pair<CpuId, Tid>, BoundName> names_;
  absl::flat_hash_map<Tid, uint32_t> lives_;
  std::vector<LossInterval> unseen_;
  absl::flat_hash_map<Tid, uint32_t> forks_;
  absl::flat_hash_map<Tid, Tgid> forked_into_;
  absl::flat_hash_set<std::pair<Tid, int64_t>> forked_threads_;  // with the fork's time
  absl::flat_hash_set<std::string> noted_;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_EVENT_COLLECTOR_H_
