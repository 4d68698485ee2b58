#include "analysis/timeline/cpu_occupancy.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>
#include <variant>

namespace whylate {

// Follows one CPU through its records and gaps, in order.
class CpuScan {
 public:
  CpuScan(CpuOccupancy* out, CpuOccupancy::Cpu* cpu_out, CpuId cpu,
          const std::vector<const SchedEvent*>& events, const TaskTable& tasks,
          const Interval& bounds)
      : out_(*out),
        cpu_out_(*cpu_out),
        cpu_(cpu),
        events_(events),
        tasks_(tasks),
        bounds_(bounds),
        resume_ns_(bounds.start_ns) {}

  void Record(size_t index);
  void Finish();

 private:
  bool known() const { return current_ != kNoTask; }
  void ApplyGaps(int64_t time_ns, size_t index);
  void OnGap(const Gap& gap, size_t index);
  void OnSwitch(const SwitchEvent& event, int64_t time_ns, size_t index);
  void OnBreak(const SwitchEvent& event, TaskIndex prev, int64_t time_ns, size_t index);
  // The task found on the CPU has been there since the begin or the last gap.
  void FillBack(TaskIndex task, size_t index);
  void Push(Stint stint);
  void Change(HiddenChange change, size_t not_before, size_t index);

  CpuOccupancy& out_;
  CpuOccupancy::Cpu& cpu_out_;
  const CpuId cpu_;
  const std::vector<const SchedEvent*>& events_;
  const TaskTable& tasks_;
  const Interval bounds_;

