// Messages between the supervisor and one child: a connected SOCK_SEQPACKET pair, one text each.
//
// Either side sees the other's end: Receive() then returns OutOfRange.
#ifndef WHYLATE_USERSPACE_PLATFORM_CHANNEL_H_
#define WHYLATE_USERSPACE_PLATFORM_CHANNEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "userspace/platform/unique_fd.h"

namespace whylate {

class Channel {
 public:
  static constexpr size_t kMaxMessageBytes = 65536;

  static absl::StatusOr<std::pair<Channel, Channel>> CreatePair();
  Channel() = default;
  explicit Channel(UniqueFd fd) : fd_(std::move(fd)) {}

  // ResourceExhausted for a message that is empty or longer than kMaxMessageBytes.
  absl::Status Send(absl::string_view message) const;
  // Blocks until a message is there.
  absl::StatusOr<std::string> Receive() const;
  // nullopt where none is there now.
  absl::StatusOr<std::optional<std::string>> ReceiveNow() const;
  int fd() const { return fd_.get(); }
  void Close() { fd_.Reset(); }

 private:
  absl::StatusOr<std::optional<std::string>> ReceiveWithFlags(int flags) const;

  UniqueFd fd_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_CHANNEL_H_
