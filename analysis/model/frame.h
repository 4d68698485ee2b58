// What one workload thread did in one cell: its releases, and the frames that it completed.
//
// A frame is one periodic unit of work. It is released at a fixed instant, starts when its thread
// first runs after that, and completes when its work is done; it is late when it completes after
// its deadline. All times are CLOCK_MONOTONIC nanoseconds; `demand_ns` is the CPU time that the
// frame's work takes on this CPU undisturbed, by calibration.
//
//   CellFrames cell;
//   cell.pacing = Pacing::kSkip;  cell.period = {1000000000, 60};  // 60 Hz
//   cell.ReleaseNs(3);            // origin + 50 ms
#ifndef WHYLATE_ANALYSIS_MODEL_FRAME_H_
#define WHYLATE_ANALYSIS_MODEL_FRAME_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace whylate {

// What a workload does with a release that passed while an earlier frame was not done.
enum class Pacing {
  kSkip,        // audio, video: the release is dropped
  kCarry,       // x: the next step enters at once, with its own release
  kBackToBack,  // gaming: no releases, each frame is released by the completion before it
};

// A period of numerator / denominator nanoseconds, exact: 60 Hz is {1000000000, 60}.
struct Period {
  int64_t numerator_ns = 0;
  int64_t denominator = 1;

  // The start of period k, rounded down to a nanosecond. Never drifts.
  int64_t Multiple(int64_t k) const;
};

struct Frame {
  int64_t index = 0;  // of its release: r_index = origin + Multiple(index)
  int64_t release_ns = 0;
  int64_t start_ns = 0;
  int64_t completion_ns = 0;
  int64_t cpu_ns = 0;     // CPU time of the thread from start to completion
  int64_t demand_ns = 0;  // calibrated
};

struct CellFrames {
  Pacing pacing = Pacing::kSkip;
  Period period;                // meaningless for kBackToBack
  int64_t origin_ns = 0;        // release 0
  int64_t end_ns = 0;           // releases at or after it do not belong to the cell
  std::vector<Frame> frames;    // completed ones, in order
  bool has_unfinished = false;  // one more was at work when the cell had ended, grace included
  // Demand of each release for kCarry (x), which varies; every other workload has one demand.
  std::vector<int64_t> demand_ns;

  int64_t ReleaseNs(int64_t index) const { return origin_ns + period.Multiple(index); }
  // The release after it: the deadline of frame `index`.
  int64_t DeadlineNs(int64_t index) const { return ReleaseNs(index + 1); }
  // Number of releases before end_ns; 0 for kBackToBack.
  int64_t ReleaseCount() const;
  // Index of the first release at or after `time_ns` (>= origin_ns).
  int64_t FirstReleaseAtOrAfter(int64_t time_ns) const;
  // Completed after its deadline; never true for kBackToBack, which has none.
  bool IsLate(const Frame& frame) const;
  // Releases that `frame` made its workload skip: those after its own, before its completion and
  // before the end of the cell. 0 but for a late frame with kSkip.
  int64_t SkippedReleases(const Frame& frame) const;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_MODEL_FRAME_H_
