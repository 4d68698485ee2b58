#include "analysis/import/irq_context.h"

#include <array>
#include <cstddef>

namespace whylate {
namespace {

constexpr size_t kLongestName = 64;

// include/linux/trace_events.h
constexpr uint64_t kTraceFlagHardIrq = 0x08;
constexpr uint64_t kTraceFlagSoftIrq = 0x10;
constexpr uint64_t kTraceFlagNmi = 0x40;

// include/linux/interrupt.h, in the order of their numbers.
constexpr std::array<absl::string_view, 10> kSoftirqs = {
    "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"};

}  // namespace

std::optional<WakerContext> ContextOfFlags(absl::string_view flags) {
  // The third character; a fourth for "need to reschedule, lazily" came before it on some kernels.
  if (flags.size() < 3) return std::nullopt;
  for (const char c : flags.substr(2, 2)) {
    if (c == 'h' || c == 'H') return WakerContext::kHardIrq;
    if (c == 's') return WakerContext::kSoftIrq;
    if (c == 'z' || c == 'Z') return WakerContext::kNmi;
  }
  return WakerContext::kTask;
}

WakerContext ContextOfCommonFlags(uint64_t flags) {
  if ((flags & kTraceFlagNmi) != 0) return WakerContext::kNmi;
  if ((flags & kTraceFlagHardIrq) != 0) return WakerContext::kHardIrq;
  if ((flags & kTraceFlagSoftIrq) != 0) return WakerContext::kSoftIrq;
  return WakerContext::kTask;
}

absl::string_view SoftirqName(uint64_t vector) {
  return vector < kSoftirqs.size() ? kSoftirqs[static_cast<size_t>(vector)] : "";
}

void IrqContexts::HardEntry(CpuId cpu, int32_t irq, absl::string_view handler) {
  Context& context = contexts_[cpu];
  context.irq = irq;
  context.handler = std::string(handler.substr(0, kLongestName));
}

void IrqContexts::HardExit(CpuId cpu) { contexts_[cpu].irq.reset(); }

void IrqContexts::SoftEntry(CpuId cpu, absl::string_view vector) {
  contexts_[cpu].vector = std::string(vector.substr(0, kLongestName));
}

void IrqContexts::SoftExit(CpuId cpu) { contexts_[cpu].vector.reset(); }

void IrqContexts::Reset(CpuId cpu) { contexts_.erase(cpu); }

TracedWaker IrqContexts::Waker(CpuId cpu, Tid current, std::optional<WakerContext> known) const {
  TracedWaker waker;
  waker.tid = current;
  waker.context = known.value_or(WakerContext::kUnknown);
  auto found = contexts_.find(cpu);
  if (found == contexts_.end()) return waker;
  const Context& context = found->second;
  if (!known.has_value()) {
    if (context.vector.has_value()) waker.context = WakerContext::kSoftIrq;
    if (context.irq.has_value()) waker.context = WakerContext::kHardIrq;
  }
  if (waker.context == WakerContext::kHardIrq && context.irq.has_value()) {
    waker.irq = context.irq;
    waker.source_name = context.handler;
  } else if (waker.context == WakerContext::kSoftIrq && context.vector.has_value()) {
    waker.source_name = *context.vector;
  }
  return waker;
}

}  // namespace whylate
