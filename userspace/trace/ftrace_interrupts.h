// Which interrupt one CPU is in, and the time that interrupts took from it, by ftrace's events.
//
// Hard interrupts do not nest on Linux, and a start time heals by itself where an exit was lost.
// Softirq time excludes the hard interrupts inside it. Times of one CPU come in order. Not thread-safe.
#ifndef WHYLATE_USERSPACE_TRACE_FTRACE_INTERRUPTS_H_
#define WHYLATE_USERSPACE_TRACE_FTRACE_INTERRUPTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "analysis/model/sched_event.h"

namespace whylate {

class FtraceInterrupts {
 public:
  // `irq` unset: one of the kernel's own vectors.
  void HardEntry(int64_t time_ns, std::optional<int32_t> irq, absl::string_view name);
  void HardExit(int64_t time_ns);
  void SoftEntry(int64_t time_ns, uint64_t vector);
  void SoftExit(int64_t time_ns);
  // Nobody switches tasks inside an interrupt: what looks like one has lost its exit, or is a softirq
  // in a preemptible thread (PREEMPT_RT), whose time from here on is that thread's own.
  // What each source took from the task that leaves, since the switch before.
  std::vector<InterruptTimeEvent> Switch(int64_t time_ns);
  // Records were lost: what it is in is not known.
  void Reset();

  // Names the interrupt that the waking came from, where the context is one and it has events.
  void Describe(WakerContext context, WakingEvent* waking) const;

  // Since the trace began.
  int64_t irq_ns() const { return irq_ns_; }
  int64_t softirq_ns() const { return softirq_ns_; }

 private:
  // One source took `ns` from the task that is current.
  void Charge(WakerContext context, const std::optional<int32_t>& irq, absl::string_view name,
              int64_t ns);

  std::optional<int64_t> hard_since_ns_;
  std::optional<int32_t> irq_;
  std::string name_;
  std::optional<int64_t> soft_since_ns_;
  uint64_t vector_ = 0;
  int64_t irq_ns_at_soft_ = 0;  // irq_ns_ when the softirq began
  int64_t irq_ns_ = 0;
  int64_t softirq_ns_ = 0;
  std::vector<InterruptTimeEvent> taken_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_FTRACE_INTERRUPTS_H_
