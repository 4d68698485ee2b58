// One child of the supervisor: started, spoken to, ended and reaped. Move-only owner.
#ifndef WHYLATE_USERSPACE_SESSION_CHILD_PROCESS_H_
#define WHYLATE_USERSPACE_SESSION_CHILD_PROCESS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "userspace/platform/channel.h"
#include "userspace/platform/process.h"
#include "userspace/session/child_spec.h"
#include "userspace/session/cleanup_registry.h"

namespace whylate {

class ChildProcess {
 public:
  struct Request {
    ChildSpec spec;
    std::string label;  // for messages and ps(1): "load burn"
    std::string run_id;
    int shared_fd = -1;  // inherited as kSharedFd
    int extra_fd = -1;   // inherited as kExtraFd; -1: none
  };

  // Executes this program again as a child and registers it, but does not send the spec yet.
  // `registry` may be null (for the janitor itself) and must outlive the child.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const Request& request,
                                                             CleanupRegistry* registry);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Sends the spec: the child begins to prepare.
  absl::Status Begin() const;

  const std::string& label() const { return label_; }
  Tgid tgid() const { return identity_.tgid; }
  const Channel& channel() const { return channel_; }
  Channel& channel() { return channel_; }

  // nullopt while it runs; else how it ended.
  std::optional<std::string> CheckEnd();
  // Ends it and reaps it. A child that has descendants is asked first, so that it ends them.
  void End(bool has_descendants);

 private:
  ChildProcess() = default;
  // True once it has been reaped, within `timeout_ns`.
  bool WaitEnd(int64_t timeout_ns);

  ChildSpec spec_;
  std::string label_;
  ProcessIdentity identity_;
  Channel channel_;
  Registration registration_;
  std::optional<std::string> end_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SESSION_CHILD_PROCESS_H_
