#include "analysis/attribution/uncertainty.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "analysis/attribution/verdict.h"

namespace whylate {
namespace {

void Append(const IntervalList& from, IntervalList* to) {
  to->insert(to->end(), from.begin(), from.end());
}

class Finder {
 public:
  Finder(const Timeline& timeline, const std::vector<WindowPart>& parts, bool completed)
      : timeline_(timeline), parts_(parts), completed_(completed) {
    FindCpus();
  }

  Uncertainty Run() {
    for (const WindowPart& part : parts_) Add(part);
    if (parts_.empty()) return {};
    // The frame was completed by its thread: if that did not run then, a switch-in was hidden.
    const Segment& last = parts_.back().segment;
    if (completed_ && last.kind != SegmentKind::kRunning) {
      open_.push_back({last.start_ns, last.end_ns});
    }
    Uncertainty found;
    found.repairs = Merge(repairs_);
    Append(repairs_, &open_);
    found.open = Merge(std::move(open_));
    found.hidden_sleep_until_ns = hidden_sleep_until_ns_;
    return found;
  }

 private:
  // Every CPU that the window depends on at some time.
  void FindCpus() {
    for (const WindowPart& part : parts_) {
      const Interval interval{part.segment.start_ns, part.segment.end_ns};
      AddCpusOf(part);
      for (const WindowPart& link : part.chain) AddCpusOf(link);
      for (const AffinityTrack::Stretch& stretch : timeline_.AffinityOf(part.task).In(interval)) {
        for (const CpuId cpu : timeline_.cpus().cpus()) {
          if (!stretch.allowed.has_value() || stretch.allowed->Contains(cpu)) cpus_.insert(cpu);
        }
      }
    }
  }

  void AddCpusOf(const WindowPart& part) {
    if (part.segment.cpu.has_value()) cpus_.insert(*part.segment.cpu);
    for (const TaskSpan& span : part.spans) {
      if (span.cpu.has_value()) cpus_.insert(*span.cpu);
      if (span.waking_event != kNoEvent) cpus_.insert(timeline_.event(span.waking_event).cpu);
    }
  }

  void Add(const WindowPart& part) {
    for (const WindowPart& link : part.chain) Add(link);
    const Segment& segment = part.segment;
    const Interval interval{segment.start_ns, segment.end_ns};
    if (segment.kind == SegmentKind::kRunning) {
      if (segment.cpu.has_value()) AddGaps(*segment.cpu, interval, nullptr);
    } else {
      const TaskSpan* last = part.spans.empty() ? nullptr : &part.spans.back();
      for (const CpuId cpu : cpus_) AddGaps(cpu, interval, last);
    }
    if (segment.kind == SegmentKind::kUnknown || part.subject == kSubjectUnknown ||
        part.uncertain) {
      open_.push_back(interval);
      if (segment.kind == SegmentKind::kUnknown) HiddenSleepUntil(interval.end_ns);
    }
    const bool waits =
        segment.kind == SegmentKind::kRunqueueWait || segment.kind == SegmentKind::kPreempted;
    if (waits) {
      for (const CpuId cpu : cpus_) {
        Append(Clip(timeline_.cpus().Repairs(cpu), interval), &repairs_);
        Append(Clip(timeline_.cpus().Breaks(cpu), interval), &open_);
      }
      AddRtBandwidthDoubt(part);
      for (const Occupant& occupant : segment.occupants) {
        if (occupant.role.kind == RoleKind::kUnknown) {
          open_.push_back({occupant.start_ns, occupant.end_ns});
        }
      }
    }
    AddRepairedEnds(part, interval);
  }

  void HiddenSleepUntil(int64_t time_ns) {
    hidden_sleep_until_ns_ = std::max(hidden_sleep_until_ns_.value_or(time_ns), time_ns);
  }

  // `span` ends the interval; a thread slept in no gap after it was queued.
  void AddGaps(CpuId cpu, const Interval& interval, const TaskSpan* span) {
    const std::vector<Gap>& gaps = timeline_.cpus().Gaps(cpu);
    auto gap = std::partition_point(gaps.begin(), gaps.end(), [&](const Gap& g) {
      return g.interval.end_ns <= interval.start_ns;
    });
    for (; gap != gaps.end() && gap->interval.start_ns < interval.end_ns; ++gap) {
      const Interval common = Intersection(gap->interval, interval);
      if (common.empty()) continue;
      open_.push_back(common);
      const bool waited = span != nullptr && span->queued_since_ns.has_value() &&
                          *span->queued_since_ns <= gap->interval.start_ns;
      if (!waited) HiddenSleepUntil(common.end_ns);
    }
  }

