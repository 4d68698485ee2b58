#include "analysis/attribution/explain.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/cast.h"
#include "analysis/attribution/changes.h"
#include "analysis/attribution/counterfactual.h"
#include "analysis/attribution/frame_explainer.h"
#include "analysis/attribution/stages.h"
#include "analysis/attribution/totals.h"
#include "analysis/attribution/window.h"
#include "analysis/timeline/timeline.h"

namespace whylate {
namespace {

constexpr int64_t kUndisturbedNs = 100'000;
constexpr size_t kFloorFrames = 100;

// What the next frame needs to know of the one before it, where that delayed it (x).
struct Previous {
  int64_t completion_ns = 0;
  std::optional<Verdict> verdict;
};

class Explainer {
 public:
  explicit Explainer(const Recording& recording)
      : recording_(recording),
        timeline_(recording),
        cast_(timeline_),
        explainer_(timeline_, cast_),
        floor_ns_(OverheadFloorNs(recording.frames)) {}

  Explanation Run() {
    Explanation explanation;
    const CellFrames& frames = recording_.frames;
    std::optional<Previous> previous;
    for (size_t i = 0; i < frames.frames.size(); ++i) {
      const Frame& frame = frames.frames[i];
      std::optional<Verdict> verdict;
      if (frames.IsLate(frame)) {
        Miss miss = ExplainFrame(i, previous);
        verdict = miss.verdict;
        explanation.misses.push_back(std::move(miss));
      }
      previous = Previous{frame.completion_ns, std::move(verdict)};
    }
    explanation.causes = totals_.Causes();
    explanation.subjects = totals_.Subjects();
    explanation.changes = FindChanges(timeline_, cast_);
    explanation.trace = TraceTotalsOf(timeline_);
    return explanation;
  }

 private:
  Miss ExplainFrame(size_t index, const std::optional<Previous>& previous) {
    const Frame& frame = recording_.frames.frames[index];
    Miss miss;
    miss.frame = frame;
    miss.deadline_ns = recording_.frames.DeadlineNs(frame.index);
    miss.dropped = recording_.frames.SkippedReleases(frame);
    FrameQuestion question;
    question.task = timeline_.TaskAt(recording_.watched, frame.completion_ns);
    question.turns = StageTurns(timeline_, recording_.frames, index);
    question.release_ns = frame.release_ns;
    question.completion_ns = frame.completion_ns;
    question.deadline_ns = miss.deadline_ns;
    question.demand_ns = frame.demand_ns;
    question.floor_ns = floor_ns_;
    const bool carried = recording_.frames.pacing == Pacing::kCarry && previous.has_value() &&
                         previous->completion_ns > frame.release_ns;
    if (carried) {
      const int64_t end_ns = std::min(previous->completion_ns, frame.completion_ns);
      question.carry_over = CarryOver(*previous, {frame.release_ns, end_ns});
    }
    FrameAnswer answer = explainer_.Explain(question);
    Verdict& verdict = answer.verdict;
    const bool inherits = carried && (!previous->verdict.has_value() ||
                                      previous->verdict->confidence == Confidence::kIncomplete);
    if (inherits || recording_.trace->recursion_misses > 0) {
      verdict.confidence = Confidence::kIncomplete;
    }
    totals_.AddFrame(verdict, miss.dropped, answer.delay);
    const Counterfactual& without = answer.without;
    const bool complete = verdict.confidence == Confidence::kComplete;
    for (size_t i = 0; complete && i < without.names().size(); ++i) {
      const int64_t completion_ns = frame.completion_ns - without.SavingNs(i);
      totals_.AddSaved(without.names()[i], FramesSaved(miss, completion_ns));
    }
    miss.verdict = std::move(verdict);
    miss.segments = std::move(answer.segments);
    return miss;
  }

  // Until the frame before was done this one could not begin: whoever delayed that delayed this.
  static WindowPart CarryOver(const Previous& previous, const Interval& interval) {
    WindowPart part;
    part.segment.kind = SegmentKind::kCarryOver;
    part.segment.start_ns = interval.start_ns;
    part.segment.end_ns = interval.end_ns;
    if (!previous.verdict.has_value()) {
      part.subject = kSubjectUnknown;
    } else if (previous.verdict->kind == kKindOverload) {
      part.subject = kSubjectSelf;
    } else {
      part.subject = previous.verdict->subjects.front();
    }
    return part;
  }

  // Of the frame and the releases that it skipped: those that a completion at `completion_ns` would
  // have met.
  int64_t FramesSaved(const Miss& miss, int64_t completion_ns) const {
    const CellFrames& frames = recording_.frames;
    const int64_t met = completion_ns <= miss.deadline_ns ? 1 : 0;
    if (miss.dropped == 0) return met;
    // The skipped ones are those of the indexes (frame, frame + dropped].
    const int64_t first = miss.frame.index + 1;
    const int64_t end = first + miss.dropped;
    const int64_t reached = frames.FirstReleaseAtOrAfter(std::max(completion_ns, frames.origin_ns));
    return met + (end - std::clamp(reached, first, end));
  }

  const Recording& recording_;
  const Timeline timeline_;
  const Cast cast_;
  const FrameExplainer explainer_;
  const int64_t floor_ns_;
  Totals totals_;
};

Explanation WithoutTrace(const CellFrames& frames) {
  Explanation explanation;
  for (const Frame& frame : frames.frames) {
    if (!frames.IsLate(frame)) continue;
    Miss miss;
    miss.frame = frame;
    miss.deadline_ns = frames.DeadlineNs(frame.index);
    miss.dropped = frames.SkippedReleases(frame);
    explanation.misses.push_back(std::move(miss));
  }
  return explanation;
}

}  // namespace

int64_t OverheadFloorNs(const CellFrames& frames) {
  std::vector<int64_t> overhead_ns;
  for (const Frame& frame : frames.frames) {
    const bool undisturbed = frame.completion_ns - frame.start_ns - frame.cpu_ns < kUndisturbedNs;
    if (frames.IsLate(frame) || !undisturbed) continue;
    overhead_ns.push_back(frame.completion_ns - frame.release_ns - frame.demand_ns);
  }
  if (overhead_ns.size() < kFloorFrames) return 0;
  const size_t rank = (overhead_ns.size() * 99 + 99) / 100;  // from 1
  const auto nth = overhead_ns.begin() + static_cast<ptrdiff_t>(rank - 1);
  std::nth_element(overhead_ns.begin(), nth, overhead_ns.end());
  return *nth;
}

Explanation Explain(const Recording& recording) {
  if (!recording.trace.has_value()) return WithoutTrace(recording.frames);
  return Explainer(recording).Run();
}

}  // namespace whylate
