// A chain's frame, cut where its stages passed it on: each instant belongs to the stage that holds
// the frame.
//
// A stage reads the clock, then wakes the next one: it holds the frame until it has. So a stage that
// is kept off its CPU between the two has not passed the frame on, and one that waits for a CPU
// after it was woken holds it. That a stage sleeps for lack of the frame is never anybody's delay.
//
//   release     passed        passed     completed
//   | input ....|             |          |
//   |           | app ........|          |
//   |                         | compositor
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_STAGES_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_STAGES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "analysis/attribution/cast.h"
#include "analysis/attribution/delay.h"
#include "analysis/attribution/explanation.h"
#include "analysis/attribution/window.h"
#include "analysis/model/frame.h"
#include "analysis/timeline/interval.h"
#include "analysis/timeline/task_table.h"
#include "analysis/timeline/timeline.h"

namespace whylate {

// One stage's turn.
struct StageTurn {
  TaskIndex task = kNoTask;
  StageThread thread;
  int64_t until_ns =
      0;  // the frame was passed on, by the stage's clock; completed, of the last one
};

// The turns of cell.frames[i]; none where its frames are one thread's.
std::vector<StageTurn> StageTurns(const Timeline& timeline, const CellFrames& cell, size_t i);

// As TileWindow(), over the turns, which are not empty and end where the window does. A turn that
// was not seen to end on a CPU is uncertain there. O(turns * log n + parts).
std::vector<WindowPart> TileStages(const Timeline& timeline, const Cast& cast,
                                   std::span<const StageTurn> turns, int64_t release_ns,
                                   const Interval& window);

// The name of the stage in whose turns the subject has most time, the first one of several; "" where
// it has none, or frames are one thread's.
std::string MainStageOf(const std::vector<WindowPart>& parts, const FrameDelay& delay,
                        absl::string_view subject);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_STAGES_H_
