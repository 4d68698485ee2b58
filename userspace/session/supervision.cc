#include "userspace/session/supervision.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/process.h"
#include "userspace/session/child_spec.h"
#include "userspace/session/stop_signal.h"
#include "userspace/session/sweep.h"

namespace whylate {
namespace {

absl::StatusOr<std::string> OwnRunId() {
  const std::optional<ProcessFacts> self = ReadProcess(Tgid{getpid()});
  if (!self) return absl::InternalError("/proc is not readable; mount it");
  return MakeRunId(self->identity);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Supervision>> Supervision::Begin() {
  ASSIGN_OR_RETURN(std::string run_id, OwnRunId());
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return ErrnoStatus(errno, "become a subreaper");
  ASSIGN_OR_RETURN(CleanupRegistry registry, CleanupRegistry::Create());
  std::unique_ptr<Supervision> supervision(new Supervision(std::move(registry), std::move(run_id)));
  RETURN_IF_ERROR(supervision->StartJanitor());
  return supervision;
}

absl::Status Supervision::StartJanitor() {
  ASSIGN_OR_RETURN(own_pidfd_, OpenPidfd(Tgid{getpid()}));
  ChildProcess::Request request;
  request.label = "janitor";
  request.spec.kind = ChildKind::kJanitor;
  request.shared_fd = registry_.fd();
  request.extra_fd = own_pidfd_.get();
  ASSIGN_OR_RETURN(janitor_, ChildProcess::Start(request, nullptr));
  absl::Status status = janitor_->Begin();
  if (status.ok()) status = janitor_->channel().Receive().status();
  if (status.ok()) return status;
  // Ctrl-C reaches the whole process group, and so a janitor that has not left it yet.
  if (StopRequested()) return absl::CancelledError("stopped");
  return absl::Status(status.code(), absl::StrCat("start the janitor: ", status.message()));
}

std::vector<Tgid> Supervision::Processes() const { return {Tgid{getpid()}, janitor_->tgid()}; }

void Supervision::End() {
  if (janitor_ == nullptr) return;
  janitor_->channel().Close();
  janitor_->End(true);
  janitor_.reset();
}

}  // namespace whylate
