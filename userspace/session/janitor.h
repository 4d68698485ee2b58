// Cleans up after a supervisor that died without doing so, be it by SIGKILL.
//
// A child in a session of its own, so that no signal to the supervisor's terminal or group reaches
// it. It watches the supervisor through a pidfd and does nothing else while that lives.
#ifndef WHYLATE_USERSPACE_SESSION_JANITOR_H_
#define WHYLATE_USERSPACE_SESSION_JANITOR_H_

#include "absl/status/status.h"
#include "userspace/platform/channel.h"

namespace whylate {

// Returns when the supervisor has died or closed its end of the channel, and everything that was
// then still registered at kSharedFd is gone. kExtraFd is the supervisor's pidfd.
absl::Status RunJanitor(const Channel& channel);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SESSION_JANITOR_H_
