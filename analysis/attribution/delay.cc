#include "analysis/attribution/delay.h"

#include <algorithm>
#include <cstddef>

#include "analysis/attribution/stolen.h"

namespace whylate {
namespace {

// Running beyond the demand is not in one place: what a kind took is shared out over the running
// segments by what each lost to it, the rest by their remaining lengths.
class ExcessRun {
 public:
  void Add(Segment* segment) {
    segments_.push_back(segment);
    left_.push_back(segment->end_ns - segment->start_ns);
  }

  void Charge(int64_t excess_ns, FrameDelay* delay) {
    for (const PartKind kind :
         {PartKind::kNmi, PartKind::kIrq, PartKind::kSoftirq, PartKind::kSteal}) {
      std::vector<int64_t> amounts;
      for (size_t i = 0; i < segments_.size(); ++i) {
        int64_t ns = 0;
        for (const Part& part : segments_[i]->parts) ns += part.kind == kind ? part.ns : 0;
        amounts.push_back(std::min(ns, left_[i]));
      }
      excess_ns -= Share(amounts, excess_ns, ToString(kind), delay);
    }
    const std::vector<int64_t> capacity = left_;
    std::vector<int64_t> slow;
    Share(capacity, excess_ns, kSubjectSelf, delay, &slow);
    for (size_t i = 0; i < slow.size(); ++i) {
      if (slow[i] > 0) segments_[i]->parts.push_back({PartKind::kSlow, slow[i], true});
    }
  }

 private:
  int64_t Share(const std::vector<int64_t>& amounts, int64_t limit_ns, const std::string& subject,
                FrameDelay* delay, std::vector<int64_t>* shares = nullptr) {
    int64_t whole = 0;
    for (const int64_t amount : amounts) whole += amount;
    const int64_t total = std::min(whole, limit_ns);
    if (total <= 0) return 0;
    int64_t at = 0;
    for (size_t i = 0; i < amounts.size(); ++i) {
      const int64_t ns = ShareOf(total, at, at + amounts[i], whole);
      at += amounts[i];
      left_[i] -= ns;
      if (shares != nullptr) shares->push_back(ns);
      if (ns == 0) continue;
      delay->charges.push_back(
          {subject, SegmentKind::kRunning, std::nullopt, segments_[i]->start_ns, ns});
    }
    return total;
  }

  std::vector<Segment*> segments_;
  std::vector<int64_t> left_;  // of each segment's length
};

void ChargeWait(const Segment& segment, const std::vector<WaitSlice>& slices, FrameDelay* delay) {
  for (const Occupant& occupant : segment.occupants) {
    for (const Part& part : occupant.parts) {
      delay->charges.push_back(
          {ToString(part.kind), segment.kind, std::nullopt, segment.start_ns, part.ns});
    }
  }
  for (const WaitSlice& slice : slices) {
    const Occupant& occupant = segment.occupants[slice.occupant];
    const int64_t length_ns = occupant.end_ns - occupant.start_ns;
    int64_t own_ns = length_ns;
    for (const Part& part : occupant.parts) own_ns -= part.ns;
    const int64_t ns = ShareOf(own_ns, slice.start_ns - occupant.start_ns,
                               slice.end_ns - occupant.start_ns, length_ns);
    if (ns == 0) continue;
    delay->charges.push_back({slice.subject, segment.kind, slice.decision, segment.start_ns, ns});
  }
}

void AddStolen(const Timeline& timeline, TaskIndex task, Segment* segment) {
  if (!segment->cpu.has_value()) return;
  const Interval interval{segment->start_ns, segment->end_ns};
  for (const Stint& stint : timeline.cpus().StintsIn(*segment->cpu, interval)) {
    if (stint.task != task) continue;
    for (const Part& part : StolenParts(timeline, stint, interval)) segment->parts.push_back(part);
  }
}

}  // namespace

int64_t FrameDelay::TotalNs() const {
  int64_t total = 0;
  for (const Charge& charge : charges) total += charge.ns;
  return total;
}

FrameDelay ChargeDelay(const Timeline& timeline, const Cast& cast, int64_t demand_ns,
                       std::vector<WindowPart>* parts) {
  FrameDelay delay;
  ExcessRun running;
  for (WindowPart& part : *parts) {
    Segment& segment = part.segment;
    const int64_t length_ns = segment.end_ns - segment.start_ns;
    if (segment.kind == SegmentKind::kRunning) {
      delay.ran_ns += length_ns;
      AddStolen(timeline, part.task, &segment);
      running.Add(&segment);
    } else if (segment.kind == SegmentKind::kRunqueueWait ||
               segment.kind == SegmentKind::kPreempted) {
      ChargeWait(segment, AnalyzeWait(timeline, cast, part.task, &part), &delay);
    } else {
      delay.charges.push_back(
          {part.subject, segment.kind, std::nullopt, segment.start_ns, length_ns});
      if (part.absorbs) delay.blocks.push_back({segment.start_ns, {part.subject}});
    }
  }
  running.Charge(delay.ran_ns - std::min(delay.ran_ns, demand_ns), &delay);
  return delay;
}

}  // namespace whylate
