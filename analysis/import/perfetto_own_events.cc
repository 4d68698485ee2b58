#include "analysis/import/perfetto_own_events.h"

#include <string>
#include <utility>
#include <variant>

#include "analysis/import/perfetto_own_facts.h"
#include "analysis/import/perfetto_proto.h"
#include "analysis/model/cpu_set.h"
#include "analysis/model/perfetto_facts.h"
#include "analysis/model/perfetto_fields.h"

namespace whylate {
namespace {

bool IsCpu(int64_t cpu) { return cpu >= 0 && cpu < CpuSet::kMaxCpus; }

// The CPU numbers inside an event.
bool CpusAreGood(const SchedEventBody& body) {
  if (const auto* wakeup = std::get_if<WakeupEvent>(&body)) return IsCpu(wakeup->target.value);
  if (const auto* seed = std::get_if<TaskSeedEvent>(&body)) return IsCpu(seed->queued_on.value);
  const auto* migrate = std::get_if<MigrateEvent>(&body);
  return migrate == nullptr || (IsCpu(migrate->from.value) && IsCpu(migrate->to.value));
}

void ReadWakeup(absl::string_view body, WakeupEvent* event) {
  std::optional<int32_t> priority;
  ProtoReader reader(body);
  for (ProtoField field; reader.Next(&field);) {
    if (field.number == perfetto::SchedWakeup::kPid) event->wakee = Tid{field.Int32()};
    if (field.number == perfetto::SchedWakeup::kPrio) priority = field.Int32();
    if (field.number == perfetto::SchedWakeup::kTargetCpu) event->target = CpuId{field.Int32()};
  }
  event->standing = StandingOfPriority(event->wakee, priority);
}

void ReadMigrate(absl::string_view body, MigrateEvent* event) {
  ProtoReader reader(body);
  for (ProtoField field; reader.Next(&field);) {
    if (field.number == perfetto::SchedMigrateTask::kPid) event->task = Tid{field.Int32()};
    if (field.number == perfetto::SchedMigrateTask::kOrigCpu) event->from = CpuId{field.Int32()};
    if (field.number == perfetto::SchedMigrateTask::kDestCpu) event->to = CpuId{field.Int32()};
  }
}

// The first number with this field; our messages have it once.
int32_t Int32Field(absl::string_view body, uint32_t number) {
  ProtoReader reader(body);
  for (ProtoField field; reader.Next(&field);) {
    if (field.number == number) return field.Int32();
  }
  return 0;
}

void ReadName(absl::string_view body, TaskNameEvent* event) {
  ProtoReader reader(body);
  for (ProtoField field; reader.Next(&field);) {
    if (field.number == perfetto::TaskRename::kPid) event->task = Tid{field.Int32()};
    if (field.number == perfetto::TaskRename::kNewcomm) event->name = std::string(field.bytes);
  }
}

}  // namespace

bool OwnEventReader::ReadBundle(absl::string_view bytes) {
  uint64_t cpu = 0;
  ProtoReader first(bytes);
  for (ProtoField field; first.Next(&field);) {
    if (field.number == perfetto::FtraceBundle::kCpu) cpu = field.value;
  }
  if (first.malformed() || cpu >= CpuSet::kMaxCpus) return false;
  cpu_id_ = CpuId{static_cast<int32_t>(cpu)};
  cpu_ = &cpus_[cpu_id_];
  has_last_ = false;
  bool understood = true;
  ProtoReader reader(bytes);
  for (ProtoField field; reader.Next(&field);) {
    if (field.number != perfetto::FtraceBundle::kEvent) continue;
    if (!field.is_bytes || !ReadEvent(field.bytes)) understood = false;
  }
  return understood;
}

bool OwnEventReader::ReadEvent(absl::string_view bytes) {
  FtraceEventView view;
  if (!ReadFtraceEvent(bytes, &view)) return false;
  if (view.kind == perfetto::FtraceEvent::kGeneric) return ReadGeneric(view);
  if (full()) {
    has_last_ = false;
    return false;
  }
  SchedEvent& event = Push(view.time_ns);
  has_last_ = ReadStandard(view, &event.body) && CpusAreGood(event.body);
  if (!has_last_) Pop();
  return has_last_;
}

// Where the event will stay: it is read in place.
SchedEvent& OwnEventReader::Push(int64_t time_ns) {
  SchedEvent& event = events_->emplace_back();
  event.time_ns = time_ns;
  event.cpu = cpu_id_;
  event.sequence = cpu_->next_sequence++;
  return event;
}

void OwnEventReader::Pop() {
  events_->pop_back();
  --cpu_->next_sequence;
  has_last_ = false;
}

void OwnEventReader::ReadSwitch(absl::string_view body, SwitchEvent* event) const {
  using perfetto::SchedSwitch;
  std::optional<int32_t> prev_priority;
  std::optional<int32_t> next_priority;
  ProtoReader reader(body);
  for (ProtoField field; reader.Next(&field);) {
    switch (field.number) {
      case SchedSwitch::kPrevPid:
        event->prev = Tid{field.Int32()};
        break;
      case SchedSwitch::kPrevPrio:
        prev_priority = field.Int32();
        break;
      case SchedSwitch::kPrevState:
        event->prev_state = static_cast<uint32_t>(field.value);
        break;
      case SchedSwitch::kNextPid:
        event->next = Tid{field.Int32()};
        break;
      case SchedSwitch::kNextPrio:
        next_priority = field.Int32();
        break;
      default:
        break;
    }
  }
  event->out = perfetto::OutOfReportedState(event->prev_state);
  event->prev_standing = StandingOfPriority(event->prev, prev_priority);
  event->next_standing = StandingOfPriority(event->next, next_priority);
  event->stolen = cpu_->stolen;
  event->preempt = cpu_->preempt;
  event->prev_in_iowait = cpu_->iowait;
}

bool OwnEventReader::ReadStandard(const FtraceEventView& view, SchedEventBody* body) const {
  const Tid current{view.pid.value_or(0)};
  switch (view.kind) {
    case perfetto::FtraceEvent::kSchedSwitch:
      ReadSwitch(view.body, &body->emplace<SwitchEvent>());
      return true;
    case perfetto::FtraceEvent::kSchedWaking: {
      auto& waking = body->emplace<WakingEvent>();
      waking.wakee = Tid{Int32Field(view.body, perfetto::SchedWakeup::kPid)};
      waking.waker = current;
      waking.context = WakerContext::kTask;
      return true;
    }
    case perfetto::FtraceEvent::kSchedWakeup:
    case perfetto::FtraceEvent::kSchedWakeupNew: {
      auto& wakeup = body->emplace<WakeupEvent>();
      wakeup.is_new = view.kind == perfetto::FtraceEvent::kSchedWakeupNew;
      ReadWakeup(view.body, &wakeup);
      return true;
    }
    case perfetto::FtraceEvent::kSchedMigrateTask:
      ReadMigrate(view.body, &body->emplace<MigrateEvent>());
      return true;
    case perfetto::FtraceEvent::kTaskNewtask: {
      const int32_t child = Int32Field(view.body, perfetto::TaskNewtask::kPid);
      *body = ForkEvent{current, Tid{child}, Tgid{child}};
      return true;
    }
    case perfetto::FtraceEvent::kSchedProcessExit:
      *body = ExitEvent{Tid{Int32Field(view.body, perfetto::SchedProcessExit::kPid)}};
      return true;
    case perfetto::FtraceEvent::kTaskRename:
      ReadName(view.body, &body->emplace<TaskNameEvent>());
      return true;
    default:
      return false;
  }
}

bool OwnEventReader::ReadGeneric(const FtraceEventView& view) {
  absl::string_view name;
  facts_.clear();
  ProtoReader reader(view.body);
  for (ProtoField field; reader.Next(&field);) {
    if (field.number == perfetto::GenericEvent::kEventName) name = field.bytes;
    if (field.number != perfetto::GenericEvent::kField) continue;
    GenericFact fact;
    ProtoReader inner(field.bytes);
    for (ProtoField part; inner.Next(&part);) {
      if (part.number == perfetto::GenericField::kName) fact.name = part.bytes;
      if (part.number == perfetto::GenericField::kStrValue) fact.text = part.bytes;
      if (part.number == perfetto::GenericField::kIntValue ||
          part.number == perfetto::GenericField::kUintValue) {
        fact.number = part.Int64();
      }
    }
    if (inner.malformed()) return false;
    facts_.push_back(fact);
  }
  if (reader.malformed()) return false;
  if (name == perfetto::kHiddenSwitch) {
    // The switch before was written for other tools.
    if (has_last_ && events_->back().time_ns == view.time_ns) Pop();
    return true;
  }
  bool understood = true;
  SchedEvent* last = has_last_ ? &events_->back() : nullptr;
  if (last != nullptr && last->time_ns != view.time_ns) last = nullptr;
  if (!CompleteEvent(name, facts_, last, &understood)) {
    std::optional<SchedEventBody> body = StandaloneEvent(name, facts_);
    has_last_ = body && CpusAreGood(*body) && !full();
    if (!has_last_) return false;
    last = &Push(view.time_ns);
    last->body = *std::move(body);
  }
  if (last == nullptr || !understood) return false;
  for (const GenericFact& fact : facts_) {
    if (fact.name != "seq") continue;
    last->sequence = static_cast<uint64_t>(fact.number.value_or(0));
    cpu_->next_sequence = last->sequence + 1;
  }
  if (const auto* event = std::get_if<SwitchEvent>(&last->body)) {
    cpu_->stolen = event->stolen;
    cpu_->preempt = event->preempt;
    cpu_->iowait = event->prev_in_iowait;
  }
  return true;
}

}  // namespace whylate
