#include "userspace/session/janitor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "analysis/model/status_macros.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/process.h"
#include "userspace/platform/scheduling.h"
#include "userspace/session/child_spec.h"
#include "userspace/session/cleanup_registry.h"
#include "userspace/session/sweep.h"
#include "userspace/trace/tracefs_instance.h"

namespace whylate {
namespace {

constexpr int64_t kCleanUpTimeoutNs = 2 * kNsPerSecond;

// Whoever reads the supervisor's output shall see its end when the supervisor ends.
void LetGoOfTerminal() {
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null.get(), fd);
}

}  // namespace

absl::Status RunJanitor(const Channel& channel) {
  if (setsid() < 0) return ErrnoStatus(errno, "start a session (setsid)");
  LetGoOfTerminal();
  SetThreadName("whylate-janitor");
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) signal(number, SIG_IGN);
  ASSIGN_OR_RETURN(const CleanupRegistry registry, CleanupRegistry::Map(UniqueFd(kSharedFd)));
  const UniqueFd supervisor(kExtraFd);
  const std::optional<ProcessFacts> parent = ReadProcess(Tgid{getppid()});
  RETURN_IF_ERROR(channel.Send("ready"));
  std::array<pollfd, 2> polled = {{{supervisor.get(), POLLIN, 0}, {channel.fd(), POLLIN, 0}}};
  while (poll(polled.data(), polled.size(), -1) < 0) {
    if (errno != EINTR) return ErrnoStatus(errno, "watch the supervisor");
  }
  registry.CleanUp(kCleanUpTimeoutNs);
  if (parent) {
    const std::string run_id = MakeRunId(parent->identity);
    EndProcessesOfRun(run_id);
    // Its own: they are not registered, since their names tell whose they are.
    RemoveTracefsInstances([&](absl::string_view other) { return other == run_id; },
                           kCleanUpTimeoutNs);
  }
  return absl::OkStatus();
}

}  // namespace whylate
