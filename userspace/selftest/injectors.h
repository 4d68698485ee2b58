// Who takes a workload's CPU on purpose, each a process that stamps when it had one.
//
//   plan.injectors.push_back(MakeHog(home, 14 * kNsPerMs, 187 * kNsPerMs));
//
// Those that block it are in blocking_injectors.h, those that interrupt it in interrupt_injectors.h.
#ifndef WHYLATE_USERSPACE_SELFTEST_INJECTORS_H_
#define WHYLATE_USERSPACE_SELFTEST_INJECTORS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "analysis/model/cpu_set.h"
#include "analysis/model/frame.h"
#include "analysis/model/ids.h"
#include "userspace/platform/channel.h"
#include "userspace/selftest/forked_process.h"
#include "userspace/selftest/stamps.h"
#include "userspace/workload/frame_log.h"

namespace whylate {

// What an injector's process sees of its scenario.
struct InjectorContext {
  StampLog* busy;
  const FrameLog* frames;  // of the workload
  Period period;
  Tid workload;

  // The next release at or after `time_ns`; only once the workload has begun.
  int64_t ReleaseAtOrAfter(int64_t time_ns) const;
  // Waits until the workload has begun.
  void AwaitOrigin() const;
  // Waits for the workload, then strikes at `from_ns` after (or before) each `every`-th of its
  // releases, the first one left out; one that it comes too late for is left out too. For ever.
  absl::Status AtEvery(int64_t every, int64_t from_ns,
                       const std::function<absl::Status(int64_t release_ns)>& strike) const;
};

// How a workload is kept from its work.
enum class Means : uint8_t { kTakesCpu, kThrottles, kBlocks, kInterrupts };

struct Injector {
  std::string name;  // of its role: a load of that name
  ForkedProcess::Settings settings;
  std::function<absl::Status(const InjectorContext&, const Channel&)> body;
  Means means = Means::kTakesCpu;
  // Nothing else can delay the workload while it is busy, because it is so on the workload's CPU.
  bool is_exclusive = true;
  bool has_stamps = true;
};

// SCHED_FIFO, `busy_ns` every `period_ns` on `cpu`.
Injector MakeHog(CpuId cpu, int64_t busy_ns, int64_t period_ns);
// The same, after it has moved a stage of a chain there, alone.
Injector MakeStageHog(size_t stage, CpuId cpu, int64_t busy_ns, int64_t period_ns);
// SCHED_FIFO on `cpu` from `from_ns` to `until_ns` after each `every`-th release of the workload.
Injector MakeStrikingHog(CpuId cpu, int64_t every, int64_t from_ns, int64_t until_ns);
// As MakeHog(), but each time on the CPU where the workload is, 1 ms after one of its releases.
Injector MakeFollowingHog(int64_t busy_ns, int64_t period_ns);
// Computes for ever on `cpu`.
Injector MakeBurn(CpuId cpu);
// Keeps the workload on `home` while it sleeps, and lets it go to `wide` so long after its release; before
// it where that is negative, by less than 1 ms. Its own few microseconds have no stamps.
Injector MakeMaskHelper(CpuId home, const CpuSet& wide, int64_t widen_after_ns);
// `pairs` pairs of threads that throw messages at each other, on all CPUs. Has no stamps.
Injector MakeStorm(int pairs);
// Computes for ever on `cpu` where nobody else wants it (SCHED_IDLE), so that the CPU never sleeps:
// to wake a virtual CPU takes as long as a read of a fast disk. Has no stamps.
Injector MakeIdler(CpuId cpu);
// There, and never busy.
Injector MakeSleeper(const std::string& name);

CpuSet OneCpu(CpuId cpu);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SELFTEST_INJECTORS_H_
