#include "analysis/attribution/frame_explainer.h"

#include <cstddef>
#include <utility>

#include "analysis/attribution/uncertainty.h"
#include "analysis/attribution/verdict.h"
#include "analysis/timeline/interval.h"

namespace whylate {
namespace {

// From the frame log alone: no lost event can change it.
Verdict Overload(const FrameQuestion& question) {
  Verdict verdict;
  verdict.subject = kSubjectOverload;
  verdict.subjects = {kSubjectOverload};
  verdict.kind = kKindOverload;
  verdict.margin_ns = question.deadline_ns - question.completion_ns;
  return verdict;
}

Verdict Judge(const FrameQuestion& question, const FrameDelay& delay, const Counterfactual& without,
              const Uncertainty& uncertainty) {
  const Judgement judgement = without.Judge(Scenario());
  Verdict verdict;
  for (const size_t subject : judgement.subjects) {
    verdict.subjects.push_back(without.names()[subject]);
  }
  if (verdict.subjects.empty()) verdict.subjects.push_back(kSubjectUnknown);
  verdict.subject = JoinSubjects(verdict.subjects);
  const MainCause cause = MainCauseOf(delay, verdict.subjects.front());
  verdict.kind = ToString(cause.kind);
  verdict.decision = cause.decision;
  verdict.sufficient = judgement.sufficient;
  verdict.margin_ns = question.deadline_ns - (question.completion_ns - judgement.saving_ns);
  const bool survives =
      !judgement.subjects.empty() && Survives(without, judgement, delay, uncertainty);
  verdict.confidence = survives ? Confidence::kComplete : Confidence::kIncomplete;
  return verdict;
}

}  // namespace

std::vector<WindowPart> FrameExplainer::Tile(const FrameQuestion& question) const {
  Interval window{question.release_ns, question.completion_ns};
  std::vector<WindowPart> parts;
  if (question.carry_over.has_value()) {
    window.start_ns = question.carry_over->segment.end_ns;
    parts.push_back(*question.carry_over);
    parts.back().task = question.task;
  }
  for (WindowPart& part :
       question.turns.empty()
           ? TileWindow(timeline_, cast_, question.task, question.release_ns, window)
           : TileStages(timeline_, cast_, question.turns, question.release_ns, window)) {
    parts.push_back(std::move(part));
  }
  return parts;
}

FrameAnswer FrameExplainer::Explain(const FrameQuestion& question) const {
  std::vector<WindowPart> parts = Tile(question);
  FrameDelay delay = ChargeDelay(timeline_, cast_, question.demand_ns, &parts);
  Counterfactual without(delay, question.completion_ns, question.deadline_ns, question.ask);
  const Uncertainty uncertainty = FindUncertainty(timeline_, parts, question.completed);
  const bool too_long =
      question.demand_ns + question.floor_ns > question.deadline_ns - question.release_ns;
  Verdict verdict = too_long ? Overload(question) : Judge(question, delay, without, uncertainty);
  verdict.repaired_ns = TotalNs(uncertainty.repairs);
  verdict.stage = MainStageOf(parts, delay, verdict.subjects.front());
  const std::optional<TraceFacts>& trace = timeline_.recording().trace;
  if (trace.has_value() && !trace->comparable_clocks) {
    verdict.confidence = Confidence::kIncomplete;
  }
  std::vector<Segment> segments;
  segments.reserve(parts.size());
  for (WindowPart& part : parts) segments.push_back(std::move(part.segment));
  return {std::move(segments), std::move(delay), std::move(without), std::move(verdict)};
}

TraceTotals TraceTotalsOf(const Timeline& timeline) {
  TraceTotals totals;
  const TraceFacts& trace = *timeline.recording().trace;
  totals.source = trace.source;
  totals.events = trace.events;
  totals.lost = trace.lost;
  totals.recursion_misses = trace.recursion_misses;
  totals.has_steal_clock = trace.has_steal_clock;
  totals.breaks = timeline.cpus().breaks();
  for (const CpuId cpu : timeline.cpus().cpus()) {
    totals.repaired_ns += TotalNs(timeline.cpus().Repairs(cpu));
  }
  return totals;
}

}  // namespace whylate
