// One frame's story: its window tiled, each nanosecond of its delay charged, and a verdict.
//
// The same for frames that a workload marks and for activations of a task that marks none.
//
//   FrameExplainer explainer(timeline, cast);
//   FrameQuestion question;
//   question.task = task;  question.release_ns = ..;  question.completion_ns = ..;
//   question.deadline_ns = ..;
//   explainer.Explain(question).verdict.subject;  // "burn"
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_FRAME_EXPLAINER_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_FRAME_EXPLAINER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/attribution/cast.h"
#include "analysis/attribution/counterfactual.h"
#include "analysis/attribution/delay.h"
#include "analysis/attribution/explanation.h"
#include "analysis/attribution/stages.h"
#include "analysis/attribution/window.h"
#include "analysis/timeline/task_table.h"
#include "analysis/timeline/timeline.h"

namespace whylate {

// The kind of a verdict on a frame whose own work is too long.
inline constexpr char kKindOverload[] = "overload";

struct FrameQuestion {
  TaskIndex task = kNoTask;
  // Of a chain: in whose hands the frame was until when, the last one until the completion; `task`
  // is not asked then. Empty: the task's all the time.
  std::vector<StageTurn> turns;
  int64_t release_ns = 0;
  int64_t completion_ns = 0;
  int64_t deadline_ns = 0;
  // What the frame may run; of a chain in all of its stages together, so that one which ran less
  // makes up for another.
  int64_t demand_ns = 0;
  // What a frame takes beyond its demand though nothing disturbs it.
  int64_t floor_ns = 0;
  Ask ask = Ask::kEnough;
  // Whether the task itself did what ended the window; else it may have waited to its end.
  bool completed = true;
  // What passed from the release until the task could begin with it; its end is where the task's
  // own part of the window begins.
  std::optional<WindowPart> carry_over;
};

struct FrameAnswer {
  std::vector<Segment> segments;  // tile [release, completion)
  FrameDelay delay;
  Counterfactual without;
  Verdict verdict;
};

class FrameExplainer {
 public:
  // Both must outlive the object.
  FrameExplainer(const Timeline& timeline, const Cast& cast) : timeline_(timeline), cast_(cast) {}

  // O(log n + what happened in the window).
  FrameAnswer Explain(const FrameQuestion& question) const;

 private:
  std::vector<WindowPart> Tile(const FrameQuestion& question) const;

  const Timeline& timeline_;
  const Cast& cast_;
};

// Of a recording that has a trace.
TraceTotals TraceTotalsOf(const Timeline& timeline);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_FRAME_EXPLAINER_H_
