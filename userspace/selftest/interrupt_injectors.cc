#include "userspace/selftest/interrupt_injectors.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/unique_fd.h"

namespace whylate {
namespace {

constexpr int64_t kMostTimers = 16000;
constexpr int64_t kFewestTimers = 4000;
constexpr int64_t kSpareDescriptors = 256;
// A bunch is one long interruption: what surrounds its handler, and no record tells, is little of it.
constexpr int64_t kBunchEveryNs = 3 * kNsPerMs;
// Begins to arm so long before: on an idle CPU the workload leaves enough for it.
constexpr int64_t kArmingNs = 150 * kNsPerMs;

// One run of packets takes long, for the same reason, but not the 2 ms after which the kernel hands
// the rest to ksoftirqd (kernel/softirq.c).
constexpr int32_t kSenderPriority = 60;
constexpr int kPacketsPerRun = 150;
constexpr int64_t kRunEveryNs = 2 * kNsPerMs;
// Instructions of a packet's filter: as many as a socket's memory has room for where
// net.core.optmem_max is at its old default, 20 KiB.
constexpr size_t kFilterLength = 2000;

absl::StatusOr<std::vector<UniqueFd>> MakeTimers(int64_t count) {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return ErrnoStatus(errno, "raise RLIMIT_NOFILE");
  std::vector<UniqueFd> timers;
  for (int64_t i = 0; i < count; ++i) {
    timers.emplace_back(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    if (!timers.back().valid()) return ErrnoStatus(errno, "create a timer");
  }
  return timers;
}

void Arm(const UniqueFd& timer, int64_t expires_ns) {
  itimerspec when = {};
  when.it_value.tv_sec = static_cast<time_t>(expires_ns / kNsPerSecond);
  when.it_value.tv_nsec = static_cast<long>(expires_ns % kNsPerSecond);
  timerfd_settime(timer.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

// A network of this process's own, gone with it, whose loopback hands what it receives to `cpu`
// (receive packet steering).
absl::Status EnterOwnNetwork(CpuId cpu) {
  if (unshare(CLONE_NEWNET | CLONE_NEWNS) != 0) return ErrnoStatus(errno, "have an own network");
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("sysfs", "/sys", "sysfs", 0, nullptr) != 0) {
    return ErrnoStatus(errno, "mount the own network's /sys");
  }
  const std::string path = "/sys/class/net/lo/queues/rx-0/rps_cpus";
  const UniqueFd steering(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  // Words of 32 CPUs, the highest first.
  std::string mask = absl::StrFormat("%x", uint32_t{1} << (cpu.value % 32));
  for (int32_t word = 0; word < cpu.value / 32; ++word) absl::StrAppend(&mask, ",00000000");
  if (write(steering.get(), mask.data(), mask.size()) < 0) {
    return ErrnoStatus(errno, absl::StrCat("write ", path));
  }
  const UniqueFd any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = {};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  if (ioctl(any.get(), SIOCSIFFLAGS, &request) != 0) return ErrnoStatus(errno, "start lo");
  return absl::OkStatus();
}

// A socket that refuses each packet after a long look at it.
absl::StatusOr<UniqueFd> MakeReceiver(sockaddr_in* address) {
  UniqueFd receiver(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  *address = {};
  address->sin_family = AF_INET;
  address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(*address);
  auto* generic = reinterpret_cast<sockaddr*>(address);
  if (bind(receiver.get(), generic, length) != 0 ||
      getsockname(receiver.get(), generic, &length) != 0) {
    return ErrnoStatus(errno, "bind a socket");
  }
  // Divisions take longest.
  std::vector<sock_filter> filter(kFilterLength, BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 3));
  filter.front() = BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0);
  filter.back() = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  if (setsockopt(receiver.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) != 0) {
    return ErrnoStatus(errno, "filter a socket's packets");
  }
  return receiver;
}

}  // namespace

absl::StatusOr<Injector> MakeTimerFlood(CpuId cpu, int64_t every, int64_t from_ns,
                                        int64_t until_ns) {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  const auto most = static_cast<int64_t>(std::min<rlim_t>(limit.rlim_max, rlim_t{1} << 30));
  const int64_t count = std::min(kMostTimers, most - kSpareDescriptors);
  if (count < kFewestTimers) {
    return absl::FailedPreconditionError(absl::StrCat("needs ", kFewestTimers + kSpareDescriptors,
                                                      " file descriptors; raise ulimit -Hn"));
  }
  Injector timers;
  timers.name = "timers";
  timers.settings = {"timers", OneCpu(cpu), std::nullopt, /*only_when_idle=*/true};
  timers.has_stamps = false;
  timers.is_exclusive = false;
  timers.body = [=](const InjectorContext& context, const Channel& channel) -> absl::Status {
    ASSIGN_OR_RETURN(const std::vector<UniqueFd> fds, MakeTimers(count));
    RETURN_IF_ERROR(AwaitGo(channel));
    return context.AtEvery(every, from_ns - kArmingNs, [&](int64_t release_ns) {
      const int64_t bunches = (until_ns - from_ns) / kBunchEveryNs;
      for (size_t i = 0; i < fds.size(); ++i) {
        const int64_t bunch = static_cast<int64_t>(i) % bunches;
        Arm(fds[i], release_ns + from_ns + bunch * kBunchEveryNs);
      }
      return absl::OkStatus();
    });
  };
  return timers;
}

Injector MakePacketFlood(CpuId from, CpuId to, int64_t every, int64_t from_ns, int64_t until_ns) {
  Injector packets;
  packets.name = "packets";
  packets.settings = {"packets", OneCpu(from), kSenderPriority};  // so that it is in time
  packets.has_stamps = false;
  packets.is_exclusive = false;
  packets.body = [=](const InjectorContext& context, const Channel& channel) -> absl::Status {
    RETURN_IF_ERROR(EnterOwnNetwork(to));
    sockaddr_in address;
    ASSIGN_OR_RETURN(const UniqueFd receiver, MakeReceiver(&address));
    const UniqueFd sender(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (connect(sender.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      return ErrnoStatus(errno, "connect a socket");
    }
    RETURN_IF_ERROR(AwaitGo(channel));
    return context.AtEvery(every, from_ns, [&](int64_t release_ns) {
      for (int64_t at_ns = release_ns + from_ns; at_ns < release_ns + until_ns;
           at_ns += kRunEveryNs) {
        SleepUntilNs(at_ns);
        for (int i = 0; i < kPacketsPerRun; ++i) (void)send(sender.get(), "", 1, 0);
      }
      return absl::OkStatus();
    });
  };
  return packets;
}

}  // namespace whylate
