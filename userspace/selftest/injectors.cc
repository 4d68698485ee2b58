#include "userspace/selftest/injectors.h"

#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/files.h"

namespace whylate {
namespace {

constexpr int32_t kHogPriority = 50;
constexpr int32_t kHelperPriority = 60;
// Where in a frame the following hog strikes: the workload runs then.
constexpr int64_t kIntoFrameNs = 1 * kNsPerMs;
constexpr int64_t kNarrowBeforeNs = 1'000'000;
constexpr int64_t kAsleepAfterNs = 200'000;

absl::Status SetMask(Tid task, const CpuSet& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const CpuId cpu : cpus.ToVector()) CPU_SET(static_cast<size_t>(cpu.value), &set);
  if (sched_setaffinity(task.value, sizeof(set), &set) != 0) {
    return ErrnoStatus(errno, absl::StrCat("set the affinity of task ", task.value));
  }
  return absl::OkStatus();
}

// Field 39 of /proc/PID/stat.
absl::StatusOr<CpuId> CpuOf(Tid task) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(absl::StrCat("/proc/", task.value, "/stat")));
  const std::vector<std::string> fields =
      absl::StrSplit(text.substr(text.rfind(')') + 2), ' ');  // from field 3 on
  int32_t cpu = 0;
  if (fields.size() < 37 || !absl::SimpleAtoi(fields[36], &cpu)) {
    return absl::InternalError("cannot parse /proc/PID/stat");
  }
  return CpuId{cpu};
}

// Starts what `periodic` does each `period_ns`, for ever.
absl::Status Periodically(int64_t period_ns, const std::function<absl::Status(int64_t)>& periodic) {
  for (int64_t time_ns = MonotonicNs() + period_ns;; time_ns += period_ns) {
    SleepUntilNs(time_ns);
    RETURN_IF_ERROR(periodic(time_ns));
  }
}

absl::Status StrikePeriodically(const InjectorContext& context, int64_t busy_ns,
                                int64_t period_ns) {
  return Periodically(period_ns, [&](int64_t) {
    SpinUntil(MonotonicNs() + busy_ns, *context.busy);
    return absl::OkStatus();
  });
}

// Whether the workload waits for its release at `release_ns`: then nothing of it runs.
bool SleepsUntil(const InjectorContext& context, int64_t release_ns) {
  const int64_t count = context.frames->count();
  if (count == 0) return release_ns == context.frames->origin_ns();
  const int64_t completion_ns = context.frames->record(count - 1).completion_ns;
  return completion_ns + kAsleepAfterNs < MonotonicNs() &&
         context.ReleaseAtOrAfter(completion_ns) == release_ns;
}

// It looks once a period, as each look disturbs. A frame that it comes too late for just keeps its
// wide mask: to move a thread that runs would be another disturbance.
absl::Status HelpWithMask(const InjectorContext& context, const CpuSet& home, const CpuSet& wide,
                          int64_t widen_after_ns) {
  context.AwaitOrigin();
  int64_t release_ns = context.frames->origin_ns();
  while (true) {
    SleepUntilNs(release_ns - kNarrowBeforeNs);
    if (SleepsUntil(context, release_ns)) RETURN_IF_ERROR(SetMask(context.workload, home));
    SleepUntilNs(release_ns + widen_after_ns);
    RETURN_IF_ERROR(SetMask(context.workload, wide));
    release_ns = context.ReleaseAtOrAfter(release_ns + 1);
  }
}

void ThrowMessages(int fd, bool begins) {
  char message[100] = {};
  if (begins && write(fd, message, sizeof(message)) < 0) return;
  while (read(fd, message, sizeof(message)) > 0) {
    if (write(fd, message, sizeof(message)) < 0) return;
  }
}

}  // namespace

CpuSet OneCpu(CpuId cpu) {
  CpuSet set;
  set.Add(cpu);
  return set;
}

int64_t InjectorContext::ReleaseAtOrAfter(int64_t time_ns) const {
  CellFrames pacing;
  pacing.period = period;
  pacing.origin_ns = frames->origin_ns();
  return pacing.ReleaseNs(pacing.FirstReleaseAtOrAfter(std::max(time_ns, pacing.origin_ns)));
}

void InjectorContext::AwaitOrigin() const {
  while (frames->origin_ns() == 0) SleepUntilNs(MonotonicNs() + kNsPerMs);
}

absl::Status InjectorContext::AtEvery(
    int64_t every, int64_t from_ns,
    const std::function<absl::Status(int64_t release_ns)>& strike) const {
  AwaitOrigin();
  for (int64_t k = every;; k += every) {
    const int64_t release_ns = frames->origin_ns() + period.Multiple(k);
    if (release_ns + from_ns < MonotonicNs()) continue;
    SleepUntilNs(release_ns + from_ns);
    RETURN_IF_ERROR(strike(release_ns));
  }
}

