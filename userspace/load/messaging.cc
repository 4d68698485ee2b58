// Loads that pass messages: ring and hack.
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "userspace/load/bodies.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/unique_fd.h"

namespace whylate {
namespace {

// As hackbench: each of the senders of a group sends to each of its receivers.
constexpr int32_t kSendersPerGroup = 20;
constexpr int32_t kReceiversPerGroup = 20;
constexpr size_t kMessageBytes = 100;

struct SocketPair {
  UniqueFd sending;
  UniqueFd receiving;
};

absl::Status RaiseFileLimit(rlim_t needed) {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return ErrnoStatus(errno, "read RLIMIT_NOFILE");
  if (limit.rlim_cur >= needed) return absl::OkStatus();
  limit.rlim_cur = std::min(needed, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < needed) {
    return absl::ResourceExhaustedError(
        absl::StrCat("hack needs ", needed, " open files and the limit is ", limit.rlim_max,
                     "; raise it (ulimit -Hn) or give a smaller --load-threads"));
  }
  return absl::OkStatus();
}

absl::Status SendForEver(const SocketPair* pairs) {
  const std::array<char, kMessageBytes> message = {};
  while (true) {
    for (int32_t i = 0; i < kReceiversPerGroup; ++i) {
      if (send(pairs[i].sending.get(), message.data(), message.size(), MSG_NOSIGNAL) < 0 &&
          errno != EINTR) {
        return ErrnoStatus(errno, "send a message");
      }
    }
  }
}

absl::Status ReceiveForEver(const LoadContext& context, const SocketPair& pair, size_t lane) {
  std::array<char, kMessageBytes> message;
  while (true) {
    const ssize_t count = recv(pair.receiving.get(), message.data(), message.size(), MSG_WAITALL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return ErrnoStatus(errno, "receive a message");
    context.Advance(lane, 1);
  }
}

}  // namespace

int32_t RingThreadCount(int32_t load_threads) { return std::max<int32_t>(2, load_threads); }

absl::Status RunRingLoad(const LoadContext& context) {
  const auto count = static_cast<size_t>(RingThreadCount(context.settings().threads));
  std::vector<sem_t> semaphores(count);
  for (sem_t& semaphore : semaphores) sem_init(&semaphore, 0, 0);
  sem_post(&semaphores[0]);  // the token
  return context.RunThreads("ring", count, [&](size_t i) -> absl::Status {
    while (true) {
      while (sem_wait(&semaphores[i]) != 0) {
      }
      context.Advance(i, 1);
      sem_post(&semaphores[(i + 1) % count]);
    }
  });
}

int32_t HackThreadCount(int32_t load_threads) {
  return load_threads * (kSendersPerGroup + kReceiversPerGroup);
}

absl::Status RunHackLoad(const LoadContext& context) {
  const int32_t groups = context.settings().threads;
  const auto pair_count = static_cast<size_t>(groups) * kReceiversPerGroup;
  absl::Status status = RaiseFileLimit(pair_count * 2 + 64);
  if (!status.ok()) return status;
  std::vector<SocketPair> pairs(pair_count);
  for (SocketPair& pair : pairs) {
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
      return ErrnoStatus(errno, "create a socket pair");
    }
    pair.sending = UniqueFd(fds[0]);
    pair.receiving = UniqueFd(fds[1]);
  }
  std::vector<std::function<absl::Status(size_t)>> bodies;
  for (int32_t group = 0; group < groups; ++group) {
    const SocketPair* first = &pairs[static_cast<size_t>(group) * kReceiversPerGroup];
    for (int32_t i = 0; i < kReceiversPerGroup; ++i) {
      bodies.push_back([&context, pair = first + i](size_t lane) {
        return ReceiveForEver(context, *pair, lane);
      });
    }
    for (int32_t i = 0; i < kSendersPerGroup; ++i) {
      bodies.push_back([first](size_t) { return SendForEver(first); });
    }
  }
  return context.RunThreads("hack", bodies);
}

}  // namespace whylate
