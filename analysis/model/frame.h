// What one workload did in one cell: its releases, and the frames that it completed.
//
// A frame is one periodic unit of work. It is released at a fixed instant, starts when its thread
// first runs after that, and completes when its work is done; it is late when it completes after
// its deadline. All times are CLOCK_MONOTONIC nanoseconds; `demand_ns` is the CPU time that the
// frame's work takes on this CPU undisturbed, by calibration.
//
// The frames of most workloads are one thread's. Those of a chain go through several, the stages:
// each does its part and passes the frame on; the last one completes it. Frames do not overlap.
//
//   CellFrames cell;
//   cell.pacing = Pacing::kSkip;  cell.period = {1000000000, 60};  // 60 Hz
//   cell.ReleaseNs(3);            // origin + 50 ms
#ifndef WHYLATE_ANALYSIS_MODEL_FRAME_H_
#define WHYLATE_ANALYSIS_MODEL_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/model/cpu_set.h"
#include "analysis/model/ids.h"

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
  int64_t cpu_ns = 0;     // CPU time of the thread from start to completion; of all stages
  int64_t demand_ns = 0;  // calibrated; of all stages
};

// A thread of a workload whose frames go through several.
struct Stage {
  std::string name;  // "desktop-app"
  Tid tid;
  int64_t demand_ns = 0;  // of each frame, in this stage
  // The owner's readings of its affinity, of a recording; those of the first stage are the
  // recording's own.
  std::optional<CpuSet> allowed_before;
  std::optional<CpuSet> allowed_after;
  friend bool operator==(const Stage&, const Stage&) = default;
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
  // Of a chain, in the order in which frames go through them; none where frames are one thread's.
  std::vector<Stage> stages;
  // Columns of a chain, frame after frame: when each stage but the last passed the frame on, and
  // the CPU time of the frame in each stage. Empty for others.
  std::vector<int64_t> passed_ns;
  std::vector<int64_t> stage_cpu_ns;

  // Of frames[i]: stages.size() - 1 instants, and stages.size() amounts. HasWholeStages() must hold.
  std::span<const int64_t> PassedNs(size_t i) const;
  std::span<const int64_t> StageCpuNs(size_t i) const;
  // Whether the columns have as much of each frame as there are stages.
  bool HasWholeStages() const;
  // Whether frames[i] went through its stages in order, between its start and its completion, and
  // their CPU times add up to its own. True where there are no stages.
  bool PassesInOrder(size_t i) const;

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
