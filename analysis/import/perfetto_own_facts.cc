#include "analysis/import/perfetto_own_facts.h"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "analysis/model/cpu_set.h"
#include "analysis/model/perfetto_facts.h"
#include "analysis/model/perfetto_fields.h"

namespace whylate {
namespace {

// The writer's own difference, undone, for any two values.
int64_t TimeBefore(int64_t time_ns, int64_t since_ns) {
  return static_cast<int64_t>(static_cast<uint64_t>(time_ns) - static_cast<uint64_t>(since_ns));
}

int32_t Int32(const GenericFact& fact) { return static_cast<int32_t>(fact.number.value_or(0)); }

std::optional<bool> Bool(const GenericFact& fact) {
  return fact.number ? std::optional<bool>(*fact.number != 0) : std::nullopt;
}

bool ReadCpus(const GenericFact& fact, std::optional<CpuSet>* cpus) {
  if (fact.text.empty()) {
    *cpus = CpuSet();
    return true;
  }
  absl::StatusOr<CpuSet> set = CpuSet::Parse(fact.text);
  if (set.ok()) *cpus = *std::move(set);
  return set.ok();
}

// A fact of a standing, named "class", "rt" or "nice" after `prefix`.
bool ReadStanding(absl::string_view prefix, const GenericFact& fact, TaskStanding* standing) {
  if (fact.name.substr(0, prefix.size()) != prefix) return false;
  const absl::string_view name = fact.name.substr(prefix.size());
  if (name == "class") {
    const std::optional<SchedClass> sched_class = perfetto::SchedClassOf(fact.text);
    if (!sched_class) return false;
    *standing = TaskStanding{*sched_class, {}, {}};
    return true;
  }
  if (name == "rt") standing->rt_priority = Int32(fact);
  if (name == "nice") standing->nice = Int32(fact);
  return name == "rt" || name == "nice";
}

bool Complete(const GenericFact& fact, const SchedEvent& at, SwitchEvent* event) {
  const int64_t number = fact.number.value_or(0);
  if (fact.name == "ran_ns") {
    event->prev_arrival_ns = TimeBefore(at.time_ns, number);
  } else if (fact.name == "queued_ns") {
    event->next_queued_ns = TimeBefore(at.time_ns, number);
  } else if (fact.name == "irq_ns") {
    event->stolen.irq_ns = fact.number;
  } else if (fact.name == "softirq_ns") {
    event->stolen.softirq_ns = fact.number;
  } else if (fact.name == "steal_ns") {
    event->stolen.steal_ns = fact.number;
  } else if (fact.name == "out") {
    const std::optional<SwitchOut> out = perfetto::SwitchOutOf(fact.text);
    if (!out) return false;
    event->out = *out;
  } else if (fact.name == "state") {
    event->prev_state = static_cast<uint32_t>(number);
  } else if (fact.name == "dl_server") {
    event->next_by_dl_server = number != 0;
  } else if (fact.name == "prev_allowed") {
    return ReadCpus(fact, &event->prev_allowed);
  } else if (fact.name == "next_allowed") {
    return ReadCpus(fact, &event->next_allowed);
  } else if (fact.name == "preempt") {
    event->preempt = Bool(fact);
  } else if (fact.name == "iowait") {
    event->prev_in_iowait = Bool(fact);
  } else if (fact.name == "stack") {
    event->stack = Int32(fact);
  } else {
    return ReadStanding("prev_", fact, &event->prev_standing) ||
           ReadStanding("next_", fact, &event->next_standing);
  }
  return true;
}

bool Complete(const GenericFact& fact, const SchedEvent&, WakingEvent* event) {
  if (fact.name == "context") {
    const std::optional<WakerContext> context = perfetto::WakerContextOf(fact.text);
    if (!context) return false;
    event->context = *context;
  } else if (fact.name == "irq") {
    event->irq = Int32(fact);
  } else if (fact.name == "source") {
    event->source_name = perfetto::BytesOfAscii(fact.text);
  } else if (fact.name == "on_rq") {
    event->wakee_on_rq = Int32(fact) != 0;
  } else if (fact.name == "on_cpu") {
    event->wakee_on_cpu = Int32(fact) != 0;
  } else {
    return fact.name == "allowed" && ReadCpus(fact, &event->allowed);
  }
  return true;
}

bool Complete(const GenericFact& fact, const SchedEvent&, WakeupEvent* event) {
  if (fact.name != "throttled") return ReadStanding("", fact, &event->standing);
  event->throttled = Int32(fact) != 0;
  return true;
}

bool Complete(const GenericFact&, const SchedEvent&, MigrateEvent*) { return false; }
bool Complete(const GenericFact&, const SchedEvent&, ExitEvent*) { return false; }

bool Complete(const GenericFact& fact, const SchedEvent&, ForkEvent* event) {
  event->child_tgid = Tgid{Int32(fact)};
  return fact.name == "tgid";
}

bool Complete(const GenericFact& fact, const SchedEvent&, TaskNameEvent* event) {
  if (fact.name == "tgid") {
    event->tgid = Tgid{Int32(fact)};
  } else if (fact.name == "kernel") {
    event->is_kernel_thread = Int32(fact) != 0;
  } else if (fact.name == "name") {
    event->name = perfetto::BytesOfAscii(fact.text);
  } else {
    return false;
  }
  return true;
}

template <typename Event>
bool CompleteAll(const std::vector<GenericFact>& facts, SchedEvent* event) {
  auto* body = event == nullptr ? nullptr : std::get_if<Event>(&event->body);
  if (body == nullptr) return false;
  bool understood = true;
  for (const GenericFact& fact : facts) {
    if (fact.name != "seq" && !Complete(fact, *event, body)) understood = false;
  }
  return understood;
}

const GenericFact* FindGeneric(const std::vector<GenericFact>& facts, absl::string_view name) {
  for (const GenericFact& fact : facts) {
    if (fact.name == name) return &fact;
  }
  return nullptr;
}

int64_t Number(const std::vector<GenericFact>& facts, absl::string_view name) {
  const GenericFact* fact = FindGeneric(facts, name);
  return fact == nullptr ? 0 : fact->number.value_or(0);
}

std::optional<int64_t> MaybeNumber(const std::vector<GenericFact>& facts, absl::string_view name) {
  const GenericFact* fact = FindGeneric(facts, name);
  return fact == nullptr ? std::nullopt : fact->number;
}

std::string Text(const std::vector<GenericFact>& facts, absl::string_view name) {
  const GenericFact* fact = FindGeneric(facts, name);
  return fact == nullptr ? std::string() : perfetto::BytesOfAscii(fact->text);
}

std::optional<Tid> Caller(const std::vector<GenericFact>& facts) {
  const std::optional<int64_t> by = MaybeNumber(facts, "by");
  if (!by) return std::nullopt;
  return Tid{static_cast<int32_t>(*by)};
}

std::optional<SchedEventBody> InterruptTime(const std::vector<GenericFact>& facts) {
  const GenericFact* word = FindGeneric(facts, "context");
  const std::optional<WakerContext> context =
      word == nullptr ? std::nullopt : perfetto::WakerContextOf(word->text);
  if (!context) return std::nullopt;
  InterruptTimeEvent event;
  event.context = *context;
  if (const GenericFact* irq = FindGeneric(facts, "irq")) event.irq = Int32(*irq);
  event.source_name = Text(facts, "source");
  event.ns = Number(facts, "ns");
  event.count = static_cast<uint32_t>(Number(facts, "count"));
  return event;
}

TaskStanding FullStanding(const std::vector<GenericFact>& facts) {
  TaskStanding standing;
  for (const GenericFact& fact : facts) ReadStanding("", fact, &standing);
  return standing;
}

}  // namespace

bool CompleteEvent(absl::string_view name, const std::vector<GenericFact>& facts, SchedEvent* event,
                   bool* understood) {
  if (name == perfetto::kSwitchFacts) {
    *understood = CompleteAll<SwitchEvent>(facts, event);
  } else if (name == perfetto::kWakingFacts) {
    *understood = CompleteAll<WakingEvent>(facts, event);
  } else if (name == perfetto::kWakeupFacts) {
    *understood = CompleteAll<WakeupEvent>(facts, event);
  } else if (name == perfetto::kMigrateFacts) {
    *understood = CompleteAll<MigrateEvent>(facts, event);
  } else if (name == perfetto::kExitFacts) {
    *understood = CompleteAll<ExitEvent>(facts, event);
  } else if (name == perfetto::kForkFacts) {
    *understood = CompleteAll<ForkEvent>(facts, event);
  } else if (name == perfetto::kNameFacts) {
    *understood = CompleteAll<TaskNameEvent>(facts, event);
  } else {
    return false;
  }
  return true;
}

std::optional<SchedEventBody> StandaloneEvent(absl::string_view name,
                                              const std::vector<GenericFact>& facts) {
  const Tid tid{static_cast<int32_t>(Number(facts, "tid"))};
  const GenericFact* allowed = FindGeneric(facts, "allowed");
  std::optional<CpuSet> cpus;
  if (allowed != nullptr && !ReadCpus(*allowed, &cpus)) return std::nullopt;
  if (name == perfetto::kTimerStart) {
    return TimerStartEvent{tid, Number(facts, "expires_ns"), Number(facts, "absolute") != 0};
  }
  if (name == perfetto::kTimerExpire) {
    return TimerExpireEvent{tid, Number(facts, "expires_ns"), Number(facts, "now_ns")};
  }
  if (name == perfetto::kAffinity) {
    return AffinityEvent{tid, cpus.value_or(CpuSet()), Caller(facts)};
  }
  if (name == perfetto::kStanding) return StandingEvent{tid, FullStanding(facts), Caller(facts)};
  if (name == perfetto::kCgroup) return CgroupEvent{tid, Text(facts, "path"), Caller(facts)};
  if (name == perfetto::kStop) return StopEvent{tid, Caller(facts)};
  if (name == perfetto::kUnthrottle) {
    return UnthrottleEvent{tid, Text(facts, "group"), MaybeNumber(facts, "quota_ns"),
                           MaybeNumber(facts, "period_ns")};
  }
  if (name == perfetto::kInterruptTime) return InterruptTime(facts);
  if (name == perfetto::kWork) return WorkEvent{tid, Text(facts, "work")};
  if (name == perfetto::kCpuSeed) return CpuSeedEvent{tid, FullStanding(facts)};
  if (name == perfetto::kTaskSeed) {
    return TaskSeedEvent{tid, Number(facts, "on_rq") != 0,
                         CpuId{static_cast<int32_t>(Number(facts, "cpu"))}, FullStanding(facts),
                         std::move(cpus)};
  }
  return std::nullopt;
}

}  // namespace whylate
