// What is done to a workload on purpose, and by whom, measured by the one who does it.
//
// An injector is a process that disturbs. It stamps when it had a CPU, by watching the clock: where
// two readings lie far apart it was off its CPU, or interrupted. So its account owes nothing to any
// trace.
#ifndef WHYLATE_TESTS_SUPPORT_INJECTORS_H_
#define WHYLATE_TESTS_SUPPORT_INJECTORS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analysis/model/cpu_set.h"
#include "analysis/model/frame.h"
#include "analysis/model/ids.h"
#include "tests/support/forked_process.h"
#include "userspace/platform/channel.h"
#include "userspace/platform/shared_memory.h"
#include "userspace/trace/trace_source.h"
#include "userspace/workload/frame_log.h"

namespace whylate {

// Clock readings further apart than this were not made on one CPU without an interruption.
inline constexpr int64_t kStampGapNs = 20'000;

// When one thread was busy, in shared memory. One writer, readable at any time.
class BusyLog {
 public:
  static absl::StatusOr<BusyLog> Create();

  // Keeps the CPU until `until_ns`, and stamps when the scheduler let it: by the clock, and where that
  // jumped, by the kernel's count of the thread's switches.
  void SpinUntil(int64_t until_ns);
  std::vector<TimeWindow> Intervals() const;
  absl::Status Lock() const { return memory_.Lock(); }

 private:
  struct Record {
    std::atomic<int64_t> begin_ns;
    std::atomic<int64_t> end_ns;
  };
  struct alignas(64) Header {
    std::atomic<int64_t> count;
  };

  explicit BusyLog(SharedMemory memory) : memory_(std::move(memory)) {}
  Header* header() const { return static_cast<Header*>(memory_.data()); }
  Record* records() const { return reinterpret_cast<Record*>(header() + 1); }
  // The record to write next; the last one again and again when the log is full.
  Record& Next();

  SharedMemory memory_;
};

// What an injector's process sees of its scenario.
struct InjectorContext {
  BusyLog* busy;
  const FrameLog* frames;  // of the workload
  Period period;
  Tid workload;

  // The next release at or after `time_ns`; only once the workload has begun.
  int64_t ReleaseAtOrAfter(int64_t time_ns) const;
  // Waits until the workload has begun.
  void AwaitOrigin() const;
};

struct Injector {
  std::string name;  // of its role: a load of that name
  ForkedProcess::Settings settings;
  std::function<absl::Status(const InjectorContext&, const Channel&)> body;
  // It is only ever busy on the workload's CPU, so that the two exclude each other.
  bool shares_cpu = true;
  bool has_stamps = true;
};

// SCHED_FIFO, `busy_ns` every `period_ns` on `cpu`.
Injector MakeHog(CpuId cpu, int64_t busy_ns, int64_t period_ns);
// The same, after it has moved a stage of a chain there, alone.
Injector MakeStageHog(size_t stage, CpuId cpu, int64_t busy_ns, int64_t period_ns);
// As MakeHog(), but each time on the CPU where the workload is, 1 ms after one of its releases.
Injector MakeFollowingHog(int64_t busy_ns, int64_t period_ns);
// Computes for ever on `cpu`.
Injector MakeBurn(CpuId cpu);
// Keeps the workload on `home` while it sleeps, and lets it go to `wide` 0.3 ms after its release.
// Its own few microseconds have no stamps.
Injector MakeMaskHelper(CpuId home, const CpuSet& wide);
// `pairs` pairs of threads that throw messages at each other, on all CPUs. Has no stamps.
Injector MakeStorm(int pairs);
// There, and never busy.
Injector MakeSleeper(const std::string& name);

CpuSet OneCpu(CpuId cpu);

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_INJECTORS_H_
