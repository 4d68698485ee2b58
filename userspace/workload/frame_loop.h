// Runs the frames of one workload: sleep to the release, work, log, until the cell is over.
//
// Between the first release and the last completion it makes no system call but the clock's and the
// sleep's, allocates nothing and takes no lock; a body of the caller's own may do as it likes.
#ifndef WHYLATE_USERSPACE_WORKLOAD_FRAME_LOOP_H_
#define WHYLATE_USERSPACE_WORKLOAD_FRAME_LOOP_H_

#include <cstdint>
#include <functional>

#include "analysis/model/frame.h"
#include "userspace/workload/frame_log.h"
#include "userspace/workload/workload.h"

namespace whylate {

// Time from the call to the first release.
inline constexpr int64_t kLeadNs = 20000000;

// The releases of a cell of `workload`, without frames.
CellFrames PacingOf(const Workload& workload, int64_t origin_ns, int64_t end_ns);

// Steps of Work() that `demand_ns` stands for.
uint64_t LoopsFor(int64_t demand_ns, int64_t loops_per_ms);

// The first release from `k` on that a frame which completed at `completion_ns` did not make its
// workload skip, where it skips: exactly those before the completion are.
int64_t NextRelease(const CellFrames& pacing, int64_t k, int64_t completion_ns);

// Frames that a log must hold for `duration_ns` of `workload`. Back-to-back frames are as many as
// the CPU can do; one that runs eight times as fast as calibrated still fits.
int64_t LogCapacity(const Workload& workload, int64_t duration_ns);

// What is done inside a frame, between the readings of its start and its completion.
struct FrameStep {
  int64_t index = 0;  // of its release
  int64_t release_ns = 0;
  uint64_t loops = 0;  // of Work(): its demand
};
// An empty one is Work(loops). Any other does that too, or what takes as long, and whatever else the
// frame shall wait for: a lock, a file.
using FrameBody = std::function<void(const FrameStep& step)>;

// Returns when the last frame released before the end has completed, or the log is full. Sets the
// log's origin. `loops_per_ms` is the calibration that turns demand into work. Of a workload whose
// frames are one thread's; for a chain see frame_chain.h.
void RunFrames(const Workload& workload, int64_t duration_ns, int64_t loops_per_ms, FrameLog& log,
               const FrameBody& body = {});

// The same work as a load: for ever, each frame counted in `frames`.
[[noreturn]] void RunFramesForever(const Workload& workload, int64_t loops_per_ms,
                                   std::atomic<uint64_t>& frames);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_WORKLOAD_FRAME_LOOP_H_
