// The parts of report.json that say why: `misses`, `causes`, `subjects`, `delay`, `trace`.
//
//   misses[]   frame, release_ns, start_ns, completion_ns, deadline_ns, dropped,
//              segments[] {kind, start_ns, end_ns, cpu, parts[] {kind, ns}, occupants[] {task, tid,
//                role, cpu, start_ns, end_ns, ns, decision, parts[], class, rt_priority, nice},
//                avoidable_ns, possibly_avoidable_ns, not_balanced_ns, avoidable_sched_idle_ns,
//                migrations[] {from, to, time_ns}, repaired, decision, waker, reason, class,
//                rt_priority, nice (the waiting task's), stage {name, tid} (of a chain alone: who
//                held the frame), timer_expires_ns, timer_fired_ns (of a late_release), block_kind,
//                stack[], chain[] (of a blocked: who ended it, and what that did meanwhile, as
//                segments), group, quota_ns, period_ns (of a throttled)},
//              verdict {subject, subjects[], kind, decision, sufficient, margin_ns, confidence,
//                repaired_ns, stage (of a chain alone: who held the frame meanwhile)} or null
//   causes[]   subject, kind, decision, frames, frames_incomplete, ns
//   subjects[] subject, frames, frames_incomplete, frames_saved, ns
//   delay      late_ns, unknown_ns, wait_ns, avoidable_ns, possibly_avoidable_ns of all late frames,
//              avoidable_ms_per_minute of the cell; null without a trace
//   trace      source, events, lost, breaks, repaired_ns, recursion_misses, has_steal_clock; null
//              without a trace
//
// Times are relative to the cell's origin. A field that does not apply is null.
#ifndef WHYLATE_ANALYSIS_REPORT_EXPLANATION_JSON_H_
#define WHYLATE_ANALYSIS_REPORT_EXPLANATION_JSON_H_

#include <cstdint>
#include <vector>

#include "analysis/attribution/explanation.h"
#include "analysis/attribution/totals.h"
#include "analysis/report/json_fields.h"

namespace whylate {

// Adds the five keys to `cell`.
void AddExplanation(const Explanation& explanation, const CellFrames& frames, Json& cell);
// `causes` and `subjects` alone, of several cells.
void AddRows(const std::vector<CauseRow>& causes, const std::vector<SubjectRow>& subjects,
             Json& object);
Json DelayJson(const DelayTotals& delay, int64_t duration_ns);
// One row of its `segments`, and a `verdict`.
Json SegmentJson(const Segment& segment, int64_t origin_ns);
Json VerdictJson(const Verdict& verdict);
// One row of `misses`.
Json MissJson(const Miss& miss, int64_t origin_ns);
// Throws nlohmann::json exceptions on what is not of this form.
Explanation ExplanationFromJson(const Json& cell, int64_t origin_ns);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_EXPLANATION_JSON_H_
