#include "analysis/import/latency_trace.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "analysis/import/irq_context.h"
#include "analysis/import/prev_state.h"

namespace whylate {
namespace {

constexpr int64_t kNsPerUs = 1000;
constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr size_t kMostCalls = 6;
constexpr size_t kCutName = 8;
// Worth a word: the lines themselves cost time.
constexpr int64_t kLongSilenceNs = 50'000;

// The tracer and the scheduler are in every stack.
bool IsOfTheTracer(absl::string_view function) {
  constexpr absl::string_view kStarts[] = {
      "__ftrace_",        "__trace_", "probe_wakeup",         "__schedule", "schedule",
      "preempt_schedule", "tracer_",  "stop_critical_timing", "trace_"};
  return std::any_of(std::begin(kStarts), std::end(kStarts),
                     [&](absl::string_view start) { return absl::StartsWith(function, start); });
}

}  // namespace

LatencyTrace::LatencyTrace(EventCollector* collector, std::map<CpuId, int64_t>* unseen,
                           LatencyHeader header, int64_t base_ns)
    : collector_(collector),
      unseen_(unseen),
      stints_(collector),
      header_(std::move(header)),
      base_ns_(base_ns),
      last_ns_(base_ns) {}

void LatencyTrace::Line(const LatencyLine& line) {
  const int64_t time_ns = std::max(base_ns_ + line.time_ns, last_ns_);
  if (!first_ns_.has_value()) first_ns_ = time_ns;
  const std::optional<LatencyEvent> event = ParseLatencyEvent(line.what);
  stack_counts_ = absl::StartsWith(line.what, "<stack trace>") &&
                  (switched_ || header_.IsSection()) && stack_.empty();
  if (header_.IsSection()) {
    collector_->Seen(time_ns, line.cpu);
  } else if (!switched_) {
    Observe(line, time_ns);
    if (event.has_value()) Event(line, *event, time_ns);
  }
  Silent(line, time_ns);
  last_ns_ = time_ns;
}

// Just before the first line, so that who is on the CPU then was so before he was seen.
void LatencyTrace::BeginCpu(CpuId cpu) {
  const int64_t begin_ns = *first_ns_ - 1;
  auto unseen = unseen_->find(cpu);
  std::optional<int64_t> since_ns;
  if (unseen != unseen_->end()) since_ns = unseen->second;
  collector_->Unseen(cpu, since_ns, begin_ns);
  stints_.Begin(begin_ns, cpu);
}

void LatencyTrace::Observe(const LatencyLine& line, int64_t time_ns) {
  auto [found, is_first] = seen_.try_emplace(line.cpu);
  Seen& seen = found->second;
  if (is_first) {
    BeginCpu(line.cpu);
  } else if (seen.tid != line.tid) {
    stints_.Left(std::min(seen.time_ns, time_ns - 1), line.cpu, seen.task(), SwitchOut::kUnknown);
  }
  if (is_first || seen.tid != line.tid) {
    seen = {line.tid, std::string(line.comm), std::nullopt, time_ns};
    const std::optional<LatencyEvent> event = ParseLatencyEvent(line.what);
    if (event.has_value() && event->current.tid == line.tid) {
      seen.priority = event->current.priority;
    }
    // A task woken now waits behind him from the first.
    stints_.Found(is_first || event.has_value() ? time_ns - 1 : time_ns, line.cpu, seen.task());
    if (line.comm.size() >= kCutName && line.tid != Tid{0}) {
      collector_->Note("names of tasks that were not woken are cut to 8 characters");
    }
  }
  seen.time_ns = time_ns;
}

void LatencyTrace::Event(const LatencyLine& line, const LatencyEvent& event, int64_t time_ns) {
  if (!event.is_switch) {
    if (woken_.has_value()) return;
    woken_ = Woken{event.task.tid, std::string(event.task.name), event.task.priority, event.cpu,
                   time_ns};
    collector_->Waking(time_ns, line.cpu, event.task,
                       {line.tid, ContextOfFlags(line.flags).value_or(WakerContext::kUnknown)});
    collector_->Wakeup(time_ns, line.cpu, event.task, event.cpu, false);
    return;
  }
  const PrevState state = PrevStateOfLetters(event.state).value_or(PrevState());
  TracedTask prev = event.current;
  prev.name = line.tid == prev.tid ? line.comm : absl::string_view();
  collector_->Switch(time_ns, line.cpu, prev, state.out, state.flags, event.task);
  seen_[line.cpu] = {event.task.tid, std::string(event.task.name), event.task.priority, time_ns};
  switched_ = true;
}

void LatencyTrace::Silent(const LatencyLine& line, int64_t time_ns) {
  const bool irqs_off = absl::StartsWith(line.flags, "d") || absl::StartsWith(line.flags, "D");
  const bool in_task = ContextOfFlags(line.flags) == WakerContext::kTask;
  std::string what = FunctionInWords(line.what);
  const int64_t ns = time_ns - last_ns_;
  if (*first_ns_ < time_ns && ns > longest_.ns && (!switched_ || header_.IsSection())) {
    longest_ = {ns, last_what_, what, irqs_off && last_irqs_off_};
  }
  last_what_ = std::move(what);
  last_irqs_off_ = irqs_off && in_task;
}

void LatencyTrace::Stack(absl::string_view function) {
  function = WithoutOffset(function);
  if (!stack_counts_ || stack_.size() >= kMostCalls || function.empty()) return;
  if (!IsOfTheTracer(function)) stack_.emplace_back(function);
}

int64_t LatencyTrace::Finish() {
  if (header_.IsSection()) {
    if (!first_ns_.has_value()) return last_ns_;
    collector_->Note(absl::StrCat(ResultInWords(), FactsInWords()));
    return last_ns_;
  }
  if (woken_.has_value() && !switched_) {
    last_ns_ = std::max(woken_->time_ns + header_.latency_ns.value_or(0), last_ns_);
    auto before = seen_.find(woken_->cpu);
    if (before == seen_.end()) {
      BeginCpu(woken_->cpu);
    } else {
      stints_.Left(before->second.time_ns, woken_->cpu, before->second.task(), SwitchOut::kUnknown);
    }
    stints_.Found(last_ns_, woken_->cpu, woken_->task());
    seen_[woken_->cpu] = {woken_->tid, woken_->name, woken_->priority, last_ns_};
  }
  for (const auto& [cpu, seen] : seen_) {
    // Who was woken ran on from there; for how long is not known.
    const bool is_woken = woken_.has_value() && seen.tid == woken_->tid;
    (*unseen_)[cpu] = is_woken ? std::max(last_ns_, seen.time_ns + 1) : seen.time_ns;
    last_ns_ = std::max(last_ns_, (*unseen_)[cpu]);
  }
  if (!woken_.has_value()) return last_ns_;
  collector_->Note(absl::StrCat(ResultInWords(), FactsInWords()));
  return last_ns_;
}

std::string LatencyTrace::ResultInWords() const {
  const int64_t us = header_.latency_ns.value_or(0) / kNsPerUs;
  const std::string tracer =
      absl::StrCat(header_.tracer, header_.kernel.empty() ? "" : " of kernel ", header_.kernel);
  if (header_.IsSection()) {
    const bool irqs = absl::StrContains(header_.tracer, "irqsoff");
    const bool preemption = absl::StartsWith(header_.tracer, "preempt");
    return absl::StrCat(tracer, ": ",
                        irqs && preemption ? "interrupts or preemption"
                        : preemption       ? "preemption"
                                           : "interrupts",
                        " off for ", us, " us by ", header_.task, ", from ", header_.started_at,
                        " to ", header_.ended_at);
  }
  return absl::StrFormat(
      "%s: a wait of %d us by the tracer's own count, at %d s, of %s on CPU %d%s", tracer, us,
      base_ns_ / kNsPerSecond, header_.task, woken_->cpu.value,
      switched_ ? "" : ", whose end is not among the lines");
}

std::string LatencyTrace::FactsInWords() const {
  std::string text;
  if (longest_.ns >= kLongSilenceNs) {
    absl::StrAppend(&text, "; the longest time without a line is ", longest_.ns / kNsPerUs, " us");
    if (!longest_.after.empty()) absl::StrAppend(&text, ", after ", longest_.after);
    if (!longest_.before.empty()) absl::StrAppend(&text, ", before ", longest_.before);
    if (longest_.irqs_off) absl::StrAppend(&text, ", with interrupts off");
  }
  if (!stack_.empty()) {
    absl::StrAppend(&text, header_.IsSection() ? "; at its end in " : "; switched in out of ",
                    absl::StrJoin(stack_, " <- "));
  }
  return text;
}

}  // namespace whylate
