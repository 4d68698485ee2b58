// Turns records of ftrace into SchedEvents, by the formats of the kernel that wrote them.
//
//   FtraceDecoder decoder(&formats, options);
//   std::vector<SchedEvent> events;
//   decoder.Decode(record, cpu, sequence, &events);
//
// Records are untrusted bytes: one that is too short for its format gives nothing. What a task did that
// left its CPU in state R for the idle task, and whether a woken one was queued all the time, follows
// from later events: see SettleFtraceEvents(). Not thread-safe.
#ifndef WHYLATE_USERSPACE_TRACE_FTRACE_DECODER_H_
#define WHYLATE_USERSPACE_TRACE_FTRACE_DECODER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "analysis/import/prev_state.h"
#include "analysis/model/ids.h"
#include "analysis/model/sched_event.h"
#include "userspace/trace/ftrace_formats.h"
#include "userspace/trace/ftrace_interrupts.h"
#include "userspace/trace/ftrace_page.h"
#include "userspace/trace/ftrace_tasks.h"
#include "userspace/trace/ftrace_timers.h"

namespace whylate {

struct FtraceDecoderOptions {
  StateLayout layout = StateLayout::kFlags;
  // A sched_ext scheduler runs the fair class's tasks too.
  bool ext_takes_fair = false;
  bool has_irq_times = true;     // the events that measure them are recorded
  std::vector<Tgid> watched;     // whose sleeps are of interest
  std::vector<KnownTask> tasks;  // when the recording began
  // The hierarchy of the cpu controller in /proc/cgroups; unset: there is none.
  std::optional<int32_t> cpu_hierarchy;
  FtraceTimers::ClockOffsets offsets_ns;  // see FtraceTimers
};

class FtraceDecoder {
 public:
  // `formats` must outlive the object.
  FtraceDecoder(const FtraceFormats* formats, const FtraceDecoderOptions& options);

  // Appends the events (0, 1 or 2, and names that are new) of `record`. Those of all CPUs come in
  // order of time.
  void Decode(const FtraceRecord& record, CpuId cpu, uint64_t sequence,
              std::vector<SchedEvent>* events);
  // Records of `cpu` were lost before the next one.
  void Lost(CpuId cpu);

 private:
  // One record, while it is decoded.
  struct At {
    SchedEvent head;  // time, CPU and sequence
    absl::Span<const uint8_t> bytes;
    const FtraceFormat* format = nullptr;
    std::vector<SchedEvent>* events = nullptr;

    std::optional<int64_t> Number(FtraceField field) const { return format->Number(field, bytes); }
    std::optional<Tid> TidOf(FtraceField field) const;
    void Emit(SchedEventBody body) const;
  };

  void Switch(const At& at);
  void Waking(const At& at);
  void Wakeup(const At& at, bool is_new);
  void Migrate(const At& at);
  void Life(const At& at);
  void Cgroup(const At& at);
  void Stop(const At& at);
  void Interrupt(const At& at);
  void Timer(const At& at);
  void Bind(const At& at, Tid task, FtraceField name);
  bool IsWatched(Tid task) const;

  const FtraceFormats* formats_;
  StateLayout layout_;
  bool has_irq_times_;
  std::optional<int32_t> cpu_hierarchy_;
  absl::flat_hash_set<Tgid> watched_;
  FtraceTasks tasks_;
  FtraceTimers timers_;
  absl::flat_hash_map<CpuId, FtraceInterrupts> interrupts_;
  absl::flat_hash_set<Tid> new_threads_;  // seen to be made as such, not yet by their fork
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_FTRACE_DECODER_H_
