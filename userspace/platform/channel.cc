#include "userspace/platform/channel.h"

#include <sys/socket.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/errno_status.h"

namespace whylate {

absl::StatusOr<std::pair<Channel, Channel>> Channel::CreatePair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
    return ErrnoStatus(errno, "create a socket pair");
  }
  return std::pair(Channel(UniqueFd(fds[0])), Channel(UniqueFd(fds[1])));
}

absl::Status Channel::Send(absl::string_view message) const {
  // Longer ones would arrive cut; an empty one looks like the end.
  if (message.empty() || message.size() > kMaxMessageBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "send a message of ", message.size(), " bytes: 1 to ", kMaxMessageBytes, " are possible"));
  }
  if (send(fd_.get(), message.data(), message.size(), MSG_NOSIGNAL) < 0) {
    return ErrnoStatus(errno, "send a message");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string>> Channel::ReceiveWithFlags(int flags) const {
  std::string message(kMaxMessageBytes, '\0');
  while (true) {
    const ssize_t count = recv(fd_.get(), message.data(), message.size(), flags);
    if (count > 0) {
      message.resize(static_cast<size_t>(count));
      return message;
    }
    if (count == 0 || errno == ECONNRESET) return absl::OutOfRangeError("the other end is gone");
    if (errno == EAGAIN) return std::nullopt;
    if (errno != EINTR) return ErrnoStatus(errno, "receive a message");
  }
}

absl::StatusOr<std::string> Channel::Receive() const {
  ASSIGN_OR_RETURN(std::optional<std::string> message, ReceiveWithFlags(0));
  return message ? *message : "";
}

absl::StatusOr<std::optional<std::string>> Channel::ReceiveNow() const {
  return ReceiveWithFlags(MSG_DONTWAIT);
}

}  // namespace whylate
