#include "analysis/attribution/delay.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "analysis/attribution/chain.h"
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
      excess_ns -= Share(Taken(kind), excess_ns, delay);
    }
    std::vector<Piece> rest;
    for (size_t i = 0; i < segments_.size(); ++i) rest.push_back({i, left_[i], kSubjectSelf});
    const std::vector<int64_t> before = left_;
    Share(rest, excess_ns, delay);
    for (size_t i = 0; i < segments_.size(); ++i) {
      const int64_t slow_ns = before[i] - left_[i];
      if (slow_ns > 0) segments_[i]->parts.push_back({PartKind::kSlow, slow_ns, true, ""});
    }
  }

 private:
  // Time of one running segment that one subject may be charged for.
  struct Piece {
    size_t segment;
    int64_t ns;
    std::string subject;
  };

  std::vector<Piece> Taken(PartKind kind) const {
    std::vector<Piece> pieces;
    for (size_t i = 0; i < segments_.size(); ++i) {
      int64_t left_ns = left_[i];
      for (const Part& part : segments_[i]->parts) {
        if (part.kind != kind) continue;
        pieces.push_back({i, std::min(part.ns, left_ns), SubjectOf(part)});
        left_ns -= pieces.back().ns;
      }
    }
    return pieces;
  }

  // Charges up to `limit_ns` of the pieces, of each as large a share.
  int64_t Share(const std::vector<Piece>& pieces, int64_t limit_ns, FrameDelay* delay) {
    int64_t whole_ns = 0;
    for (const Piece& piece : pieces) whole_ns += piece.ns;
    const int64_t total_ns = std::min(whole_ns, limit_ns);
    if (total_ns <= 0) return 0;
    int64_t at_ns = 0;
    for (const Piece& piece : pieces) {
      const int64_t ns = ShareOf(total_ns, at_ns, at_ns + piece.ns, whole_ns);
      at_ns += piece.ns;
      left_[piece.segment] -= ns;
      if (ns == 0) continue;
      delay->charges.push_back({piece.subject, SegmentKind::kRunning, std::nullopt,
                                segments_[piece.segment]->start_ns, ns});
    }
    return total_ns;
  }

  std::vector<Segment*> segments_;
  std::vector<int64_t> left_;  // of each segment's length
};

// A wait's time, charged as that of a segment of `kind` that begins at `start_ns`.
void ChargeWait(const Segment& wait, const std::vector<WaitSlice>& slices, SegmentKind kind,
                int64_t start_ns, FrameDelay* delay) {
  for (const Occupant& occupant : wait.occupants) {
    for (const Part& part : occupant.parts) {
      delay->charges.push_back({SubjectOf(part), kind, std::nullopt, start_ns, part.ns});
    }
  }
  for (const WaitSlice& slice : slices) {
    const Occupant& occupant = wait.occupants[slice.occupant];
    const int64_t length_ns = occupant.end_ns - occupant.start_ns;
    int64_t own_ns = length_ns;
    for (const Part& part : occupant.parts) own_ns -= part.ns;
    const int64_t ns = ShareOf(own_ns, slice.start_ns - occupant.start_ns,
                               slice.end_ns - occupant.start_ns, length_ns);
    if (ns == 0) continue;
    delay->charges.push_back({slice.subject, kind, slice.decision, start_ns, ns});
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

// The sleep of a task that another one ended, charged by what that one did meanwhile.
class ChainCharger {
 public:
  ChainCharger(const Timeline& timeline, const Cast& cast, WindowPart* sleep, FrameDelay* delay)
      : timeline_(timeline), cast_(cast), sleep_(*sleep), delay_(*delay) {}

  void Run() {
    const size_t first = delay_.charges.size();
    for (WindowPart& part : sleep_.chain) {
      Charge(&part);
      sleep_.segment.chain.push_back(Link(part));
    }
    if (!sleep_.absorbs) return;
    AbsorbingBlock block{sleep_.segment.start_ns, {}};
    for (size_t i = first; i < delay_.charges.size(); ++i) {
      const std::string& subject = delay_.charges[i].subject;
      if (std::find(block.subjects.begin(), block.subjects.end(), subject) ==
          block.subjects.end()) {
        block.subjects.push_back(subject);
      }
    }
    delay_.blocks.push_back(std::move(block));
  }

 private:
  void Charge(WindowPart* part) {
    Segment& segment = part->segment;
    if (IsWait(segment)) {
      ChargeWait(segment, AnalyzeWait(timeline_, cast_, part->task, part), SegmentKind::kBlocked,
                 sleep_.segment.start_ns, &delay_);
      return;
    }
    int64_t ns = segment.end_ns - segment.start_ns;
    if (segment.kind == SegmentKind::kRunning) {
      AddStolen(timeline_, part->task, &segment);
      for (const Part& taken : segment.parts) {
        Add(SubjectOf(taken), taken.ns);
        ns -= taken.ns;
      }
    }
    Add(part->subject, ns);
  }

  void Add(const std::string& subject, int64_t ns) {
    if (ns <= 0) return;
    delay_.charges.push_back(
        {subject, SegmentKind::kBlocked, std::nullopt, sleep_.segment.start_ns, ns});
  }

  ChainLink Link(const WindowPart& part) const {
    const Segment& segment = part.segment;
    ChainLink link;
    link.start_ns = segment.start_ns;
    link.end_ns = segment.end_ns;
    link.task = cast_.NameOf(part.task, segment.start_ns);
    if (part.task != kNoTask) link.tid = timeline_.tasks().info(part.task).key.tid;
    link.role = cast_.RoleOf(part.task);
    link.depth = part.chain_depth;
    link.kind = segment.kind;
    link.block_kind = segment.block_kind;
    link.cpu = segment.cpu;
    link.parts = segment.parts;
    link.occupants = segment.occupants;
    link.decision = segment.decision;
    link.waker = segment.waker;
    link.reason = segment.reason;
    return link;
  }

  const Timeline& timeline_;
  const Cast& cast_;
  WindowPart& sleep_;
  FrameDelay& delay_;
};

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
    } else if (IsWait(segment)) {
      ChargeWait(segment, AnalyzeWait(timeline, cast, part.task, &part), segment.kind,
                 segment.start_ns, &delay);
    } else if (part.chain_event != kNoEvent) {
      part.chain = FollowChain(timeline, cast, part);
      ChainCharger(timeline, cast, &part, &delay).Run();
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
