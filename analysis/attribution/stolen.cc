#include "analysis/attribution/stolen.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "analysis/attribution/cast.h"

namespace whylate {
namespace {

// Amounts times lengths pass 2^63 for stints above some seconds.
using Wide = __int128;

int64_t Scaled(int64_t amount, int64_t part, int64_t whole) {
  return whole <= 0 ? 0 : static_cast<int64_t>(static_cast<Wide>(amount) * part / whole);
}

// What the sources of one context took of the stint that a switch ended, by name: the records right
// before it.
struct SourceTime {
  std::string name;
  int64_t ns = 0;
};

std::vector<SourceTime> SourcesOf(const Timeline& timeline, int32_t out_event, PartKind kind) {
  std::vector<SourceTime> sources;
  const SchedEvent& out = timeline.event(out_event);
  for (int32_t at = out_event - 1; at >= 0; --at) {
    const SchedEvent& event = timeline.event(at);
    if (event.time_ns != out.time_ns || event.cpu != out.cpu) break;
    const auto* time = std::get_if<InterruptTimeEvent>(&event.body);
    if (time == nullptr) continue;
    const bool is_hard = time->context == WakerContext::kHardIrq;
    const bool is_soft = time->context == WakerContext::kSoftIrq;
    if ((kind == PartKind::kIrq && is_hard) || (kind == PartKind::kSoftirq && is_soft)) {
      sources.push_back({InterruptName(time->context, time->irq, time->source_name),
                         std::max<int64_t>(0, time->ns)});
    }
  }
  return sources;
}

// Splits `ns`, which all sources of a kind took of a cut, by what each took of the whole stint:
// `whole_ns`. What no source accounts for stands last, without a name.
void AddBySource(const std::vector<SourceTime>& sources, int64_t whole_ns, Part part,
                 std::vector<Part>* parts) {
  const int64_t ns = part.ns;
  int64_t at_ns = 0;
  for (const SourceTime& source : sources) {
    const int64_t end_ns = std::min(whole_ns, at_ns + std::min(source.ns, whole_ns));
    part.ns = ShareOf(ns, at_ns, end_ns, whole_ns);
    part.source = source.name;
    at_ns = end_ns;
    if (part.ns > 0) parts->push_back(part);
  }
  part.ns = ShareOf(ns, at_ns, whole_ns, whole_ns);
  part.source.clear();
  if (part.ns > 0) parts->push_back(std::move(part));
}

// A stay on a CPU between two switches that have records: a stint, and where an end of it has none,
// its neighbours up to those that have.
struct Recorded {
  Interval interval;
  int32_t in_event = kNoEvent;
  int32_t out_event = kNoEvent;
};

const SwitchEvent* SwitchAt(const Timeline& timeline, int32_t event) {
  return event == kNoEvent ? nullptr : std::get_if<SwitchEvent>(&timeline.event(event).body);
}

// nullopt where no switch nearby has a record. `stint` is one of the timeline's own.
std::optional<Recorded> FindRecorded(const Timeline& timeline, const Stint& stint) {
  constexpr int kMostNeighbours = 4;
  const int32_t known = stint.out_event != kNoEvent ? stint.out_event : stint.in_event;
  if (known == kNoEvent) return std::nullopt;
  const std::span<const Stint> all = timeline.cpus().Stints(timeline.event(known).cpu);
  const auto found = std::partition_point(
      all.begin(), all.end(), [&](const Stint& s) { return s.start_ns < stint.start_ns; });
  if (found == all.end() || found->start_ns != stint.start_ns) return std::nullopt;
  auto first = found;
  for (int i = 0; SwitchAt(timeline, first->in_event) == nullptr; ++i) {
    if (first == all.begin() || i == kMostNeighbours) return std::nullopt;
    --first;
  }
  auto last = found;
  for (int i = 0; SwitchAt(timeline, last->out_event) == nullptr; ++i) {
    if (std::next(last) == all.end() || i == kMostNeighbours) return std::nullopt;
    ++last;
  }
  return Recorded{{first->start_ns, last->end_ns}, first->in_event, last->out_event};
}

}  // namespace

std::string SubjectOf(const Part& part) {
  return part.source.empty() ? ToString(part.kind) : part.source;
}

int64_t ShareOf(int64_t amount, int64_t begin, int64_t end, int64_t whole) {
  return Scaled(amount, end, whole) - Scaled(amount, begin, whole);
}

std::vector<Part> StolenParts(const Timeline& timeline, const Stint& stint, const Interval& cut) {
  if (stint.task == kNoTask) return {};
  const std::optional<Recorded> recorded = FindRecorded(timeline, stint);
  if (!recorded.has_value()) return {};
  const SwitchEvent& in = *SwitchAt(timeline, recorded->in_event);
  const SwitchEvent& out = *SwitchAt(timeline, recorded->out_event);
  struct Counter {
    PartKind kind;
    std::optional<int64_t> StolenTime::*value;
  };
  // No source counts NMIs.
  static constexpr Counter kCounters[] = {
      {PartKind::kIrq, &StolenTime::irq_ns},
      {PartKind::kSoftirq, &StolenTime::softirq_ns},
      {PartKind::kSteal, &StolenTime::steal_ns},
  };
  const Interval& whole = recorded->interval;
  const Interval common = Intersection(stint.interval(), cut);
  const bool prorated = common != whole;
  int64_t left_ns = common.LengthNs();
  std::vector<Part> parts;
  for (const Counter& counter : kCounters) {
    const std::optional<int64_t>& before = in.stolen.*counter.value;
    const std::optional<int64_t>& after = out.stolen.*counter.value;
    if (!before.has_value() || !after.has_value() || *after <= *before) continue;
    const int64_t share_ns = ShareOf(*after - *before, common.start_ns - whole.start_ns,
                                     common.end_ns - whole.start_ns, whole.LengthNs());
    const int64_t ns = std::clamp<int64_t>(share_ns, 0, left_ns);
    if (ns == 0) continue;
    AddBySource(SourcesOf(timeline, recorded->out_event, counter.kind), *after - *before,
                {counter.kind, ns, prorated, ""}, &parts);
    left_ns -= ns;
  }
  return parts;
}

}  // namespace whylate
