#include "userspace/session/session.h"

#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/host.h"
#include "userspace/platform/process.h"
#include "userspace/session/session_directory.h"
#include "userspace/session/session_plan.h"
#include "userspace/session/stop_signal.h"
#include "userspace/session/sweep.h"
#include "userspace/workload/calibration.h"

namespace whylate {
namespace {

constexpr char kTimeFormat[] = "%Y-%m-%dT%H:%M:%SZ";
constexpr char kNoRootWarning[] =
    "not root: no scheduler trace, so misses are counted and not explained; run as root (sudo), or "
    "give the program CAP_BPF and CAP_PERFMON (setcap cap_bpf,cap_perfmon+ep)";

std::string KernelRelease() {
  utsname names;
  return uname(&names) == 0 ? names.release : "unknown-kernel";
}

std::string UtcNow(const char* format) {
  return absl::FormatTime(format, absl::Now(), absl::UTCTimeZone());
}

std::string DefaultDirectory(const std::string& label) {
  std::string name = label;
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_') c = '-';
  }
  return absl::StrCat("whylate-", name, "-", UtcNow("%Y%m%dT%H%M%SZ"));
}

bool IsFinished(const Report& report, const CellPlan& plan) {
  return std::any_of(report.cells.begin(), report.cells.end(), [&](const Cell& cell) {
    return cell.workload == plan.workload.name && cell.load == plan.load && cell.run == plan.run;
  });
}

class Supervisor {
 public:
  Supervisor(const SessionRequest& request, SessionObserver& observer)
      : request_(request), observer_(observer) {}

  absl::StatusOr<SessionResult> Run();

 private:
  absl::Status OpenDirectory();
  absl::Status StartJanitor();
  absl::Status Prepare();
  absl::Status RunCells(const std::vector<CellPlan>& plans);

  const SessionRequest& request_;
  SessionObserver& observer_;
  Report report_;
  // In the order of their lives: the janitor looks at the registry until it has gone.
  std::optional<CleanupRegistry> registry_;
  std::unique_ptr<ChildProcess> janitor_;
  UniqueFd own_pidfd_;
  std::optional<SessionDirectory> directory_;
  std::optional<LoadFiles> files_;
  CellEnvironment environment_;
};

absl::Status Supervisor::OpenDirectory() {
  if (request_.resume) {
    ASSIGN_OR_RETURN(report_, ReadSessionReport(request_.out));
    ASSIGN_OR_RETURN(SessionDirectory directory, SessionDirectory::Open(request_.out));
    directory_.emplace(std::move(directory));
    report_.finished.clear();
    return absl::OkStatus();
  }
  report_.label = request_.label.empty() ? KernelRelease() : request_.label;
  report_.options = request_.options;
  report_.started = UtcNow(kTimeFormat);
  const std::string path = request_.out.empty() ? DefaultDirectory(report_.label) : request_.out;
  ASSIGN_OR_RETURN(SessionDirectory directory, SessionDirectory::Create(path));
  directory_.emplace(std::move(directory));
  // From here on a killed run leaves a session that can be resumed.
  const absl::Status written = directory_->Write(report_);
  if (!written.ok()) rmdir(path.c_str());
  return written;
}

absl::Status Supervisor::StartJanitor() {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return ErrnoStatus(errno, "become a subreaper");
  ASSIGN_OR_RETURN(CleanupRegistry registry, CleanupRegistry::Create());
  registry_.emplace(std::move(registry));
  ASSIGN_OR_RETURN(own_pidfd_, OpenPidfd(Tgid{getpid()}));
  ChildProcess::Request request;
  request.label = "janitor";
  request.spec.kind = ChildKind::kJanitor;
  request.shared_fd = registry_->fd();
  request.extra_fd = own_pidfd_.get();
  ASSIGN_OR_RETURN(janitor_, ChildProcess::Start(request, nullptr));
  RETURN_IF_ERROR(janitor_->Begin());
  return janitor_->channel().Receive().status();
}

absl::Status Supervisor::Prepare() {
  const std::string& workdir = report_.options.workdir;
  environment_.options = report_.options;
  const std::optional<ProcessFacts> self = ReadProcess(Tgid{getpid()});
  if (!self) return absl::InternalError("/proc is not readable; mount it");
  report_.run_id = environment_.run_id = MakeRunId(self->identity);
  report_.version = request_.version;
  SweepLeftovers(workdir);
  RETURN_IF_ERROR(StartJanitor());
  RETURN_IF_ERROR(directory_->RegisterTemporaries(*registry_));
  report_.host = ReadHostFacts(HostPaths{}, workdir);
  report_.warnings.clear();
  if (geteuid() != 0) report_.warnings.emplace_back(kNoRootWarning);
  const auto model = std::find_if(report_.host.begin(), report_.host.end(),
                                  [](const HostFact& fact) { return fact.key == "cpu_model"; });
  report_.loops_per_ms =
      CalibrateCached(DefaultCacheDirectory(),
                      model == report_.host.end() ? "" : model->value.value_or(""))
          .loops_per_ms;
  environment_.loops_per_ms = report_.loops_per_ms;
  ASSIGN_OR_RETURN(environment_.load_threads, ResolveLoadThreads(report_.options));
  environment_.registry = &*registry_;
  files_.emplace(workdir, environment_.run_id);
  environment_.files = &*files_;
  return directory_->Write(report_);
}

absl::Status Supervisor::RunCells(const std::vector<CellPlan>& plans) {
  for (size_t i = 0; i < plans.size(); ++i) {
    if (StopRequested()) return absl::CancelledError("stopped");
    if (IsFinished(report_, plans[i])) continue;
    observer_.OnCell(plans[i], i, plans.size(), EstimateNs(report_.options, plans.size() - i));
    CellRunner runner(environment_, plans[i]);
    ASSIGN_OR_RETURN(Cell cell, runner.Run());
    report_.cells.push_back(std::move(cell));
    absl::Status written = directory_->Write(report_);
    if (!written.ok()) {
      return absl::Status(written.code(),
                          absl::StrCat(written.message(), "; the cells before ", plans[i].title(),
                                       " are safe in ", directory_->path()));
    }
    // As a subreaper we inherit whatever a child left behind.
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }
  report_.finished = UtcNow(kTimeFormat);
  return directory_->Write(report_);
}

absl::StatusOr<SessionResult> Supervisor::Run() {
  RETURN_IF_ERROR(OpenDirectory());
  ASSIGN_OR_RETURN(const std::vector<CellPlan> plans, PlanCells(report_.options));
  observer_.OnStart(directory_->path());
  absl::Status status = Prepare();
  if (status.ok()) status = RunCells(plans);
  if (janitor_ != nullptr) {
    janitor_->channel().Close();
    janitor_->End(true);
  }
  if (!status.ok() && !absl::IsCancelled(status)) return status;
  return SessionResult{std::move(report_), directory_->path(), absl::IsCancelled(status)};
}

}  // namespace

absl::StatusOr<SessionResult> RunSession(const SessionRequest& request, SessionObserver& observer) {
  // Before anything is touched: a mistake in the options shall leave no directory.
  if (!request.resume) RETURN_IF_ERROR(PlanCells(request.options).status());
  InstallStopSignal();
  Supervisor supervisor(request, observer);
  return supervisor.Run();
}

}  // namespace whylate
