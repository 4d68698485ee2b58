#include "userspace/trace/ftrace_interrupts.h"

#include <algorithm>

#include "analysis/import/irq_context.h"

namespace whylate {

void FtraceInterrupts::HardEntry(int64_t time_ns, std::optional<int32_t> irq,
                                 absl::string_view name) {
  hard_since_ns_ = time_ns;
  irq_ = irq;
  name_.assign(name.data(), name.size());
}

void FtraceInterrupts::HardExit(int64_t time_ns) {
  if (!hard_since_ns_.has_value()) return;
  const int64_t ns = time_ns - *hard_since_ns_;
  irq_ns_ += ns;
  Charge(WakerContext::kHardIrq, irq_, name_, ns);
  hard_since_ns_.reset();
}

void FtraceInterrupts::SoftEntry(int64_t time_ns, uint64_t vector) {
  soft_since_ns_ = time_ns;
  vector_ = vector;
  irq_ns_at_soft_ = irq_ns_;
}

void FtraceInterrupts::SoftExit(int64_t time_ns) {
  if (!soft_since_ns_.has_value()) return;
  const int64_t interrupted_ns = irq_ns_ - irq_ns_at_soft_;
  const int64_t ns = std::max<int64_t>(time_ns - *soft_since_ns_ - interrupted_ns, 0);
  softirq_ns_ += ns;
  Charge(WakerContext::kSoftIrq, std::nullopt, SoftirqName(vector_), ns);
  soft_since_ns_.reset();
}

void FtraceInterrupts::Charge(WakerContext context, const std::optional<int32_t>& irq,
                              absl::string_view name, int64_t ns) {
  const auto same = std::find_if(taken_.begin(), taken_.end(), [&](const InterruptTimeEvent& e) {
    return e.context == context && e.irq == irq && e.source_name == name;
  });
  InterruptTimeEvent& event = same != taken_.end() ? *same : taken_.emplace_back();
  if (event.count == 0) {
    event.context = context;
    event.irq = irq;
    event.source_name.assign(name.data(), name.size());
  }
  event.ns += ns;
  ++event.count;
}

std::vector<InterruptTimeEvent> FtraceInterrupts::Switch(int64_t time_ns) {
  hard_since_ns_.reset();
  SoftExit(time_ns);
  return std::exchange(taken_, {});
}

void FtraceInterrupts::Reset() {
  hard_since_ns_.reset();
  soft_since_ns_.reset();
  taken_.clear();
}

void FtraceInterrupts::Describe(WakerContext context, WakingEvent* waking) const {
  if (context == WakerContext::kHardIrq && hard_since_ns_.has_value()) {
    waking->irq = irq_;
    waking->source_name = name_;
  } else if (context == WakerContext::kSoftIrq && soft_since_ns_.has_value()) {
    const absl::string_view name = SoftirqName(vector_);
    waking->source_name.assign(name.data(), name.size());
  }
}

}  // namespace whylate
