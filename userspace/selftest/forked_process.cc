#include "userspace/selftest/forked_process.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/process.h"
#include "userspace/platform/scheduling.h"
#include "userspace/session/stop_signal.h"

namespace whylate {
namespace {

constexpr int64_t kReadyTimeoutNs = 20 * kNsPerSecond;

absl::Status SettleIn(const ForkedProcess::Settings& settings, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return absl::CancelledError("the parent is gone");
  ResetStopSignalInChild();
  // Ctrl-C reaches the whole process group; the parent decides what it means.
  signal(SIGINT, SIG_IGN);
  SetThreadName(settings.name);
  SetTimerSlackNs(1);
  if (settings.cpus) RETURN_IF_ERROR(SetAffinity(*settings.cpus));
  if (settings.fifo_priority) {
    sched_param parameters = {};
    parameters.sched_priority = *settings.fifo_priority;
    if (sched_setscheduler(0, SCHED_FIFO, &parameters) != 0) {
      return ErrnoStatus(errno, absl::StrCat("run ", settings.name, " with SCHED_FIFO"));
    }
  }
  if (settings.only_when_idle) {
    const sched_param parameters = {};
    if (sched_setscheduler(0, SCHED_IDLE, &parameters) != 0) {
      return ErrnoStatus(errno, absl::StrCat("run ", settings.name, " with SCHED_IDLE"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ForkedProcess> ForkedProcess::Start(const Settings& settings,
                                                   CleanupRegistry* registry, const Body& body) {
  ASSIGN_OR_RETURN(auto channels, Channel::CreatePair());
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return ErrnoStatus(errno, absl::StrCat("fork ", settings.name));
  if (pid == 0) {
    channels.first.Close();
    absl::Status status = SettleIn(settings, parent);
    if (status.ok()) status = body(channels.second);
    if (!status.ok()) (void)channels.second.Send(absl::StrCat("error ", status.message()));
    _exit(status.ok() ? 0 : 1);
  }
  ForkedProcess process(pid, std::move(channels.first));
  const std::optional<ProcessFacts> facts = ReadProcess(Tgid{pid});
  if (registry != nullptr && facts) {
    ASSIGN_OR_RETURN(process.registration_, registry->AddProcess(facts->identity));
  }
  return process;
}

ForkedProcess::ForkedProcess(ForkedProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      channel_(std::move(other.channel_)),
      registration_(std::move(other.registration_)) {}

ForkedProcess::~ForkedProcess() { End(); }

void ForkedProcess::End() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  registration_ = Registration();
}

std::vector<Tid> ForkedProcess::Threads() const {
  std::vector<Tid> threads;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(absl::StrCat("/proc/", pid_, "/task"), error)) {
    int32_t tid = 0;
    if (absl::SimpleAtoi(entry.path().filename().string(), &tid)) threads.push_back(Tid{tid});
  }
  return threads;
}

absl::Status ForkedProcess::Await(const std::string& message, int64_t timeout_ns) const {
  pollfd polled = {channel_.fd(), POLLIN, 0};
  if (!WaitFor(&polled, 1, MonotonicNs() + timeout_ns)) {
    if (StopRequested()) return absl::CancelledError("stopped");
    return absl::DeadlineExceededError(absl::StrCat("process ", pid_, " did not say ", message));
  }
  ASSIGN_OR_RETURN(const std::string received, channel_.Receive());
  if (received != message) {
    return absl::AbortedError(absl::StrCat("process ", pid_, " said: ", received));
  }
  return absl::OkStatus();
}

absl::Status ForkedProcess::AwaitReady() const { return Await("ready", kReadyTimeoutNs); }

absl::Status ForkedProcess::CheckSilent() const {
  ASSIGN_OR_RETURN(const std::optional<std::string> said, channel_.ReceiveNow());
  if (!said) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("process ", pid_, " said: ", *said));
}

absl::Status AwaitGo(const Channel& channel) {
  RETURN_IF_ERROR(channel.Send("ready"));
  return channel.Receive().status();
}

}  // namespace whylate