  // Whether the CPU turned below RT in a gap is not known, and with it whose the rest of an RT
  // task's wait is.
  void AddRtBandwidthDoubt(const WindowPart& part) {
    const SchedClass waiting = StandingOf(part.spans.front(), timeline_.events()).sched_class;
    if (waiting != SchedClass::kRealTime && waiting != SchedClass::kUnknown) return;
    const Interval wait{part.spans.front().start_ns, part.segment.end_ns};
    for (const TaskSpan& span : part.spans) {
      if (!span.cpu.has_value()) continue;
      const std::vector<Gap>& gaps = timeline_.cpus().Gaps(*span.cpu);
      const auto first = std::partition_point(gaps.begin(), gaps.end(), [&](const Gap& gap) {
        return gap.interval.end_ns <= wait.start_ns;
      });
      if (first == gaps.end() || first->interval.start_ns >= wait.end_ns) continue;
      open_.push_back(Intersection({first->interval.start_ns, wait.end_ns},
                                   {part.segment.start_ns, part.segment.end_ns}));
    }
  }

  // The thread's own state changed at a rebuilt time: it may have been earlier or later, as far as
  // the spans around it reach.
  void AddRepairedEnds(const WindowPart& part, const Interval& interval) {
    for (const TaskSpan& span : part.spans) {
      if (!span.repaired) continue;
      const int64_t from_ns = std::max(span.start_ns - kRepairBoundNs, StartOfSpanBefore(span));
      const int64_t to_ns = std::min(span.start_ns + kRepairBoundNs, span.end_ns);
      const Interval window{parts_.front().segment.start_ns, parts_.back().segment.end_ns};
      const Interval bounds = Intersection({from_ns, to_ns}, window);
      if (!bounds.empty() && span.start_ns < interval.end_ns) repairs_.push_back(bounds);
    }
  }

  int64_t StartOfSpanBefore(const TaskSpan& span) const {
    // The spans of a task stand in one array and tile the recording.
    return span.start_ns > timeline_.bounds().start_ns ? (&span - 1)->start_ns : span.start_ns;
  }

  const Timeline& timeline_;
  const std::vector<WindowPart>& parts_;
  const bool completed_;
  std::set<CpuId> cpus_;
  IntervalList open_;
  IntervalList repairs_;
  std::optional<int64_t> hidden_sleep_until_ns_;
};

// The strongest subjects besides the named ones: by saving alone, by time, and one that nobody saw.
std::vector<size_t> Rivals(const Counterfactual& without, const Judgement& judgement) {
  std::vector<bool> named(without.names().size() + 1, false);
  for (const size_t subject : judgement.subjects) named[subject] = true;
  std::optional<size_t> by_saving;
  std::optional<size_t> by_ns;
  for (size_t i = 0; i < without.names().size(); ++i) {
    if (named[i] || without.names()[i] == kSubjectUnknown) continue;
    if (!by_saving || without.SavingNs(i) > without.SavingNs(*by_saving)) by_saving = i;
    if (!by_ns || without.ns()[i] > without.ns()[*by_ns]) by_ns = i;
  }
  std::vector<size_t> rivals{without.names().size()};
  if (by_saving) rivals.push_back(*by_saving);
  if (by_ns && by_ns != by_saving) rivals.push_back(*by_ns);
  return rivals;
}

// Each named subject is asked about, over all subjects.
constexpr size_t kMostNamed = 100;

bool Agrees(const Judgement& a, const Judgement& b) {
  return a.subjects == b.subjects && a.sufficient == b.sufficient;
}

}  // namespace

Uncertainty FindUncertainty(const Timeline& timeline, const std::vector<WindowPart>& parts,
                            bool completed) {
  return Finder(timeline, parts, completed).Run();
}

bool Survives(const Counterfactual& without, const Judgement& judgement, const FrameDelay& delay,
              const Uncertainty& uncertainty) {
  const int64_t open_ns = uncertainty.OpenNs();
  if (open_ns == 0) return true;
  if (judgement.subjects.size() > kMostNamed) return false;
  const std::vector<std::string>& names = without.names();
  const std::vector<size_t> rivals = Rivals(without, judgement);
  for (const size_t named : judgement.subjects) {
    if (names[named] == kSubjectUnknown) return false;
  }
  for (const size_t named : judgement.subjects) {
    Scenario more;
    more.unknown_given_away = true;
    more.bonus_ns.assign(names.size() + 1, 0);
    more.bonus_ns[named] = open_ns;
    if (!Agrees(without.Judge(more), judgement)) return false;
    for (const size_t rival : rivals) {
      Scenario less;
      less.unknown_given_away = true;
      less.bonus_ns.assign(names.size() + 1, 0);
      if (uncertainty.hidden_sleep_until_ns.has_value()) {
        less.absorbed = judgement.subjects;
        less.from_ns = *uncertainty.hidden_sleep_until_ns;
      }
      less.bonus_ns[named] -= open_ns;
      less.bonus_ns[rival] += open_ns;
      if (!Agrees(without.Judge(less), judgement)) return false;
    }
  }
  return KindSurvives(delay, names[judgement.subjects.front()], open_ns);
}

}  // namespace whylate
