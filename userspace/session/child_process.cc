#include "userspace/session/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/errno_status.h"
#include "userspace/session/stop_signal.h"

extern char** environ;

namespace whylate {
namespace {

constexpr int64_t kTreeEndTimeoutNs = 5 * kNsPerSecond;
constexpr int64_t kKillTimeoutNs = 10 * kNsPerSecond;

// The environment of a child, with the run id in the place of any that we inherited.
std::vector<std::string> ChildEnvironment(const ChildProcess::Request& request) {
  std::vector<std::string> variables;
  const std::string prefix = absl::StrCat(kRunIdVariable, "=");
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!absl::StartsWith(*variable, prefix)) variables.push_back(*variable);
  }
  if (request.spec.kind != ChildKind::kJanitor) {
    variables.push_back(absl::StrCat(prefix, request.run_id));
  }
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// After fork: nothing but async-signal-safe calls, since the parent may have threads.
[[noreturn]] void ExecuteSelf(const std::array<int, 3>& fds, char* const* arguments,
                              char* const* environment) {
  // First out of the way of the target numbers, then onto them.
  std::array<int, 3> high = {-1, -1, -1};
  for (size_t i = 0; i < fds.size(); ++i) {
    if (fds[i] >= 0) high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 16);
  }
  for (size_t i = 0; i < fds.size(); ++i) {
    if (high[i] >= 0) dup2(high[i], kChannelFd + static_cast<int>(i));
  }
  ResetStopSignalInChild();
  execve("/proc/self/exe", arguments, environment);
  _exit(127);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(const Request& request,
                                                                  CleanupRegistry* registry) {
  ASSIGN_OR_RETURN(auto channels, Channel::CreatePair());
  std::vector<std::string> arguments = {"whylate", kChildCommand, request.label};
  std::vector<std::string> environment = ChildEnvironment(request);
  const std::vector<char*> argument_pointers = Pointers(arguments);
  const std::vector<char*> environment_pointers = Pointers(environment);
  const std::array<int, 3> fds = {channels.second.fd(), request.shared_fd, request.extra_fd};
  const pid_t supervisor = getpid();
  const pid_t pid = fork();
  if (pid < 0) return ErrnoStatus(errno, absl::StrCat("start ", request.label, " (fork)"));
  if (pid == 0) ExecuteSelf(fds, argument_pointers.data(), environment_pointers.data());

  std::unique_ptr<ChildProcess> child(new ChildProcess());
  child->spec_ = request.spec;
  child->spec_.parent = supervisor;
  child->label_ = request.label;
  child->channel_ = std::move(channels.first);
  const std::optional<ProcessFacts> facts = ReadProcess(Tgid{pid});
  child->identity_ = facts ? facts->identity : ProcessIdentity{Tgid{pid}, 0};
  if (registry != nullptr) {
    ASSIGN_OR_RETURN(child->registration_, registry->AddProcess(child->identity_));
  }
  return child;
}

ChildProcess::~ChildProcess() { End(false); }

absl::Status ChildProcess::Begin() const { return channel_.Send(ToMessage(spec_)); }

std::optional<std::string> ChildProcess::CheckEnd() {
  if (end_) return end_;
  int wait_status = 0;
  const pid_t pid = waitpid(identity_.tgid.value, &wait_status, WNOHANG);
  if (pid == identity_.tgid.value) end_ = DescribeWaitStatus(wait_status);
  if (pid < 0 && errno == ECHILD) end_ = "vanished";
  return end_;
}

bool ChildProcess::WaitEnd(int64_t timeout_ns) {
  const int64_t until_ns = MonotonicNs() + timeout_ns;
  while (!CheckEnd()) {
    if (MonotonicNs() >= until_ns) return false;
    SleepUntilNs(MonotonicNs() + 2 * kNsPerMs);
  }
  return true;
}

void ChildProcess::End(bool has_descendants) {
  if (CheckEnd()) return;
  if (has_descendants) {
    // It may be waiting for a message, or for its processes: the one sees the end of the channel,
    // the other the signal.
    channel_.Close();
    kill(identity_.tgid.value, SIGTERM);
    if (WaitEnd(kTreeEndTimeoutNs)) return;
    KillDescendants(identity_.tgid, kTreeEndTimeoutNs);
  }
  kill(identity_.tgid.value, SIGKILL);
  WaitEnd(kKillTimeoutNs);
}

}  // namespace whylate
