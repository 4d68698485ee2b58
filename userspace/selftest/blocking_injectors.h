// Who keeps a workload asleep on purpose: holders of a lock, somebody who stops or freezes it, a disk.
#ifndef WHYLATE_USERSPACE_SELFTEST_BLOCKING_INJECTORS_H_
#define WHYLATE_USERSPACE_SELFTEST_BLOCKING_INJECTORS_H_

#include <pthread.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "analysis/model/ids.h"
#include "userspace/platform/cgroup.h"
#include "userspace/platform/shared_memory.h"
#include "userspace/platform/unique_fd.h"
#include "userspace/selftest/injectors.h"

namespace whylate {

// A lock between processes, without priority inheritance. Who dies with it keeps it.
class SharedMutex {
 public:
  static absl::StatusOr<SharedMutex> Create();
  void Lock() { pthread_mutex_lock(mutex()); }
  void Unlock() { pthread_mutex_unlock(mutex()); }

 private:
  explicit SharedMutex(SharedMemory memory) : memory_(std::move(memory)) {}
  pthread_mutex_t* mutex() const { return static_cast<pthread_mutex_t*>(memory_.data()); }

  SharedMemory memory_;
};

// Takes the lock `from_ns` after each `every`-th release, and gives it back when it has had `cpu_ns`
// of its CPU, which it is stamped to have. An ordinary task.
Injector MakeHolder(CpuId cpu, std::shared_ptr<SharedMutex> mutex, int64_t every, int64_t from_ns,
                    int64_t cpu_ns);
// Takes the lock and sleeps with it until `until_ns` after the release; its stamps say when it had
// the lock. SCHED_FIFO.
Injector MakeTimedHolder(CpuId cpu, std::shared_ptr<SharedMutex> mutex, int64_t every,
                         int64_t from_ns, int64_t until_ns);
// Stops the workload by SIGSTOP for `stop_ns`, from `from_ns` after each `every`-th release; its
// stamps say when.
Injector MakeStopper(CpuId cpu, int64_t every, int64_t from_ns, int64_t stop_ns);
// The same by freezing the cgroup that it is in.
Injector MakeFreezer(CpuId cpu, std::shared_ptr<FreezerCgroup> cgroup, int64_t every,
                     int64_t from_ns, int64_t freeze_ns);
// Drops the file's pages from the cache, again and again. Has no stamps.
Injector MakeEvictor(CpuId cpu, std::shared_ptr<UniqueFd> file);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SELFTEST_BLOCKING_INJECTORS_H_
