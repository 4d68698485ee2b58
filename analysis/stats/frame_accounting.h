// Counts a cell's frames, so that every release is in exactly one class:
//
//   due = met + late + dropped,   and censored apart from due.
//
// A release is *censored* when the cell ended before its frame could: the frame that was unfinished
// after the grace, and the releases that it blocked. For kBackToBack (gaming), which has no
// deadline, due = met = completed frames.
#ifndef WHYLATE_ANALYSIS_STATS_FRAME_ACCOUNTING_H_
#define WHYLATE_ANALYSIS_STATS_FRAME_ACCOUNTING_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "analysis/model/frame.h"

namespace whylate {

struct FrameCounts {
  int64_t due = 0;
  int64_t met = 0;
  int64_t late = 0;
  int64_t dropped = 0;
  int64_t censored = 0;
  friend bool operator==(const FrameCounts&, const FrameCounts&) = default;
};

// Counts `cell`. FailedPrecondition, with the frame named, when the frames contradict the pacing:
// one out of order, released early, not passed through its stages in order, or a release that is
// neither run, skipped nor blocked.
// O(frames).
absl::StatusOr<FrameCounts> CountFrames(const CellFrames& cell);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_STATS_FRAME_ACCOUNTING_H_
