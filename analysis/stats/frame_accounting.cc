#include "analysis/stats/frame_accounting.h"

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace whylate {
namespace {

absl::Status Violation(const Frame& frame, absl::string_view what) {
  return absl::FailedPreconditionError(
      absl::StrCat("frame ", frame.index, " ", what, ": the frame log contradicts its pacing"));
}

absl::Status CheckFrame(const CellFrames& cell, const Frame& frame, int64_t expected_index) {
  if (frame.index != expected_index) {
    return Violation(frame, absl::StrCat("follows where ", expected_index, " was due"));
  }
  if (frame.start_ns < frame.release_ns || frame.completion_ns < frame.start_ns) {
    return Violation(frame, "starts before its release or completes before its start");
  }
  if (cell.pacing != Pacing::kBackToBack && frame.release_ns != cell.ReleaseNs(frame.index)) {
    return Violation(frame, "was not released at its instant");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FrameCounts> CountFrames(const CellFrames& cell) {
  FrameCounts counts;
  int64_t next_index = 0;
  if (!cell.HasWholeStages()) {
    return absl::FailedPreconditionError(
        "the frame log does not say of each frame when its stages passed it on");
  }
  for (size_t i = 0; i < cell.frames.size(); ++i) {
    const Frame& frame = cell.frames[i];
    const absl::Status status = CheckFrame(cell, frame, next_index);
    if (!status.ok()) return status;
    if (!cell.PassesInOrder(i)) return Violation(frame, "did not pass its stages in order");
    const int64_t skipped = cell.SkippedReleases(frame);
    ++(cell.IsLate(frame) ? counts.late : counts.met);
    counts.dropped += skipped;
    next_index = frame.index + 1 + skipped;
  }
  counts.due = counts.met + counts.late + counts.dropped;
  if (cell.pacing == Pacing::kBackToBack) {
    counts.censored = cell.has_unfinished ? 1 : 0;
    return counts;
  }
  counts.censored = cell.ReleaseCount() - next_index;
  if (counts.censored < 0 || (counts.censored > 0 && !cell.has_unfinished)) {
    return absl::FailedPreconditionError(absl::StrCat("of ", cell.ReleaseCount(), " releases ",
                                                      counts.due, " are accounted for, ",
                                                      "and no unfinished frame explains the rest"));
  }
  return counts;
}

}  // namespace whylate
