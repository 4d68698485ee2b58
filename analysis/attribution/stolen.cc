#include "analysis/attribution/stolen.h"

#include <algorithm>
#include <optional>
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

// What the sources of one context took of a stint, by name: the records right before its end.
struct SourceTime {
  std::string name;
  int64_t ns = 0;
};

std::vector<SourceTime> SourcesOf(const Timeline& timeline, const Stint& stint, PartKind kind) {
  std::vector<SourceTime> sources;
  const SchedEvent& out = timeline.event(stint.out_event);
  for (int32_t at = stint.out_event - 1; at >= 0; --at) {
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

}  // namespace

std::string SubjectOf(const Part& part) {
  return part.source.empty() ? ToString(part.kind) : part.source;
}

int64_t ShareOf(int64_t amount, int64_t begin, int64_t end, int64_t whole) {
  return Scaled(amount, end, whole) - Scaled(amount, begin, whole);
}

std::vector<Part> StolenParts(const Timeline& timeline, const Stint& stint, const Interval& cut) {
  if (stint.in_event == kNoEvent || stint.out_event == kNoEvent || stint.task == kNoTask) return {};
  const auto* in = std::get_if<SwitchEvent>(&timeline.event(stint.in_event).body);
  const auto* out = std::get_if<SwitchEvent>(&timeline.event(stint.out_event).body);
  if (in == nullptr || out == nullptr) return {};
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
  const Interval common = Intersection(stint.interval(), cut);
  const bool prorated = common != stint.interval();
  const int64_t whole_ns = stint.interval().LengthNs();
  int64_t left_ns = common.LengthNs();
  std::vector<Part> parts;
  for (const Counter& counter : kCounters) {
    const std::optional<int64_t>& before = in->stolen.*counter.value;
    const std::optional<int64_t>& after = out->stolen.*counter.value;
    if (!before.has_value() || !after.has_value() || *after <= *before) continue;
    const int64_t share_ns = ShareOf(*after - *before, common.start_ns - stint.start_ns,
                                     common.end_ns - stint.start_ns, whole_ns);
    const int64_t ns = std::clamp<int64_t>(share_ns, 0, left_ns);
    if (ns == 0) continue;
    AddBySource(SourcesOf(timeline, stint, counter.kind), *after - *before,
                {counter.kind, ns, prorated, ""}, &parts);
    left_ns -= ns;
  }
  return parts;
}

}  // namespace whylate
