#include "userspace/selftest/blocking_injectors.h"

#include <fcntl.h>
#include <signal.h>

#include <cerrno>
#include <functional>
#include <new>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/process.h"

namespace whylate {
namespace {

constexpr int32_t kPriority = 60;
constexpr int64_t kEvictEveryNs = 20 * kNsPerMs;
constexpr int64_t kLookEveryNs = 50'000;

Injector MakeFifo(const char* name, CpuId cpu) {
  Injector injector;
  injector.name = name;
  injector.settings = {name, OneCpu(cpu), kPriority};
  injector.means = Means::kBlocks;
  return injector;
}

// How somebody halts the workload, and sees that it does: one that waits for a CPU halts only when it
// gets there.
struct Halter {
  std::function<absl::Status(bool halt)> set;
  std::function<bool()> is_halted;
};

// For `halt_ns`; the stamp begins when it is seen to be halted, which it may have been since it was
// asked to.
absl::Status Halt(const InjectorContext& context, int64_t halt_ns, const Halter& halter) {
  const int64_t asked_ns = MonotonicNs();
  RETURN_IF_ERROR(halter.set(true));
  const int64_t until_ns = MonotonicNs() + halt_ns;
  while (!halter.is_halted() && MonotonicNs() < until_ns)
    SleepUntilNs(MonotonicNs() + kLookEveryNs);
  const int64_t begin_ns = MonotonicNs();
  SleepUntilNs(until_ns);
  context.busy->Begin(begin_ns, begin_ns - asked_ns);
  context.busy->Extend(MonotonicNs());
  context.busy->End();
  return halter.set(false);
}

}  // namespace

absl::StatusOr<SharedMutex> SharedMutex::Create() {
  ASSIGN_OR_RETURN(SharedMemory memory,
                   SharedMemory::Create("whylate-mutex", sizeof(pthread_mutex_t)));
  SharedMutex mutex(std::move(memory));
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  const int error = pthread_mutex_init(mutex.mutex(), &attributes);
  pthread_mutexattr_destroy(&attributes);
  if (error != 0) return ErrnoStatus(error, "make a lock between processes");
  return mutex;
}

Injector MakeHolder(CpuId cpu, std::shared_ptr<SharedMutex> mutex, int64_t every, int64_t from_ns,
                    int64_t cpu_ns) {
  Injector holder;
  holder.name = "holder";
  holder.settings = {"holder", OneCpu(cpu), std::nullopt};
  holder.means = Means::kBlocks;
  holder.body = [=](const InjectorContext& context, const Channel& channel) -> absl::Status {
    RETURN_IF_ERROR(AwaitGo(channel));
    return context.AtEvery(every, from_ns, [&](int64_t) {
      mutex->Lock();
      SpinFor(cpu_ns, *context.busy);
      mutex->Unlock();
      return absl::OkStatus();
    });
  };
  return holder;
}

Injector MakeTimedHolder(CpuId cpu, std::shared_ptr<SharedMutex> mutex, int64_t every,
                         int64_t from_ns, int64_t until_ns) {
  Injector holder = MakeFifo("holder", cpu);
  holder.body = [=](const InjectorContext& context, const Channel& channel) -> absl::Status {
    RETURN_IF_ERROR(AwaitGo(channel));
    return context.AtEvery(every, from_ns, [&](int64_t release_ns) {
      mutex->Lock();
      const int64_t begin_ns = MonotonicNs();
      SleepUntilNs(release_ns + until_ns);
      context.busy->Add(begin_ns, MonotonicNs());
      mutex->Unlock();
      return absl::OkStatus();
    });
  };
  return holder;
}

Injector MakeStopper(CpuId cpu, int64_t every, int64_t from_ns, int64_t stop_ns) {
  Injector stopper = MakeFifo("stopper", cpu);
  stopper.body = [=](const InjectorContext& context, const Channel& channel) -> absl::Status {
    RETURN_IF_ERROR(AwaitGo(channel));
    const Tgid workload{context.workload.value};
    Halter halter;
    halter.set = [&](bool stop) -> absl::Status {
      if (kill(workload.value, stop ? SIGSTOP : SIGCONT) == 0) return absl::OkStatus();
      return ErrnoStatus(errno, absl::StrCat("signal process ", workload.value));
    };
    halter.is_halted = [&] {
      const std::optional<ProcessFacts> facts = ReadProcess(workload);
      return facts && facts->state == 'T';
    };
    return context.AtEvery(every, from_ns, [&](int64_t) { return Halt(context, stop_ns, halter); });
  };
  return stopper;
}

Injector MakeFreezer(CpuId cpu, std::shared_ptr<FreezerCgroup> cgroup, int64_t every,
                     int64_t from_ns, int64_t freeze_ns) {
  Injector freezer = MakeFifo("freezer", cpu);
  freezer.body = [=](const InjectorContext& context, const Channel& channel) -> absl::Status {
    RETURN_IF_ERROR(AwaitGo(channel));
    const Halter halter = {[&](bool frozen) { return cgroup->SetFrozen(frozen); },
                           [&] { return cgroup->IsFrozen(); }};
    return context.AtEvery(every, from_ns,
                           [&](int64_t) { return Halt(context, freeze_ns, halter); });
  };
  return freezer;
}

Injector MakeEvictor(CpuId cpu, std::shared_ptr<UniqueFd> file) {
  Injector evictor;
  evictor.name = "evictor";
  evictor.settings = {"evictor", OneCpu(cpu), std::nullopt};
  evictor.is_exclusive = false;
  evictor.has_stamps = false;
  evictor.body = [=](const InjectorContext&, const Channel& channel) -> absl::Status {
    RETURN_IF_ERROR(AwaitGo(channel));
    while (true) {
      posix_fadvise(file->get(), 0, 0, POSIX_FADV_DONTNEED);
      SleepUntilNs(MonotonicNs() + kEvictEveryNs);
    }
  };
  return evictor;
}

}  // namespace whylate
