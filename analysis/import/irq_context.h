// In which context each CPU of a trace is, as its interrupt events tell: who woke a task.
//
//   contexts.HardEntry(cpu, 3, "arch_timer");
//   contexts.Waker(cpu, Tid{42}, std::nullopt);  // {42, kHardIrq, 3, "arch_timer"}
#ifndef WHYLATE_ANALYSIS_IMPORT_IRQ_CONTEXT_H_
#define WHYLATE_ANALYSIS_IMPORT_IRQ_CONTEXT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "analysis/import/event_collector.h"
#include "analysis/model/ids.h"
#include "analysis/model/sched_event.h"

namespace whylate {

// The context that the flags of an ftrace line tell ("d.h2"); nullopt where they are none.
std::optional<WakerContext> ContextOfFlags(absl::string_view flags);

// The same of an event's common_flags.
WakerContext ContextOfCommonFlags(uint64_t flags);
// "NET_RX" of 3; "" past the last vector.
absl::string_view SoftirqName(uint64_t vector);

class IrqContexts {
 public:
  void HardEntry(CpuId cpu, int32_t irq, absl::string_view handler);
  void HardExit(CpuId cpu);
  void SoftEntry(CpuId cpu, absl::string_view vector);
  void SoftExit(CpuId cpu);
  // No interrupt lasts beyond a switch, or is known to beyond a loss.
  void Reset(CpuId cpu);

  // `known`: what the event itself says of the context. Without it the context is that of the
  // interrupt that the CPU is in, else unknown: not every interrupt has an event.
  TracedWaker Waker(CpuId cpu, Tid current, std::optional<WakerContext> known) const;

 private:
  struct Context {
    std::optional<int32_t> irq;
    std::string handler;
    std::optional<std::string> vector;
  };
  std::map<CpuId, Context> contexts_;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_IRQ_CONTEXT_H_
