#include "userspace/session/child_main.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/channel.h"
#include "userspace/platform/scheduling.h"
#include "userspace/session/child_spec.h"
#include "userspace/session/janitor.h"
#include "userspace/workload/frame_chain.h"
#include "userspace/workload/frame_log.h"
#include "userspace/workload/frame_loop.h"

namespace whylate {
namespace {

// Affinity, nice and the tie to the supervisor's life.
absl::Status SettleIn(const ChildSpec& spec) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != spec.parent) return absl::CancelledError("the supervisor is gone");
  // Ctrl-C reaches the whole process group; the supervisor decides what it means.
  signal(SIGINT, SIG_IGN);
  if (!spec.cpus.empty()) {
    ASSIGN_OR_RETURN(const CpuSet cpus, CpuSet::Parse(spec.cpus));
    RETURN_IF_ERROR(SetAffinity(cpus));
  }
  if (spec.nice) RETURN_IF_ERROR(SetNice(*spec.nice));
  return absl::OkStatus();
}

absl::Status RunWorkload(const ChildSpec& spec, const Channel& channel) {
  ASSIGN_OR_RETURN(const Workload workload, MakeWorkload(spec.workload, spec.load.values));
  ASSIGN_OR_RETURN(FrameLog log, FrameLog::Map(UniqueFd(kSharedFd)));
  SetThreadName(workload.stages.empty() ? workload.name : workload.stages.front().name);
  SetTimerSlackNs(1);
  std::unique_ptr<FrameChain> chain;
  if (!workload.stages.empty()) {
    ASSIGN_OR_RETURN(chain, FrameChain::Start(workload, spec.load.loops_per_ms, log));
  }
  absl::Status locked = log.Lock();
  if (chain != nullptr) locked.Update(chain->Lock());
  if (!locked.ok()) {
    RETURN_IF_ERROR(channel.Send(absl::StrCat("note the frame log may page: ", locked.message(),
                                              "; raise RLIMIT_MEMLOCK or run as root")));
  }
  RETURN_IF_ERROR(channel.Send("ready"));
  RETURN_IF_ERROR(channel.Receive().status());
  if (chain != nullptr) {
    chain->Run(spec.duration_ns);
  } else {
    RunFrames(workload, spec.duration_ns, spec.load.loops_per_ms, log);
  }
  RETURN_IF_ERROR(channel.Send("done"));
  // Stays until it is ended, so that the supervisor can still look at it.
  return channel.Receive().status();
}

absl::Status RunLoad(const ChildSpec& spec, Channel channel) {
  ASSIGN_OR_RETURN(const std::vector<const LoadRow*> rows, ParseLoad(spec.load.name));
  ASSIGN_OR_RETURN(ProgressCounters progress, ProgressCounters::Map(UniqueFd(kSharedFd)));
  const LoadRow& row = *rows.front();
  UniqueFd file;
  if (row.file != LoadFile::kNone) file = UniqueFd(kExtraFd);
  SetThreadName(row.name);
  const LoadContext context(spec.load, std::move(channel), std::move(progress), std::move(file));
  const absl::Status status = row.run(context);
  (void)context.channel().Send(absl::StrCat("error ", status.message()));
  return status;
}

absl::Status Serve() {
  // Ours alone: a command that kept the channel open would hide our death from the supervisor.
  for (int fd : {kChannelFd, kSharedFd, kExtraFd}) fcntl(fd, F_SETFD, FD_CLOEXEC);
  Channel channel{UniqueFd(kChannelFd)};
  ASSIGN_OR_RETURN(const std::string message, channel.Receive());
  ASSIGN_OR_RETURN(const ChildSpec spec, ChildSpecFromMessage(message));
  if (spec.kind == ChildKind::kJanitor) return RunJanitor(channel);
  if (absl::Status status = SettleIn(spec); !status.ok()) {
    (void)channel.Send(absl::StrCat("error ", status.message()));
    return status;
  }
  if (spec.kind == ChildKind::kLoad) return RunLoad(spec, std::move(channel));
  absl::Status status = RunWorkload(spec, channel);
  if (!status.ok()) (void)channel.Send(absl::StrCat("error ", status.message()));
  return status;
}

}  // namespace

int ChildMain() { return Serve().ok() ? EXIT_SUCCESS : EXIT_FAILURE; }

}  // namespace whylate