  TaskIndex current_ = kNoTask;
  int64_t since_ns_ = 0;
  int32_t in_event_ = kNoEvent;
  bool start_repaired_ = false;
  int64_t proof_ns_ = 0;    // the last record that names current_
  size_t proof_event_ = 0;  // one past it
  // While current_ is not known: from when on the next occupant found holds.
  int64_t resume_ns_;
  UnknownReason resume_reason_ = UnknownReason::kNeverSeen;
  size_t gap_event_ = 0;  // one past the last event before the last gap
  size_t next_gap_ = 0;
};

void CpuScan::Push(Stint stint) {
  // A record within a gap contradicts it; the gap stands.
  if (!cpu_out_.stints.empty()) {
    stint.start_ns = std::max(stint.start_ns, cpu_out_.stints.back().end_ns);
  }
  if (stint.start_ns < stint.end_ns) cpu_out_.stints.push_back(stint);
}

// Places a change by its time among the events, after the first `not_before` and before `index`.
void CpuScan::Change(HiddenChange change, size_t not_before, size_t index) {
  if (change.from == kIdleTask) change.from = kNoTask;
  if (change.to == kIdleTask) change.to = kNoTask;
  if (change.from == kNoTask && change.to == kNoTask) return;
  const auto at = std::partition_point(
      events_.begin(), events_.end(),
      [&](const SchedEvent* event) { return event->time_ns < change.time_ns; });
  const size_t position = static_cast<size_t>(at - events_.begin());
  change.position = std::clamp(position, std::min(not_before, index), index);
  change.cpu = cpu_;
  out_.hidden_changes_.push_back(change);
}

void CpuScan::Record(size_t index) {
  const SchedEvent& event = *events_[index];
  ApplyGaps(event.time_ns, index);
  if (const auto* switched = std::get_if<SwitchEvent>(&event.body)) {
    OnSwitch(*switched, event.time_ns, index);
  } else if (const auto* seed = std::get_if<CpuSeedEvent>(&event.body)) {
    if (known()) return;
    FillBack(tasks_.Find(seed->current, index), index);
    in_event_ = static_cast<int32_t>(index);
  } else if (const auto* waking = std::get_if<WakingEvent>(&event.body)) {
    // The task that a waking interrupted or came from was on this CPU.
    if (known() && tasks_.info(current_).key.tid == waking->waker) {
      proof_ns_ = event.time_ns;
      proof_event_ = index + 1;
    }
  }
}

void CpuScan::ApplyGaps(int64_t time_ns, size_t index) {
  // A record at a gap's start is the last one before it, one at its end the first one after it.
  while (next_gap_ < cpu_out_.gaps.size()) {
    const Gap& gap = cpu_out_.gaps[next_gap_];
    if (gap.interval.start_ns >= time_ns) break;
    OnGap(gap, index);
    ++next_gap_;
  }
}

void CpuScan::OnGap(const Gap& gap, size_t index) {
  const int64_t start_ns = std::clamp(gap.interval.start_ns, bounds_.start_ns, bounds_.end_ns);
  const int64_t end_ns = std::clamp(gap.interval.end_ns, bounds_.start_ns, bounds_.end_ns);
  const auto after =
      std::partition_point(events_.begin(), events_.begin() + static_cast<ptrdiff_t>(index),
                           [&](const SchedEvent* event) { return event->time_ns <= start_ns; });
  gap_event_ = static_cast<size_t>(after - events_.begin());
  if (known()) {
    Push({since_ns_, start_ns, current_, in_event_, kNoEvent, UnknownReason::kNone,
          start_repaired_});
    HiddenChange change;
    change.time_ns = start_ns;
    change.from = current_;
    change.reason = gap.reason;
    change.known_again_ns = end_ns;
    Change(change, gap_event_, index);
    current_ = kNoTask;
  } else {
    Push({resume_ns_, start_ns, kNoTask, kNoEvent, kNoEvent, resume_reason_, false});
  }
  Push({start_ns, end_ns, kNoTask, kNoEvent, kNoEvent, gap.reason, false});
  resume_ns_ = end_ns;
  resume_reason_ = gap.reason;
}

void CpuScan::FillBack(TaskIndex task, size_t index) {
  HiddenChange change;
  change.time_ns = resume_ns_;
  change.to = task;
  change.reason = resume_reason_;
  Change(change, gap_event_, index);
  current_ = task;
  since_ns_ = resume_ns_;
  in_event_ = kNoEvent;
  start_repaired_ = false;
  proof_ns_ = events_[index]->time_ns;
  proof_event_ = index + 1;
}

void CpuScan::OnSwitch(const SwitchEvent& event, int64_t time_ns, size_t index) {
  // A tid may have been given away already when its last owner leaves the CPU.
  const bool same_tid = known() && tasks_.info(current_).key.tid == event.prev;
  const TaskIndex prev = same_tid ? current_ : tasks_.Find(event.prev, index);
  if (!known() && time_ns < resume_ns_) {
    // The last switch of a stretch that was not kept: it says who runs when that ends, no more.
    FillBack(tasks_.Find(event.next, index), index);
    in_event_ = static_cast<int32_t>(index);
    return;
  }
  if (!known()) FillBack(prev, index);
  if (current_ == prev) {
    Push({since_ns_, time_ns, current_, in_event_, static_cast<int32_t>(index),
          UnknownReason::kNone, start_repaired_});
  } else {
    OnBreak(event, prev, time_ns, index);
  }
  current_ = tasks_.Find(event.next, index);
  out_.switch_tasks_[index] = {prev, current_};
  since_ns_ = time_ns;
  in_event_ = static_cast<int32_t>(index);
  start_repaired_ = false;
  proof_ns_ = time_ns;
  proof_event_ = index + 1;
}

void CpuScan::OnBreak(const SwitchEvent& event, TaskIndex prev, int64_t time_ns, size_t index) {
  ++out_.breaks_;
  HiddenChange change;
  change.reason = UnknownReason::kHiddenTask;
  const std::optional<int64_t> arrival = event.prev_arrival_ns;
  const bool credible = arrival.has_value() && *arrival >= proof_ns_ - kRepairBoundNs &&
                        *arrival <= time_ns + kRepairBoundNs;
  if (credible) {
    const int64_t at_ns = std::clamp(*arrival, proof_ns_, time_ns);
    Push({since_ns_, at_ns, current_, in_event_, kNoEvent, UnknownReason::kNone, true});
    Push({at_ns, time_ns, prev, kNoEvent, static_cast<int32_t>(index), UnknownReason::kNone, true});
    cpu_out_.repairs.push_back({proof_ns_, std::min(time_ns, at_ns + kRepairBoundNs)});
    change.time_ns = at_ns;
    change.known_again_ns = at_ns;
    change.from = current_;
    change.to = prev;
    Change(change, proof_event_, index);
    return;
  }
  Push(
      {since_ns_, proof_ns_, current_, in_event_, kNoEvent, UnknownReason::kNone, start_repaired_});
  Push({proof_ns_, time_ns, kNoTask, kNoEvent, static_cast<int32_t>(index),
        UnknownReason::kHiddenTask, false});
  cpu_out_.breaks.push_back({proof_ns_, time_ns});
  change.time_ns = proof_ns_;
  change.known_again_ns = time_ns;
  change.from = current_;
  Change(change, proof_event_, index);
  change.time_ns = time_ns;
  change.from = kNoTask;
  change.to = prev;
  Change(change, index, index);
}

void CpuScan::Finish() {
  ApplyGaps(bounds_.end_ns, events_.size());
  if (known()) {
    Push({since_ns_, bounds_.end_ns, current_, in_event_, kNoEvent, UnknownReason::kNone,
          start_repaired_});
  } else {
    Push({resume_ns_, bounds_.end_ns, kNoTask, kNoEvent, kNoEvent, resume_reason_, false});
  }
  cpu_out_.repairs = Merge(std::move(cpu_out_.repairs));
  cpu_out_.breaks = Merge(std::move(cpu_out_.breaks));
}

CpuOccupancy::CpuOccupancy(const Recording& recording, const std::vector<const SchedEvent*>& events,
                           const TaskTable& tasks, const Interval& bounds)
    : cpus_(RecordingCpus(recording)),
      data_(cpus_.size()),
      switch_tasks_(events.size(), {kNoTask, kNoTask}) {
  index_.assign(cpus_.empty() ? 0 : static_cast<size_t>(cpus_.back().value) + 1, -1);
  std::vector<CpuScan> scans;
  scans.reserve(cpus_.size());
  IntervalList gaps;
  for (size_t i = 0; i < cpus_.size(); ++i) {
    index_[static_cast<size_t>(cpus_[i].value)] = static_cast<int32_t>(i);
    data_[i].gaps = CpuGaps(recording, cpus_[i]);
    for (const Gap& gap : data_[i].gaps) gaps.push_back(gap.interval);
    scans.emplace_back(this, &data_[i], cpus_[i], events, tasks, bounds);
  }
  all_gaps_ = Merge(std::move(gaps));
  for (size_t i = 0; i < events.size(); ++i) {
    const Cpu* cpu = Find(events[i]->cpu);
    if (cpu != nullptr) scans[static_cast<size_t>(cpu - data_.data())].Record(i);
  }
  for (CpuScan& scan : scans) scan.Finish();
  // Where two fall between the same events: by time; and a task leaves a CPU before it is on
  // another.
  std::stable_sort(hidden_changes_.begin(), hidden_changes_.end(),
                   [](const HiddenChange& a, const HiddenChange& b) {
                     return std::tuple(a.position, a.time_ns, a.from == kNoTask) <
                            std::tuple(b.position, b.time_ns, b.from == kNoTask);
                   });
}

const CpuOccupancy::Cpu* CpuOccupancy::Find(CpuId cpu) const {
  if (cpu.value < 0 || static_cast<size_t>(cpu.value) >= index_.size()) return nullptr;
  const int32_t index = index_[static_cast<size_t>(cpu.value)];
  return index < 0 ? nullptr : &data_[static_cast<size_t>(index)];
}

std::span<const Stint> CpuOccupancy::Stints(CpuId cpu) const {
  const Cpu* data = Find(cpu);
  if (data == nullptr) return {};
  return data->stints;
}

std::span<const Stint> CpuOccupancy::StintsIn(CpuId cpu, const Interval& window) const {
  const std::span<const Stint> all = Stints(cpu);
  const auto first = std::partition_point(
      all.begin(), all.end(), [&](const Stint& stint) { return stint.end_ns <= window.start_ns; });
  const auto last = std::partition_point(
      first, all.end(), [&](const Stint& stint) { return stint.start_ns < window.end_ns; });
  return all.subspan(static_cast<size_t>(first - all.begin()), static_cast<size_t>(last - first));
}

const Stint* CpuOccupancy::StintAt(CpuId cpu, int64_t time_ns) const {
  const std::span<const Stint> found = StintsIn(cpu, {time_ns, time_ns + 1});
  return found.empty() ? nullptr : &found.front();
}

const std::vector<Gap>& CpuOccupancy::Gaps(CpuId cpu) const {
  static const std::vector<Gap>* const kNone = new std::vector<Gap>();
  const Cpu* data = Find(cpu);
  return data == nullptr ? *kNone : data->gaps;
}

const IntervalList& CpuOccupancy::Repairs(CpuId cpu) const {
  static const IntervalList* const kNone = new IntervalList();
  const Cpu* data = Find(cpu);
  return data == nullptr ? *kNone : data->repairs;
}

const IntervalList& CpuOccupancy::Breaks(CpuId cpu) const {
  static const IntervalList* const kNone = new IntervalList();
  const Cpu* data = Find(cpu);
  return data == nullptr ? *kNone : data->breaks;
}

}  // namespace whylate
