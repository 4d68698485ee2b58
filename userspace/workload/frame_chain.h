// Runs the frames of a chain: a workload whose frames go through several threads of one process.
//
// The thread that calls Run() is the first stage. It sleeps to a release, does its part and passes
// the frame on, by its number; each stage wakes the next one, with a plain wake-up, and the last one
// completes the frame. Frames do not overlap: a release that comes before the frame before has
// completed is skipped. So a first stage that wakes at its release and finds the chain still busy
// waits for the completion, and decides by its instant alone: whoever looks when has no say.
//
// Between the first release and the last completion the threads make no system call but the clocks',
// the sleep's and a wake-up and a wait for each time that a frame is passed on; they allocate nothing
// and take no lock.
//
//   ASSIGN_OR_RETURN(const auto chain, FrameChain::Start(desktop, loops_per_ms, log));
//   chain->Run(duration_ns);
#ifndef WHYLATE_USERSPACE_WORKLOAD_FRAME_CHAIN_H_
#define WHYLATE_USERSPACE_WORKLOAD_FRAME_CHAIN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analysis/model/recording.h"
#include "userspace/platform/shared_memory.h"
#include "userspace/workload/baton.h"
#include "userspace/workload/frame_log.h"
#include "userspace/workload/workload.h"

namespace whylate {

class FrameChain {
 public:
  // Starts a thread for each stage after the first, named as it is: they inherit the policy, the
  // nice value, the affinity and the timer slack of the caller, who is the first stage. Their tids,
  // and the caller's, are in the log on return. `log` must outlive the chain. `workload` has stages
  // and skips releases.
  static absl::StatusOr<std::unique_ptr<FrameChain>> Start(const Workload& workload,
                                                           int64_t loops_per_ms, FrameLog& log);
  FrameChain(const FrameChain&) = delete;
  FrameChain& operator=(const FrameChain&) = delete;
  // Ends the threads.
  ~FrameChain();

  // Locks what the threads share into memory, so that passing a frame on cannot fault.
  absl::Status Lock() const { return memory_.Lock(); }

  // As RunFrames() in frame_loop.h. Called once, by the thread that started the chain.
  void Run(int64_t duration_ns);

 private:
  // The frame that is on its way: written by the stage that holds it alone.
  struct FrameOnItsWay {
    FrameRecord record;
    std::array<int64_t, kMostStages> passed_ns;
    std::array<int64_t, kMostStages> cpu_ns;
  };
  struct Shared {
    std::array<Baton, kMostStages> to;  // by stage; the first one is told of the completion
    FrameOnItsWay frame;
  };

  FrameChain(const Workload& workload, int64_t loops_per_ms, FrameLog& log, SharedMemory memory);

  size_t stage_count() const { return workload_.stages.size(); }
  void ServeStage(size_t stage);
  // The stage's part of the frame, and on to the next stage.
  void DoPart(size_t stage, uint32_t number);

  const Workload workload_;
  const std::vector<uint64_t> loops_;  // by stage
  FrameLog& log_;
  const SharedMemory memory_;
  Shared& shared_;
  std::latch arrived_;
  std::vector<std::thread> threads_;  // of the stages after the first
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_WORKLOAD_FRAME_CHAIN_H_
