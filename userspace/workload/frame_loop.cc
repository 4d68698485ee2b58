#include "userspace/workload/frame_loop.h"

#include <algorithm>
#include <limits>

#include "userspace/platform/clock.h"
#include "userspace/workload/work.h"

namespace whylate {
namespace {

// One frame's work, with its start, completion and CPU time read around it.
struct Measured {
  int64_t start_ns;
  int64_t completion_ns;
  int64_t cpu_ns;
};

Measured DoFrame(const FrameStep& step, int64_t start_ns, const FrameBody& body) {
  Measured measured;
  measured.start_ns = start_ns;
  const int64_t cpu_before_ns = ThreadCpuNs();
  if (body) {
    body(step);
  } else if (step.loops > 0) {
    Work(step.loops);
  }
  measured.cpu_ns = ThreadCpuNs() - cpu_before_ns;
  measured.completion_ns = MonotonicNs();
  return measured;
}

void RunPeriodic(const Workload& workload, const CellFrames& pacing, int64_t loops_per_ms,
                 FrameLog& log, const FrameBody& body) {
  const int64_t release_count = pacing.ReleaseCount();
  for (int64_t k = 0; k < release_count;) {
    const int64_t release_ns = pacing.ReleaseNs(k);
    const int64_t demand_ns = workload.DemandNs(k, release_count);
    const uint64_t loops = LoopsFor(demand_ns, loops_per_ms);
    log.Enter();
    SleepUntilNs(release_ns);
    const Measured frame = DoFrame({k, release_ns, loops}, MonotonicNs(), body);
    if (!log.Append(
            {k, release_ns, frame.start_ns, frame.completion_ns, frame.cpu_ns, demand_ns})) {
      return;
    }
    k = NextRelease(pacing, k + 1, frame.completion_ns);
  }
}

void RunBackToBack(const Workload& workload, const CellFrames& pacing, int64_t loops_per_ms,
                   FrameLog& log, const FrameBody& body) {
  const uint64_t loops = LoopsFor(workload.demand_ns, loops_per_ms);
  SleepUntilNs(pacing.origin_ns);
  int64_t release_ns = pacing.origin_ns;
  int64_t start_ns =
      MonotonicNs();  // of the first frame alone; the rest start as they are released
  for (int64_t k = 0; release_ns < pacing.end_ns; ++k) {
    log.Enter();
    const Measured frame = DoFrame({k, release_ns, loops}, start_ns, body);
    if (!log.Append({k, release_ns, frame.start_ns, frame.completion_ns, frame.cpu_ns,
                     workload.demand_ns})) {
      return;
    }
    release_ns = start_ns = frame.completion_ns;
  }
}

}  // namespace

CellFrames PacingOf(const Workload& workload, int64_t origin_ns, int64_t end_ns) {
  CellFrames pacing;
  pacing.pacing = workload.pacing;
  pacing.period = workload.period;
  pacing.origin_ns = origin_ns;
  pacing.end_ns = end_ns;
  return pacing;
}

uint64_t LoopsFor(int64_t demand_ns, int64_t loops_per_ms) {
  return static_cast<uint64_t>(static_cast<double>(demand_ns) * static_cast<double>(loops_per_ms) /
                               static_cast<double>(kNsPerMs));
}

int64_t NextRelease(const CellFrames& pacing, int64_t k, int64_t completion_ns) {
  if (pacing.pacing != Pacing::kSkip || completion_ns <= pacing.ReleaseNs(k)) return k;
  return pacing.FirstReleaseAtOrAfter(completion_ns);
}

int64_t LogCapacity(const Workload& workload, int64_t duration_ns) {
  const CellFrames pacing = PacingOf(workload, 0, duration_ns);
  if (workload.pacing == Pacing::kBackToBack) return duration_ns / workload.demand_ns * 8 + 64;
  return pacing.ReleaseCount() + 1;
}

void RunFrames(const Workload& workload, int64_t duration_ns, int64_t loops_per_ms, FrameLog& log,
               const FrameBody& body) {
  const int64_t origin_ns = MonotonicNs() + kLeadNs;
  const CellFrames pacing = PacingOf(workload, origin_ns, origin_ns + duration_ns);
  log.SetOrigin(origin_ns);
  if (workload.pacing == Pacing::kBackToBack) {
    RunBackToBack(workload, pacing, loops_per_ms, log, body);
  } else {
    RunPeriodic(workload, pacing, loops_per_ms, log, body);
  }
}

void RunFramesForever(const Workload& workload, int64_t loops_per_ms,
                      std::atomic<uint64_t>& frames) {
  const CellFrames pacing = PacingOf(workload, MonotonicNs(), std::numeric_limits<int64_t>::max());
  // An endless ramp is one that has room for all its steps.
  constexpr int64_t kAllSteps = std::numeric_limits<int64_t>::max();
  for (int64_t k = 0;; ++k) {
    if (workload.pacing != Pacing::kBackToBack) {
      if (workload.pacing == Pacing::kSkip) {
        k = std::max(k, pacing.FirstReleaseAtOrAfter(MonotonicNs()));
      }
      SleepUntilNs(pacing.ReleaseNs(k));
    }
    Work(LoopsFor(workload.DemandNs(k, kAllSteps), loops_per_ms));
    frames.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace whylate
