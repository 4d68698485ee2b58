#include "analysis/attribution/stolen.h"

#include <algorithm>
#include <optional>
#include <variant>

namespace whylate {
namespace {

// Amounts times lengths pass 2^63 for stints above some seconds.
using Wide = __int128;

int64_t Scaled(int64_t amount, int64_t part, int64_t whole) {
  return whole <= 0 ? 0 : static_cast<int64_t>(static_cast<Wide>(amount) * part / whole);
}

}  // namespace

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
    parts.push_back({counter.kind, ns, prorated});
    left_ns -= ns;
  }
  return parts;
}

}  // namespace whylate
