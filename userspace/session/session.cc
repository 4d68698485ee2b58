#include "userspace/session/session.h"

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
#include "analysis/report/escape.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/files.h"
#include "userspace/platform/host.h"
#include "userspace/platform/process.h"
#include "userspace/session/session_directory.h"
#include "userspace/session/session_plan.h"
#include "userspace/session/stop_signal.h"
#include "userspace/session/supervision.h"
#include "userspace/session/sweep.h"
#include "userspace/workload/calibration.h"

namespace whylate {
namespace {

constexpr char kTimeFormat[] = "%Y-%m-%dT%H:%M:%SZ";

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

absl::Status CheckWorkdir(const std::string& workdir) {
  const absl::Status status = OpenDirectory(workdir).status();
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "; name another with --workdir"));
}

absl::Status CheckIsNobodys(const Report& report) {
  const std::optional<ProcessIdentity> owner = ParseRunId(report.run_id);
  if (!owner || !IsAlive(*owner)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the session still runs, as process ", owner->tgid.value));
}

class Supervisor {
 public:
  Supervisor(const SessionRequest& request, SessionObserver& observer)
      : request_(request), observer_(observer) {}

  absl::StatusOr<SessionResult> Run();

 private:
  absl::Status OpenDirectory();
  absl::Status Prepare();
  absl::Status RunCells(const std::vector<CellPlan>& plans);

  const SessionRequest& request_;
  SessionObserver& observer_;
  Report report_;
  std::unique_ptr<Supervision> supervision_;  // outlives what is registered with it
  std::optional<SessionDirectory> directory_;
  std::optional<LoadFiles> files_;
  CellEnvironment environment_;
};

absl::Status Supervisor::OpenDirectory() {
  if (request_.resume) {
    RETURN_IF_ERROR(CheckWorkdir(report_.options.workdir));
    ASSIGN_OR_RETURN(SessionDirectory directory, SessionDirectory::Open(request_.out));
    directory_.emplace(std::move(directory));
    report_.run_id = environment_.run_id;
    return directory_->RegisterTemporaries(supervision_->registry());
  }
  // Any bytes may come in; what the files and the terminal show shall be the same.
  report_.label = request_.label.empty() ? KernelRelease() : ValidUtf8(request_.label);
  report_.options = request_.options;
  report_.options.comment = ValidUtf8(request_.options.comment);
  report_.started = UtcNow(kTimeFormat);
  report_.run_id = environment_.run_id;
  RETURN_IF_ERROR(CheckWorkdir(report_.options.workdir));
  const std::string path = request_.out.empty() ? DefaultDirectory(report_.label) : request_.out;
  ASSIGN_OR_RETURN(SessionDirectory directory, SessionDirectory::Create(path));
  directory_.emplace(std::move(directory));
  absl::Status status = directory_->RegisterTemporaries(supervision_->registry());
  // From here on a killed run leaves a session that can be resumed.
  if (status.ok()) status = directory_->Write(report_);
  if (!status.ok()) directory_->Remove();
  return status;
}

absl::Status Supervisor::Prepare() {
  const std::string& workdir = report_.options.workdir;
  report_.version = request_.version;
  report_.finished.clear();
  SweepLeftovers(workdir);
  report_.host = ReadHostFacts(HostPaths{}, workdir);
  report_.warnings.clear();
  if (report_.options.source.empty()) {
    std::string why_not;
    report_.options.source = DefaultTraceSource(why_not);
    if (!why_not.empty()) report_.warnings.push_back(why_not);
  }
  const auto model = std::find_if(report_.host.begin(), report_.host.end(),
                                  [](const HostFact& fact) { return fact.key == "cpu_model"; });
  // A session that goes on keeps its own: the finished cells are of it.
  if (report_.loops_per_ms <= 0) {
    report_.loops_per_ms =
        CalibrateCached(DefaultCacheDirectory(),
                        model == report_.host.end() ? "" : model->value.value_or(""))
            .loops_per_ms;
  }
  environment_.options = report_.options;
  environment_.kernel = KernelRelease();
  environment_.observers = supervision_->Processes();
  environment_.loops_per_ms = report_.loops_per_ms;
  ASSIGN_OR_RETURN(environment_.load_threads, ResolveLoadThreads(report_.options));
  environment_.registry = &supervision_->registry();
  files_.emplace(workdir, environment_.run_id);
  environment_.files = &*files_;
  environment_.directory = &*directory_;
  return directory_->Write(report_);
}

absl::Status Supervisor::RunCells(const std::vector<CellPlan>& plans) {
  for (size_t i = 0; i < plans.size(); ++i) {
    if (StopRequested()) return absl::CancelledError("stopped");
    if (IsFinished(report_, plans[i])) continue;
    observer_.OnCell(plans[i], i, plans.size(), EstimateNs(report_.options, plans.size() - i));
    CellRunner runner(environment_, plans[i]);
    ASSIGN_OR_RETURN(Cell cell, runner.Run());
    for (std::string& reason : cell.invalid) reason = ValidUtf8(reason);
    for (std::string& note : cell.notes) note = ValidUtf8(note);
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
  if (request_.resume) {
    ASSIGN_OR_RETURN(report_, ReadSessionReport(request_.out));
    if (!report_.finished.empty()) {
      return SessionResult{
          .report = std::move(report_), .directory = request_.out, .was_finished = true};
    }
    RETURN_IF_ERROR(CheckIsNobodys(report_));
  }
  // Before the first file: what is half written when we are killed is the janitor's to remove.
  ASSIGN_OR_RETURN(supervision_, Supervision::Begin());
  environment_.run_id = supervision_->run_id();
  RETURN_IF_ERROR(OpenDirectory());
  ASSIGN_OR_RETURN(const std::vector<CellPlan> plans, PlanCells(report_.options));
  observer_.OnStart(directory_->path());
  absl::Status status = Prepare();
  if (status.ok()) status = RunCells(plans);
  supervision_->End();
  if (!status.ok() && !absl::IsCancelled(status)) return status;
  return SessionResult{.report = std::move(report_),
                       .directory = directory_->path(),
                       .interrupted = absl::IsCancelled(status)};
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
