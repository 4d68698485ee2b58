// The directory that a session leaves: report.json and report.txt, whole at any moment, and each
// cell's recording.
#ifndef WHYLATE_USERSPACE_SESSION_SESSION_DIRECTORY_H_
#define WHYLATE_USERSPACE_SESSION_SESSION_DIRECTORY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analysis/attribution/explanation.h"
#include "analysis/model/recording.h"
#include "analysis/report/report.h"
#include "userspace/platform/unique_fd.h"
#include "userspace/session/cleanup_registry.h"

namespace whylate {

inline constexpr char kReportJson[] = "report.json";
inline constexpr char kReportText[] = "report.txt";
inline constexpr char kRecordingSuffix[] = ".pftrace";

class SessionDirectory {
 public:
  // A new one; AlreadyExists where `path` is anything already.
  static absl::StatusOr<SessionDirectory> Create(const std::string& path);
  static absl::StatusOr<SessionDirectory> Open(const std::string& path);

  // Lets the janitor remove a half-written file, should we be killed while writing. `registry`
  // outlives the directory.
  absl::Status RegisterTemporaries(CleanupRegistry& registry);
  // Takes away the directory and what Write() made in it.
  void Remove() const;
  // Replaces both files.
  absl::Status Write(const Report& report) const;
  // Writes WORKLOAD-LOAD-RUN.pftrace, or replaces it, and returns its name.
  absl::StatusOr<std::string> WriteRecording(const Recording& recording,
                                             const Explanation& explanation) const;
  const std::string& path() const { return path_; }

 private:
  SessionDirectory(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  // Of a file's temporary; empty without a registry.
  absl::StatusOr<Registration> Register(const std::string& name) const;

  std::string path_;
  UniqueFd fd_;
  CleanupRegistry* registry_ = nullptr;
  std::vector<Registration> registrations_;
};

// Reads DIR/report.json; FailedPrecondition where it is no whole report.
absl::StatusOr<Report> ReadSessionReport(const std::string& directory);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SESSION_SESSION_DIRECTORY_H_
