#include "userspace/platform/scheduling.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cerrno>
#include <memory>

#include "absl/strings/str_cat.h"
#include "userspace/platform/errno_status.h"

namespace whylate {
namespace {

// cpu_set_t of the size that the largest kernel needs.
class DynamicCpuSet {
 public:
  DynamicCpuSet() : set_(CPU_ALLOC(CpuSet::kMaxCpus), [](cpu_set_t* set) { CPU_FREE(set); }) {
    CPU_ZERO_S(size(), set_.get());
  }
  cpu_set_t* get() { return set_.get(); }
  static size_t size() { return CPU_ALLOC_SIZE(CpuSet::kMaxCpus); }

 private:
  std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set_;
};

}  // namespace

absl::StatusOr<CpuSet> GetAffinity(Tid tid) {
  DynamicCpuSet kernel_set;
  if (sched_getaffinity(tid.value, DynamicCpuSet::size(), kernel_set.get()) != 0) {
    return ErrnoStatus(errno, absl::StrCat("read the CPU affinity of task ", tid.value));
  }
  CpuSet set;
  for (int32_t cpu = 0; cpu < CpuSet::kMaxCpus; ++cpu) {
    if (CPU_ISSET_S(static_cast<size_t>(cpu), DynamicCpuSet::size(), kernel_set.get())) {
      set.Add(CpuId{cpu});
    }
  }
  return set;
}

absl::Status SetAffinity(const CpuSet& cpus) { return SetAffinityOf(Tid{0}, cpus); }

absl::Status SetAffinityOf(Tid tid, const CpuSet& cpus) {
  DynamicCpuSet kernel_set;
  for (CpuId cpu : cpus.ToVector()) {
    CPU_SET_S(static_cast<size_t>(cpu.value), DynamicCpuSet::size(), kernel_set.get());
  }
  if (sched_setaffinity(tid.value, DynamicCpuSet::size(), kernel_set.get()) != 0) {
    return ErrnoStatus(errno, absl::StrCat("pin to CPUs ", cpus.ToString()));
  }
  return absl::OkStatus();
}

absl::Status SetNice(int32_t nice) {
  if (setpriority(PRIO_PROCESS, 0, nice) != 0) {
    return ErrnoStatus(errno, absl::StrCat("set nice ", nice));
  }
  return absl::OkStatus();
}

void SetTimerSlackNs(uint64_t slack_ns) { prctl(PR_SET_TIMERSLACK, slack_ns); }

void SetThreadName(const std::string& name) { prctl(PR_SET_NAME, name.substr(0, 15).c_str()); }

}  // namespace whylate
