#include "analysis/import/event_collector.h"

#include <algorithm>
#include <limits>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analysis/import/left_for_idle.h"

namespace whylate {
namespace {

// 73 years: sums and differences of a few such times cannot overflow.
constexpr int64_t kLastTimeNs = std::numeric_limits<int64_t>::max() / 4;
// The kernel's names are shorter; a command line is not.
constexpr size_t kLongestName = 255;
constexpr size_t kMostLossNotes = 8;
// The analysis looks at each of them for each CPU. Past it, a CPU's last one grows.
constexpr size_t kMostLosses = 50'000;

std::string Seconds(int64_t time_ns) {
  return absl::StrFormat("%d.%06d", time_ns / 1'000'000'000, time_ns % 1'000'000'000 / 1000);
}

bool IsKnownName(absl::string_view name) { return !name.empty() && name != "<...>"; }

}  // namespace

EventCollector::EventCollector(std::string format, const ImportLimits& limits) : limits_(limits) {
  trace_.format = std::move(format);
}

bool EventCollector::Possible(int64_t time_ns, CpuId cpu, std::initializer_list<Tid> tids,
                              std::initializer_list<CpuId> cpus) {
  auto cpu_is_possible = [](CpuId id) { return id.value >= 0 && id.value < CpuSet::kMaxCpus; };
  bool possible = time_ns >= 0 && time_ns <= kLastTimeNs && cpu_is_possible(cpu);
  for (const Tid tid : tids) possible = possible && tid.value >= 0;
  for (const CpuId id : cpus) possible = possible && cpu_is_possible(id);
  if (!possible) ++impossible_;
  return possible;
}

void EventCollector::Seen(int64_t time_ns, CpuId cpu) {
  if (!Possible(time_ns, cpu, {})) return;
  CpuStream& stream = cpus_[cpu];
  if (stream.last_ns.has_value() && time_ns < *stream.last_ns) ++disordered_;
  stream.last_ns = std::max(stream.last_ns.value_or(time_ns), time_ns);
  first_ns_ = std::min(first_ns_.value_or(time_ns), time_ns);
  last_ns_ = std::max(last_ns_, time_ns);
}

bool EventCollector::Add(int64_t time_ns, CpuId cpu, SchedEventBody body) {
  if (full()) {
    // A name may come late and for an early time; who has none loses nothing else.
    if (std::holds_alternative<TaskNameEvent>(body)) return false;
    ++dropped_;
    dropped_from_ns_ = std::min(dropped_from_ns_.value_or(time_ns), time_ns);
    return false;
  }
  ++kept_;
  trace_.recording.events.push_back({time_ns, cpu, 0, std::move(body)});
  return true;
}

void EventCollector::Bind(int64_t time_ns, CpuId cpu, const TracedTask& task) {
  priorities_ = priorities_ || (task.priority.has_value() && task.tid != Tid{0});
  if (task.tid == Tid{0} || !IsKnownName(task.name) || full()) return;
  const absl::string_view name = task.name.substr(0, kLongestName);
  auto life = lives_.find(task.tid);
  const uint32_t current = life == lives_.end() ? 0 : life->second;
  auto bound = names_.find({cpu, task.tid});
  if (bound == names_.end()) {
    if (names_.size() >= limits_.names) {
      names_full_ = true;
      return;
    }
    bound = names_.try_emplace({cpu, task.tid}).first;
  } else if (bound->second.life == current && bound->second.name == name) {
    return;
  }
  bound->second = {current, std::string(name)};
  Add(time_ns, cpu, TaskNameEvent{task.tid, std::nullopt, std::string(name), false});
}

void EventCollector::Switch(int64_t time_ns, CpuId cpu, const TracedTask& prev, SwitchOut out,
                            uint32_t prev_state, const TracedTask& next) {
  if (!Possible(time_ns, cpu, {prev.tid, next.tid})) return;
  Seen(time_ns, cpu);
  ++switches_;
  SwitchEvent event;
  event.prev = prev.tid;
  event.next = next.tid;
  event.out = out;
  if (prev.tid == Tid{0}) event.out = SwitchOut::kRunnable;
  event.prev_state = prev_state;
  event.prev_standing = StandingOfTask(prev.tid, prev.name, prev.priority);
  event.next_standing = StandingOfTask(next.tid, next.name, next.priority);
  Bind(time_ns, cpu, prev);
  if (!Add(time_ns, cpu, std::move(event))) return;
  if (out == SwitchOut::kExited) ++lives_[prev.tid];
  Bind(time_ns, cpu, next);
}

void EventCollector::Waking(int64_t time_ns, CpuId cpu, const TracedTask& wakee,
                            const TracedWaker& waker) {
  if (!Possible(time_ns, cpu, {wakee.tid, waker.tid})) return;
  Seen(time_ns, cpu);
  ++wakings_;
  WakingEvent event;
  event.wakee = wakee.tid;
  event.waker = waker.tid;
  event.context = waker.context;
  event.irq = waker.irq;
  event.source_name = waker.source_name.substr(0, kLongestName);
  Bind(time_ns, cpu, wakee);
  Add(time_ns, cpu, std::move(event));
}

void EventCollector::Wakeup(int64_t time_ns, CpuId cpu, const TracedTask& wakee,
                            std::optional<CpuId> target, bool is_new) {
  if (!Possible(time_ns, cpu, {wakee.tid}, {target.value_or(cpu)})) return;
  Seen(time_ns, cpu);
  ++wakeups_;
  if (!target.has_value()) Note("wake-ups do not name their CPU: taken as the waker's");
  WakeupEvent event;
  event.wakee = wakee.tid;
  event.target = target.value_or(cpu);
  event.is_new = is_new;
  event.standing = StandingOfTask(wakee.tid, wakee.name, wakee.priority);
  // A name goes to the life that is there before the wake-up of a new task.
  if (!is_new) Bind(time_ns, cpu, wakee);
  if (Add(time_ns, cpu, std::move(event)) && is_new) Bind(time_ns, cpu, wakee);
}

void EventCollector::Migrate(int64_t time_ns, CpuId cpu, const TracedTask& task, CpuId from,
                             CpuId to) {
  if (!Possible(time_ns, cpu, {task.tid}, {from, to})) return;
  Seen(time_ns, cpu);
  Bind(time_ns, cpu, task);
  Add(time_ns, cpu, MigrateEvent{task.tid, from, to});
}

void EventCollector::Fork(int64_t time_ns, CpuId cpu, const TracedTask& parent,
                          const TracedTask& child, bool is_thread) {
  if (!Possible(time_ns, cpu, {parent.tid, child.tid})) return;
  Seen(time_ns, cpu);
  Bind(time_ns, cpu, parent);
  if (!Add(time_ns, cpu, ForkEvent{parent.tid, child.tid, Tgid{child.tid.value}})) return;
  ++lives_[child.tid];
  ++forks_[child.tid];
  if (is_thread) forked_threads_.emplace(child.tid, time_ns);
  Bind(time_ns, cpu, child);
}

void EventCollector::Exit(int64_t time_ns, CpuId cpu, const TracedTask& task) {
  if (!Possible(time_ns, cpu, {task.tid})) return;
  Seen(time_ns, cpu);
  Bind(time_ns, cpu, task);
  Add(time_ns, cpu, ExitEvent{task.tid});
}

void EventCollector::Name(int64_t time_ns, CpuId cpu, const TracedTask& task,
                          std::optional<Tgid> tgid, bool is_kernel_thread) {
  if (!Possible(time_ns, cpu, {task.tid}) || task.tid == Tid{0} || !IsKnownName(task.name)) return;
  const std::string name(task.name.substr(0, kLongestName));
  if (names_.size() >= limits_.names) {
    names_full_ = true;
    return;
  }
  auto life = lives_.find(task.tid);
  names_[{cpu, task.tid}] = {life == lives_.end() ? 0 : life->second, name};
  Add(time_ns, cpu, TaskNameEvent{task.tid, tgid, name, is_kernel_thread});
}

void EventCollector::Lost(CpuId cpu, std::optional<int64_t> begin_ns, std::optional<int64_t> end_ns,
                          uint64_t count) {
  // A known end is at least 0 and known ones are closed by Finish(): unset is 0 and "the end".
  const int64_t begin = begin_ns.value_or(0);
  const int64_t end = end_ns.value_or(kLastTimeNs);
  if (!Possible(begin, cpu, {}) || end < begin || end > kLastTimeNs) return;
  std::vector<LossInterval>& losses = trace_.recording.losses;
  CpuStream& stream = cpus_[cpu];
  if (losses.size() >= kMostLosses && stream.last_loss.has_value()) {
    LossInterval& last = losses[*stream.last_loss];
    last.begin_ns = std::min(last.begin_ns, begin);
    last.end_ns = std::max(last.end_ns, end);
    last.count += std::min(count, std::numeric_limits<uint64_t>::max() - last.count);
    return;
  }
  stream.last_loss = losses.size();
  losses.push_back({cpu, begin, end, count});
}

void EventCollector::Seed(int64_t time_ns, CpuId cpu, const TracedTask& task) {
  if (!Possible(time_ns, cpu, {task.tid})) return;
  Seen(time_ns, cpu);
  ++switches_;
  if (!Add(time_ns, cpu,
           CpuSeedEvent{task.tid, StandingOfTask(task.tid, task.name, task.priority)})) {
    return;
  }
  Bind(time_ns, cpu, task);
}

void EventCollector::Unseen(CpuId cpu, std::optional<int64_t> begin_ns,
                            std::optional<int64_t> end_ns) {
  if (!Possible(begin_ns.value_or(0), cpu, {}) || !Possible(end_ns.value_or(0), cpu, {})) return;
  if (unseen_.size() < kMostLosses) {
    unseen_.push_back({cpu, begin_ns.value_or(0), end_ns.value_or(kLastTimeNs), 0});
  } else {
    Lost(cpu, begin_ns, end_ns, 0);
  }
}

void EventCollector::ClocksDiffer(std::string why) {
  clocks_differ_ = true;
  Note(std::move(why));
}

void EventCollector::Note(std::string note) {
  if (noted_.size() >= limits_.names || !noted_.insert(note).second) return;
  trace_.notes.push_back(std::move(note));
}

void EventCollector::OrderEvents() {
  std::vector<SchedEvent>& events = trace_.recording.events;
  auto before = [](const SchedEvent& a, const SchedEvent& b) {
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.cpu < b.cpu;
  };
  if (!std::is_sorted(events.begin(), events.end(), before)) {
    std::stable_sort(events.begin(), events.end(), before);
  }
  DropRepeatedNames();
  std::map<CpuId, uint64_t> sequences;
  for (SchedEvent& event : events) event.sequence = ++sequences[event.cpu];
}

void EventCollector::DropRepeatedNames() {
  absl::flat_hash_map<Tid, TaskNameEvent> current;
  auto is_repeated = [&](SchedEvent& event) {
    if (const auto* fork = std::get_if<ForkEvent>(&event.body)) current.erase(fork->child);
    if (const auto* wakeup = std::get_if<WakeupEvent>(&event.body)) {
      if (wakeup->is_new) current.erase(wakeup->wakee);
    }
    if (const auto* switched = std::get_if<SwitchEvent>(&event.body)) {
      if (switched->out == SwitchOut::kExited) current.erase(switched->prev);
    }
    auto* name = std::get_if<TaskNameEvent>(&event.body);
    if (name == nullptr) return false;
    auto [known, is_first] = current.try_emplace(name->task, *name);
    if (is_first) return false;
    // What an earlier event told about the same life stays true.
    if (!name->tgid.has_value()) name->tgid = known->second.tgid;
    name->is_kernel_thread = name->is_kernel_thread || known->second.is_kernel_thread;
    if (known->second == *name) return true;
    known->second = *name;
    return false;
  };
  std::vector<SchedEvent>& events = trace_.recording.events;
  events.erase(std::remove_if(events.begin(), events.end(), is_repeated), events.end());
}

// The process of a child: its parent's, of which a name or an earlier fork may tell.
void EventCollector::SettleForks() {
  absl::flat_hash_map<Tid, Tgid> tgids;
  for (SchedEvent& event : trace_.recording.events) {
    if (const auto* name = std::get_if<TaskNameEvent>(&event.body)) {
      if (name->tgid.has_value()) tgids[name->task] = *name->tgid;
    } else if (auto* fork = std::get_if<ForkEvent>(&event.body)) {
      const auto told = forked_into_.find(fork->child);
      if (forked_threads_.contains({fork->child, event.time_ns})) {
        const auto parent = tgids.find(fork->parent);
        // Not known: a process's first thread is likelier to make others than any other of it.
        fork->child_tgid = parent == tgids.end() ? Tgid{fork->parent.value} : parent->second;
      } else if (told != forked_into_.end() && forks_[fork->child] == 1) {
        fork->child_tgid = told->second;
      }
      tgids[fork->child] = fork->child_tgid;
    }
  }
}

void EventCollector::SettleLeavingForIdle() {
  LeftForIdle tasks(trace_.recording, {.wakings = wakings_ > 0, .wakeups = wakeups_ > 0});
  for (SchedEvent& event : trace_.recording.events) tasks.Event(&event);
  tasks.Finish();
  if (tasks.throttled() > 0) {
    Note(absl::StrCat(tasks.throttled(), " switches of a runnable task to the idle task, without a",
                      " wake-up before it ran again: taken as throttled"));
  }
  if (tasks.bandwidth() > 0) {
    Note(absl::StrCat(tasks.bandwidth(), " switches of a runnable real-time task to the idle task,",
                      " without a wake-up: taken as a wait for real-time bandwidth"));
  }
  if (tasks.unknown() > 0) {
    Note(absl::StrCat(tasks.unknown(), " switches of a runnable task to the idle task: asleep or",
                      " throttled, the trace does not tell"));
  }
}

void EventCollector::CloseLosses() {
  Recording& recording = trace_.recording;
  TraceFacts& facts = *recording.trace;
  for (LossInterval& loss : recording.losses) {
    loss.begin_ns = std::clamp(loss.begin_ns, recording.begin_ns, recording.end_ns);
    loss.end_ns = std::clamp(loss.end_ns, loss.begin_ns, recording.end_ns);
    facts.lost += std::min(loss.count, std::numeric_limits<uint64_t>::max() - facts.lost);
  }
}

// The analysis treats them as it does a loss; nothing more is to be said of them.
void EventCollector::AddUnseen() {
  Recording& recording = trace_.recording;
  for (LossInterval& unseen : unseen_) {
    unseen.begin_ns = std::clamp(unseen.begin_ns, recording.begin_ns, recording.end_ns);
    unseen.end_ns = std::min(unseen.end_ns, recording.end_ns);
    if (unseen.begin_ns < unseen.end_ns) recording.losses.push_back(unseen);
  }
}

void EventCollector::AddLossNotes() {
  std::map<CpuId, LossInterval> by_cpu;
  bool counted = true;
  for (const LossInterval& loss : trace_.recording.losses) {
    auto [found, is_first] = by_cpu.try_emplace(loss.cpu, loss);
    LossInterval& total = found->second;
    counted = counted && loss.count > 0;
    if (is_first) continue;
    total.begin_ns = std::min(total.begin_ns, loss.begin_ns);
    total.end_ns = std::max(total.end_ns, loss.end_ns);
    total.count += std::min(loss.count, std::numeric_limits<uint64_t>::max() - total.count);
  }
  if (by_cpu.empty()) return;
  if (by_cpu.size() > kMostLossNotes) {
    Note(absl::StrCat("events lost on ", by_cpu.size(), " CPUs", counted ? ": " : ": at least ",
                      trace_.recording.trace->lost));
    return;
  }
  for (const auto& [cpu, loss] : by_cpu) {
    Note(absl::StrCat("events lost on CPU ", cpu.value, " between ", Seconds(loss.begin_ns),
                      " s and ", Seconds(loss.end_ns), " s",
                      loss.count > 0 ? absl::StrCat(": ", loss.count) : std::string()));
  }
}

void EventCollector::AddNotes() {
  if (switches_ == 0) Note("no switches: who ran, and when, is not known");
  if (wakings_ + wakeups_ == 0) {
    Note("no wake-up events: when a sleeping task became runnable is not known");
  } else if (wakings_ == 0) {
    Note("no sched_waking events: a wait begins when the task was queued, by sched_wakeup");
  } else if (wakeups_ == 0) {
    Note("no sched_wakeup events: on which CPU a woken task was queued is not known");
  }
  if (cpus_.size() > 1) Note("no affinity: idle CPUs make a wait possibly avoidable");
  Note(priorities_ ? "scheduling classes follow from the priorities"
                   : "no priorities: scheduling classes are not known");
  AddLossNotes();
  if (disordered_ > 0) {
    Note(absl::StrCat(disordered_, " events were out of time order: sorted"));
  }
  if (impossible_ > 0) {
    Note(absl::StrCat(impossible_, " events with an impossible time, CPU or tid: left out"));
  }
  if (dropped_ > 0) {
    Note(absl::StrCat("too many events: the first ", kept_, " are kept, ", dropped_, " are not"));
  }
  if (names_full_) Note(absl::StrCat("too many tasks: names are kept of ", limits_.names));
}

absl::StatusOr<ImportedTrace> EventCollector::Finish() {
  const bool has_events = switches_ + wakings_ + wakeups_ > 0;
  if (!has_events && !told_result_) {
    return absl::InvalidArgumentError(absl::StrCat(
        trace_.format, " without a scheduler event: no sched_switch, sched_waking or",
        " sched_wakeup in it", impossible_ > 0 ? " with a possible time, CPU and tid" : ""));
  }
  Recording& recording = trace_.recording;
  recording.begin_ns = first_ns_.value_or(0);
  // What tells a name alone is no event that the trace covers: it does not make the trace longer.
  for (SchedEvent& event : recording.events) {
    event.time_ns = std::clamp(event.time_ns, recording.begin_ns, last_ns_);
  }
  OrderEvents();
  SettleForks();
  // Past the last event, so that whoever it brings onto a CPU is seen to run.
  recording.end_ns = last_ns_ + 1;
  const auto is_event = [](const SchedEvent& event) {
    return !std::holds_alternative<TaskNameEvent>(event.body);
  };
  const auto count = std::count_if(recording.events.begin(), recording.events.end(), is_event);
  recording.trace = TraceFacts{.source = trace_.format, .events = static_cast<uint64_t>(count)};
  recording.trace->comparable_clocks = !clocks_differ_;
  for (const auto& [cpu, stream] : cpus_) recording.cpus.push_back({.cpu = cpu});
  if (dropped_from_ns_.has_value()) {
    recording.omitted.push_back({*dropped_from_ns_, recording.end_ns});
  }
  CloseLosses();
  SettleLeavingForIdle();
  if (has_events) AddNotes();
  AddUnseen();
  return std::move(trace_);
}

}  // namespace whylate
