#include "userspace/trace/affinity_calls.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "userspace/platform/clock.h"

namespace whylate {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
// Who calls more often than this is not followed any more: from there on nothing is known.
constexpr size_t kMostCalls = 100'000;

}  // namespace

void AffinityCalls::Take(CpuId cpu, absl::Span<const uint8_t> bytes) {
  absl::StatusOr<FtracePage> page = FtracePage::Open(layout_, bytes);
  const auto last = last_ns_.find(cpu);
  const int64_t before_ns = last == last_ns_.end() ? 0 : last->second;
  if (!page.ok()) {
    holes_.push_back({before_ns, kNever, cpu});
    return;
  }
  bool missed = page->missed();
  while (const std::optional<FtraceRecord> record = page->Next()) {
    if (std::exchange(missed, false)) holes_.push_back({before_ns, record->time_ns, cpu});
    last_ns_[cpu] = record->time_ns;
    TakeRecord(*record, cpu);
  }
  if (missed || page->damaged()) holes_.push_back({before_ns, kNever, cpu});
}

void AffinityCalls::TakeRecord(const FtraceRecord& record, CpuId cpu) {
  const FtraceFormat* format = formats_->Find(record.bytes);
  if (format == nullptr) return;
  const std::optional<int64_t> current = format->CurrentTid(record.bytes);
  if (!current.has_value()) return;
  const Tid caller{static_cast<int32_t>(*current)};
  if (full_) return;
  if (format->row().kind == FtraceKind::kCallExit) {
    const int64_t result = format->Number(FtraceField::kCallResult, record.bytes).value_or(-1);
    exits_[caller].push_back({record.time_ns, cpu, result >= 0});
    return;
  }
  // 0 is the caller itself.
  const int64_t argument = format->CallArgument(0, record.bytes).value_or(0) & 0xffffffff;
  const Tid target = argument == 0 ? caller : Tid{static_cast<int32_t>(argument)};
  if (enters_.size() == kMostCalls) {
    full_ = true;
    holes_.push_back({record.time_ns, kNever, cpu});
    return;
  }
  enters_.push_back({record.time_ns, caller, target});
  unread_.insert(target);
}

void AffinityCalls::ReadMasks(const std::function<bool(Tid)>& is_watched,
                              const std::function<absl::StatusOr<CpuSet>(Tid)>& read_mask) {
  for (const Tid task : std::exchange(unread_, {})) {
    if (!is_watched(task)) continue;
    const int64_t begin_ns = MonotonicNs();
    const absl::StatusOr<CpuSet> mask = read_mask(task);
    if (mask.ok()) readings_[task].push_back({begin_ns, MonotonicNs(), *mask});
  }
}

// Each entry with the first exit of its caller after it, in order of their ends.
std::vector<AffinityCalls::Call> AffinityCalls::Calls() const {
  std::map<Tid, std::vector<Exit>> exits = exits_;
  for (auto& [caller, all] : exits) {
    std::sort(all.begin(), all.end(),
              [](const Exit& a, const Exit& b) { return a.time_ns < b.time_ns; });
  }
  std::vector<Call> calls;
  for (const Enter& enter : enters_) {
    Call call{enter.time_ns, kNever, CpuId{}, enter.caller, enter.target};
    const std::vector<Exit>& all = exits[enter.caller];
    const auto exit = std::partition_point(
        all.begin(), all.end(), [&](const Exit& e) { return e.time_ns <= enter.time_ns; });
    if (exit != all.end()) {
      if (!exit->succeeded) continue;
      call.end_ns = exit->time_ns;
      call.cpu = exit->cpu;
    }
    calls.push_back(call);
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const Call& a, const Call& b) { return a.end_ns < b.end_ns; });
  return calls;
}

const CpuSet* AffinityCalls::MaskAfter(const Call& call, absl::Span<const Call> later) const {
  const auto readings = readings_.find(call.target);
  if (readings == readings_.end()) return nullptr;
  const auto after =
      std::find_if(readings->second.begin(), readings->second.end(),
                   [&](const Reading& reading) { return reading.begin_ns >= call.end_ns; });
  if (after == readings->second.end()) return nullptr;
  const auto is_between = [&](int64_t begin_ns, int64_t end_ns) {
    return begin_ns < after->end_ns && end_ns > call.end_ns;
  };
  for (const Call& other : later) {
    if (other.target == call.target && is_between(other.begin_ns, other.end_ns)) return nullptr;
  }
  for (const Hole& hole : holes_) {
    if (is_between(hole.begin_ns, hole.end_ns)) return nullptr;
  }
  return &after->mask;
}

std::vector<SchedEvent> AffinityCalls::Finish() const {
  const std::vector<Call> calls = Calls();
  std::vector<SchedEvent> events;
  std::set<Tid> targets;
  for (size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i];
    if (!readings_.contains(call.target)) continue;  // of nobody who is watched
    targets.insert(call.target);
    const bool ended = call.end_ns != kNever;
    const CpuSet* mask =
        ended ? MaskAfter(call, absl::MakeConstSpan(calls).subspan(i + 1)) : nullptr;
    events.push_back({ended ? call.end_ns : call.begin_ns, call.cpu, 0,
                      AffinityEvent{call.target, mask == nullptr ? CpuSet() : *mask, call.caller}});
  }
  for (const Hole& hole : holes_) {
    for (const Tid task : targets) {
      events.push_back({hole.begin_ns, hole.cpu, 0, AffinityEvent{task, CpuSet(), std::nullopt}});
    }
  }
  std::stable_sort(events.begin(), events.end(), Before);
  return events;
}

}  // namespace whylate
