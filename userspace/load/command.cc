// A load that is any command line of the user's, with every process that it makes.
//
// The load's process is the subreaper of the command's tree: whatever the command forks, detached
// or not, stays below it, so that all of it can be counted and ended. It outlives the supervisor
// for as long as that takes.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "analysis/model/status_macros.h"
#include "userspace/load/bodies.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/process.h"
#include "userspace/platform/unique_fd.h"

namespace whylate {
namespace {

constexpr int64_t kKillTimeoutNs = 4 * kNsPerSecond;
// As much of the command's last words as a reason quotes.
constexpr size_t kQuotedBytes = 200;

class CommandTree {
 public:
  static absl::StatusOr<CommandTree> Prepare();

  absl::Status Start(const std::string& command);
  // Until the tree ends by itself: says how. OK when the supervisor wants it to end.
  absl::Status Watch(const Channel& channel);

 private:
  // Handles all that the pipe has now.
  void ReadOutput();
  // Reaps what has ended; the reason once no process of the tree is left.
  std::optional<absl::Status> Reap();
  std::string LastWords() const;

  UniqueFd signals_;
  UniqueFd output_read_;
  UniqueFd output_write_;
  pid_t shell_ = -1;
  std::string shell_end_ = "vanished";
  std::string output_tail_;
  int64_t started_ns_ = 0;
};

absl::StatusOr<CommandTree> CommandTree::Prepare() {
  CommandTree tree;
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return ErrnoStatus(errno, "become a subreaper");
  // Not SIGKILL, as for the other loads: the tree has to be ended before this process may go.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t handled;
  sigemptyset(&handled);
  sigaddset(&handled, SIGCHLD);
  sigaddset(&handled, SIGTERM);
  if (sigprocmask(SIG_BLOCK, &handled, nullptr) != 0) return ErrnoStatus(errno, "block signals");
  tree.signals_ = UniqueFd(signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!tree.signals_.valid()) return ErrnoStatus(errno, "create a signalfd");
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) return ErrnoStatus(errno, "create a pipe");
  tree.output_read_ = UniqueFd(pipe_fds[0]);
  tree.output_write_ = UniqueFd(pipe_fds[1]);
  fcntl(tree.output_read_.get(), F_SETFL, O_NONBLOCK);
  return tree;
}

absl::Status CommandTree::Start(const std::string& command) {
  shell_ = fork();
  if (shell_ < 0) return ErrnoStatus(errno, "fork the command's shell");
  if (shell_ == 0) {
    // The shell begins as if the user had started it: default signals, nothing blocked.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    const int null = open("/dev/null", O_RDONLY);
    dup2(null, STDIN_FILENO);
    dup2(output_write_.get(), STDOUT_FILENO);
    dup2(output_write_.get(), STDERR_FILENO);
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  output_write_.Reset();
  started_ns_ = MonotonicNs();
  return absl::OkStatus();
}

void CommandTree::ReadOutput() {
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t count = read(output_read_.get(), buffer.data(), buffer.size());
    if (count < 0) return;
    if (count == 0) {
      output_read_.Reset();
      return;
    }
    output_tail_.append(buffer.data(), static_cast<size_t>(count));
    if (output_tail_.size() > 2 * kQuotedBytes) {
      output_tail_.erase(0, output_tail_.size() - 2 * kQuotedBytes);
    }
  }
}

std::string CommandTree::LastWords() const {
  absl::string_view text = output_tail_;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  const size_t line_start = text.rfind('\n');
  if (line_start != text.npos) text.remove_prefix(line_start + 1);
  if (text.empty()) return "";
  return absl::StrCat("; its last output: ", text.substr(0, kQuotedBytes));
}

std::optional<absl::Status> CommandTree::Reap() {
  while (true) {
    int wait_status = 0;
    const pid_t pid = waitpid(-1, &wait_status, WNOHANG);
    if (pid == 0) return std::nullopt;
    if (pid < 0) {
      if (output_read_.valid()) ReadOutput();
      const int64_t ran_ms = (MonotonicNs() - started_ns_) / kNsPerMs;
      return absl::AbortedError(
          absl::StrCat("the command ", shell_end_, " after ", ran_ms, " ms", LastWords(),
                       "; a load must outlast its cell: while :; do CMD; done"));
    }
    if (pid == shell_) shell_end_ = DescribeWaitStatus(wait_status);
  }
}

absl::Status CommandTree::Watch(const Channel& channel) {
  while (true) {
    std::array<pollfd, 3> polled = {
        {{signals_.get(), POLLIN, 0}, {channel.fd(), POLLIN, 0}, {output_read_.get(), POLLIN, 0}}};
    if (poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) {
      return ErrnoStatus(errno, "wait for the command");
    }
    if (polled[1].revents != 0) return absl::OkStatus();  // the supervisor is gone
    if (polled[2].revents != 0) ReadOutput();
    signalfd_siginfo info;
    while (read(signals_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
      if (info.ssi_signo == SIGTERM) return absl::OkStatus();
    }
    if (std::optional<absl::Status> end = Reap()) return *end;
  }
}

}  // namespace

absl::Status RunCommandLoad(const LoadContext& context) {
  ASSIGN_OR_RETURN(CommandTree tree, CommandTree::Prepare());
  RETURN_IF_ERROR(context.Ready());
  RETURN_IF_ERROR(tree.Start(context.settings().command));
  const absl::Status end = tree.Watch(context.channel());
  KillDescendants(Tgid{getpid()}, kKillTimeoutNs);
  return end.ok() ? absl::CancelledError("told to end") : end;
}

}  // namespace whylate