Injector MakeStrikingHog(CpuId cpu, int64_t every, int64_t from_ns, int64_t until_ns) {
  Injector hog;
  hog.name = "hog";
  hog.settings = {"hog", OneCpu(cpu), kHogPriority};
  hog.body = [=](const InjectorContext& context, const Channel& channel) -> absl::Status {
    RETURN_IF_ERROR(AwaitGo(channel));
    return context.AtEvery(every, from_ns, [&](int64_t release_ns) {
      SpinUntil(release_ns + until_ns, *context.busy);
      return absl::OkStatus();
    });
  };
  return hog;
}

Injector MakeHog(CpuId cpu, int64_t busy_ns, int64_t period_ns) {
  Injector hog;
  hog.name = "hog";
  hog.settings = {"hog", OneCpu(cpu), kHogPriority};
  hog.body = [=](const InjectorContext& context, const Channel& channel) -> absl::Status {
    RETURN_IF_ERROR(AwaitGo(channel));
    return StrikePeriodically(context, busy_ns, period_ns);
  };
  return hog;
}

Injector MakeStageHog(size_t stage, CpuId cpu, int64_t busy_ns, int64_t period_ns) {
  Injector hog = MakeHog(cpu, busy_ns, period_ns);
  hog.body = [=](const InjectorContext& context, const Channel& channel) -> absl::Status {
    RETURN_IF_ERROR(AwaitGo(channel));
    context.AwaitOrigin();
    RETURN_IF_ERROR(SetMask(context.frames->stage_tid(stage), OneCpu(cpu)));
    return StrikePeriodically(context, busy_ns, period_ns);
  };
  return hog;
}

Injector MakeFollowingHog(int64_t busy_ns, int64_t period_ns) {
  Injector hog;
  hog.name = "hog";
  hog.settings = {"hog", std::nullopt, kHogPriority};
  hog.is_exclusive = false;  // the workload may get away
  hog.body = [=](const InjectorContext& context, const Channel& channel) -> absl::Status {
    RETURN_IF_ERROR(AwaitGo(channel));
    context.AwaitOrigin();
    return Periodically(period_ns, [&](int64_t time_ns) -> absl::Status {
      SleepUntilNs(context.ReleaseAtOrAfter(time_ns) + kIntoFrameNs);
      ASSIGN_OR_RETURN(const CpuId cpu, CpuOf(context.workload));
      RETURN_IF_ERROR(SetMask(Tid{0}, OneCpu(cpu)));
      SpinUntil(MonotonicNs() + busy_ns, *context.busy);
      return absl::OkStatus();
    });
  };
  return hog;
}

Injector MakeBurn(CpuId cpu) {
  Injector burn;
  burn.name = "burn";
  burn.settings = {"burn", OneCpu(cpu), std::nullopt};
  burn.body = [](const InjectorContext& context, const Channel& channel) -> absl::Status {
    RETURN_IF_ERROR(AwaitGo(channel));
    SpinUntil(std::numeric_limits<int64_t>::max(), *context.busy);
    return absl::OkStatus();
  };
  return burn;
}

Injector MakeMaskHelper(CpuId home, const CpuSet& wide, int64_t widen_after_ns) {
  Injector helper;
  helper.name = "helper";
  // At home, because its going to sleep elsewhere would make the other CPU look for work.
  helper.settings = {"helper", OneCpu(home), kHelperPriority};
  helper.has_stamps = false;
  helper.body = [=](const InjectorContext& context, const Channel& channel) -> absl::Status {
    RETURN_IF_ERROR(AwaitGo(channel));
    return HelpWithMask(context, OneCpu(home), wide, widen_after_ns);
  };
  return helper;
}

Injector MakeStorm(int pairs) {
  Injector storm;
  storm.name = "hack";
  storm.settings = {"hack", std::nullopt, std::nullopt};
  storm.has_stamps = false;
  storm.body = [=](const InjectorContext&, const Channel& channel) -> absl::Status {
    std::vector<std::thread> threads;
    std::atomic<bool> go = false;
    for (int i = 0; i < pairs; ++i) {
      int fds[2];
      if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0) return ErrnoStatus(errno, "socketpair");
      for (const int end : {0, 1}) {
        threads.emplace_back([&go, fd = fds[end], end] {
          while (!go) SleepUntilNs(MonotonicNs() + kNsPerMs);
          ThrowMessages(fd, end == 0);
        });
      }
    }
    RETURN_IF_ERROR(AwaitGo(channel));
    go = true;
    for (std::thread& thread : threads) thread.join();
    return absl::OkStatus();
  };
  return storm;
}

Injector MakeIdler(CpuId cpu) {
  Injector idler = MakeBurn(cpu);
  idler.name = "idler";
  idler.settings = {"idler", OneCpu(cpu), std::nullopt, /*only_when_idle=*/true};
  idler.is_exclusive = false;
  idler.has_stamps = false;
  return idler;
}

Injector MakeSleeper(const std::string& name) {
  Injector sleeper;
  sleeper.name = name;
  sleeper.settings = {name, std::nullopt, std::nullopt};
  sleeper.body = [](const InjectorContext&, const Channel& channel) -> absl::Status {
    RETURN_IF_ERROR(AwaitGo(channel));
    return channel.Receive().status();
  };
  return sleeper;
}

}  // namespace whylate
