#include "analysis/attribution/stages.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

namespace whylate {
namespace {

// include/linux/sched.h: TASK_UNINTERRUPTIBLE, and stopped, traced or frozen. Who waits for a frame,
// on a futex, is none of these.
constexpr uint32_t kNoFutexWait = 0x2 | 0x4 | 0x8 | 0x8000;

// Whether `sleep` of the next stage's was for lack of the frame: `from` ended it by passing it on.
bool IsHandOver(const Timeline& timeline, const StageTurn& from, const TaskSpan& sleep) {
  if (sleep.state != TaskState::kBlocked || sleep.waking_event == kNoEvent) return false;
  const auto* waking = std::get_if<WakingEvent>(&timeline.event(sleep.waking_event).body);
  if (waking == nullptr || waking->context != WakerContext::kTask) return false;
  if (waking->waker != from.thread.tid) return false;
  if (sleep.out_event == kNoEvent) return true;
  const auto* out = std::get_if<SwitchEvent>(&timeline.event(sleep.out_event).body);
  return out == nullptr || (out->prev_state & kNoFutexWait) == 0;
}

// When `from` had passed the frame on to `to`: when it woke it, if that slept, else when it says.
int64_t HandedOverAt(const Timeline& timeline, const StageTurn& from, const StageTurn& to) {
  if (to.task == kNoTask || from.until_ns >= to.until_ns) return from.until_ns;
  for (const TaskSpan& span : timeline.spans().SpansIn(to.task, {from.until_ns, to.until_ns})) {
    if (span.end_ns <= to.until_ns && IsHandOver(timeline, from, span)) return span.end_ns;
  }
  return from.until_ns;
}

}  // namespace

std::vector<StageTurn> StageTurns(const Timeline& timeline, const CellFrames& cell, size_t i) {
  std::vector<StageTurn> turns;
  turns.reserve(cell.stages.size());
  const std::span<const int64_t> passed_ns = cell.PassedNs(i);
  for (size_t s = 0; s < cell.stages.size(); ++s) {
    const Stage& stage = cell.stages[s];
    StageTurn turn;
    turn.thread = {stage.name, stage.tid};
    turn.until_ns = s < passed_ns.size() ? passed_ns[s] : cell.frames[i].completion_ns;
    turn.task = timeline.TaskAt(stage.tid, turn.until_ns);
    turns.push_back(std::move(turn));
  }
  return turns;
}

std::vector<WindowPart> TileStages(const Timeline& timeline, const Cast& cast,
                                   std::span<const StageTurn> turns, int64_t release_ns,
                                   const Interval& window) {
  std::vector<WindowPart> parts;
  int64_t at_ns = window.start_ns;
  for (size_t s = 0; s < turns.size(); ++s) {
    const bool last = s + 1 == turns.size();
    const int64_t end_ns =
        last ? window.end_ns
             : std::clamp(HandedOverAt(timeline, turns[s], turns[s + 1]), at_ns, window.end_ns);
    if (at_ns >= end_ns) continue;
    for (WindowPart& part :
         TileWindow(timeline, cast, turns[s].task, release_ns, {at_ns, end_ns})) {
      part.segment.stage = turns[s].thread;
      parts.push_back(std::move(part));
    }
    // It passed the frame on itself: if it did not run then, a switch-in was hidden.
    if (!last && parts.back().segment.kind != SegmentKind::kRunning) parts.back().uncertain = true;
    at_ns = end_ns;
  }
  return parts;
}

std::string MainStageOf(const std::vector<WindowPart>& parts, const FrameDelay& delay,
                        absl::string_view subject) {
  std::vector<std::pair<const StageThread*, int64_t>> stages;  // in the order of their turns
  for (const WindowPart& part : parts) {
    const std::optional<StageThread>& stage = part.segment.stage;
    if (stage.has_value() && (stages.empty() || *stages.back().first != *stage)) {
      stages.push_back({&*stage, 0});
    }
  }
  for (const Charge& charge : delay.charges) {
    if (charge.subject != subject || stages.empty()) continue;
    const auto after = std::partition_point(
        parts.begin(), parts.end(),
        [&](const WindowPart& part) { return part.segment.start_ns <= charge.segment_start_ns; });
    const std::optional<StageThread>& stage = std::prev(after)->segment.stage;
    if (!stage.has_value()) continue;
    for (auto& [thread, ns] : stages) {
      if (*thread == *stage) ns += charge.ns;
    }
  }
  const auto most =
      std::max_element(stages.begin(), stages.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == stages.end() || most->second == 0 ? "" : most->first->name;
}

}  // namespace whylate
