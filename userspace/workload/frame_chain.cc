#include "userspace/workload/frame_chain.h"

#include <unistd.h>

#include <new>
#include <numeric>
#include <span>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analysis/model/frame.h"
#include "analysis/model/ids.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/scheduling.h"
#include "userspace/workload/frame_loop.h"
#include "userspace/workload/work.h"

namespace whylate {
namespace {

// Passed through the stages instead of a frame. Releases are far fewer.
constexpr uint32_t kEnd = Baton::kMostNumber;

std::vector<uint64_t> LoopsOf(const Workload& workload, int64_t loops_per_ms) {
  std::vector<uint64_t> loops;
  for (const Stage& stage : workload.stages)
    loops.push_back(LoopsFor(stage.demand_ns, loops_per_ms));
  return loops;
}

}  // namespace

absl::StatusOr<std::unique_ptr<FrameChain>> FrameChain::Start(const Workload& workload,
                                                              int64_t loops_per_ms, FrameLog& log) {
  ASSIGN_OR_RETURN(SharedMemory memory, SharedMemory::Create("whylate-chain", sizeof(Shared)));
  std::unique_ptr<FrameChain> chain(new FrameChain(workload, loops_per_ms, log, std::move(memory)));
  log.SetStageTid(0, Tid{gettid()});
  for (size_t stage = 1; stage < chain->stage_count(); ++stage) {
    try {
      chain->threads_.emplace_back(&FrameChain::ServeStage, chain.get(), stage);
    } catch (const std::system_error& error) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "create thread ", workload.stages[stage].name, ": ", error.code().message()));
    }
  }
  chain->arrived_.wait();
  return chain;
}

FrameChain::FrameChain(const Workload& workload, int64_t loops_per_ms, FrameLog& log,
                       SharedMemory memory)
    : workload_(workload),
      loops_(LoopsOf(workload, loops_per_ms)),
      log_(log),
      memory_(std::move(memory)),
      shared_(*new (memory_.data()) Shared()),
      arrived_(static_cast<ptrdiff_t>(workload.stages.size()) - 1) {}

FrameChain::~FrameChain() {
  for (size_t i = 0; i < threads_.size(); ++i) shared_.to[i + 1].Pass(kEnd);
  for (std::thread& thread : threads_) thread.join();
}

void FrameChain::ServeStage(size_t stage) {
  SetThreadName(workload_.stages[stage].name);
  log_.SetStageTid(stage, Tid{gettid()});
  arrived_.count_down();
  for (uint32_t number; (number = shared_.to[stage].Take()) != kEnd;) DoPart(stage, number);
}

void FrameChain::DoPart(size_t stage, uint32_t number) {
  FrameOnItsWay& frame = shared_.frame;
  const int64_t cpu_before_ns = ThreadCpuNs();
  Work(loops_[stage]);
  frame.cpu_ns[stage] = ThreadCpuNs() - cpu_before_ns;
  const int64_t done_ns = MonotonicNs();
  if (stage + 1 < stage_count()) {
    frame.passed_ns[stage] = done_ns;
    shared_.to[stage + 1].Pass(number);
    return;
  }
  const std::span cpu_ns = std::span(frame.cpu_ns).first(stage_count());
  frame.record.index = number;
  frame.record.completion_ns = done_ns;
  frame.record.cpu_ns = std::accumulate(cpu_ns.begin(), cpu_ns.end(), int64_t{0});
  // A log that is full ends the cell: the first stage sees it.
  (void)log_.Append(frame.record, std::span(frame.passed_ns).first(stage_count() - 1), cpu_ns);
  shared_.to[0].Pass(number);
}

void FrameChain::Run(int64_t duration_ns) {
  const int64_t origin_ns = MonotonicNs() + kLeadNs;
  const CellFrames pacing = PacingOf(workload_, origin_ns, origin_ns + duration_ns);
  log_.SetOrigin(origin_ns);
  const int64_t release_count = pacing.ReleaseCount();
  int64_t entered = 0;
  bool busy = false;  // a frame is on its way
  for (int64_t k = 0; k < release_count;) {
    log_.EnterFrames(entered + 1);
    const int64_t release_ns = pacing.ReleaseNs(k);
    SleepUntilNs(release_ns);
    if (busy) {
      shared_.to[0].Take();
      busy = false;
      if (log_.count() < entered) return;
      const int64_t next = NextRelease(pacing, k, shared_.frame.record.completion_ns);
      if (next != k) {
        k = next;
        continue;
      }
    }
    shared_.frame.record = {k, release_ns, MonotonicNs(), 0, 0, workload_.demand_ns};
    DoPart(0, static_cast<uint32_t>(k));
    busy = true;
    ++entered;
    ++k;
  }
  if (busy) shared_.to[0].Take();
  // None waits for a release any more.
  if (log_.count() == entered) log_.EnterFrames(entered);
}

}  // namespace whylate
