#include "userspace/session/session_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analysis/model/status_macros.h"
#include "analysis/report/perfetto_writer.h"
#include "analysis/report/report_json.h"
#include "analysis/report/report_text.h"
#include "userspace/platform/files.h"

namespace whylate {

absl::StatusOr<SessionDirectory> SessionDirectory::Create(const std::string& path) {
  absl::StatusOr<UniqueFd> fd = CreateDirectory(path);
  if (absl::IsAlreadyExists(fd.status())) {
    return absl::AlreadyExistsError(
        absl::StrCat("the output directory ", path,
                     " exists already; name a new one with --out, or go on with "
                     "an unfinished session with --resume"));
  }
  if (!fd.ok()) {
    return absl::Status(fd.status().code(),
                        absl::StrCat(fd.status().message(), "; name another with --out"));
  }
  return SessionDirectory(path, *std::move(fd));
}

absl::StatusOr<SessionDirectory> SessionDirectory::Open(const std::string& path) {
  ASSIGN_OR_RETURN(UniqueFd fd, OpenDirectory(path));
  return SessionDirectory(path, std::move(fd));
}

absl::StatusOr<Registration> SessionDirectory::Register(const std::string& name) const {
  if (registry_ == nullptr) return Registration();
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path_, error);
  if (error) return absl::InternalError(absl::StrCat("resolve ", path_, ": ", error.message()));
  return registry_->AddFile((absolute / TemporaryName(name)).string());
}

absl::Status SessionDirectory::RegisterTemporaries(CleanupRegistry& registry) {
  registry_ = &registry;
  for (const char* name : {kReportJson, kReportText}) {
    ASSIGN_OR_RETURN(Registration registration, Register(name));
    registrations_.push_back(std::move(registration));
  }
  return absl::OkStatus();
}

void SessionDirectory::Remove() const {
  for (const char* name : {kReportJson, kReportText}) unlinkat(fd_.get(), name, 0);
  rmdir(path_.c_str());
}

absl::Status SessionDirectory::Write(const Report& report) const {
  RETURN_IF_ERROR(WriteFileAtomically(fd_.get(), kReportJson, ReportToJson(report)));
  return WriteFileAtomically(fd_.get(), kReportText, ReportToText(report));
}

absl::StatusOr<std::string> SessionDirectory::WriteRecording(const Recording& recording,
                                                             const Explanation& explanation) const {
  std::string name = absl::StrCat(recording.workload, "-", recording.load, "-", recording.run + 1,
                                  kRecordingSuffix);
  ASSIGN_OR_RETURN(const Registration registration, Register(name));
  RETURN_IF_ERROR(
      WriteFileAtomically(fd_.get(), name, RecordingToPerfetto(recording, &explanation)));
  return name;
}

absl::StatusOr<Report> ReadSessionReport(const std::string& directory) {
  const std::string path = absl::StrCat(directory, "/", kReportJson);
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (absl::IsNotFound(text.status())) {
    return absl::NotFoundError(
        absl::StrCat("'", directory, "' is no session: it has no ", kReportJson));
  }
  RETURN_IF_ERROR(text.status());
  absl::StatusOr<Report> report = ReportFromJson(*text);
  if (report.ok()) return report;
  return absl::FailedPreconditionError(absl::StrCat(path, ": ", report.status().message()));
}

}  // namespace whylate
