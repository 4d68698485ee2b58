// The directory that a session leaves: report.json and report.txt, whole at any moment.
#ifndef WHYLATE_USERSPACE_SESSION_SESSION_DIRECTORY_H_
#define WHYLATE_USERSPACE_SESSION_SESSION_DIRECTORY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analysis/report/report.h"
#include "userspace/platform/unique_fd.h"
#include "userspace/session/cleanup_registry.h"

namespace whylate {

inline constexpr char kReportJson[] = "report.json";
inline constexpr char kReportText[] = "report.txt";

class SessionDirectory {
 public:
  // A new one; AlreadyExists where `path` is anything already.
  static absl::StatusOr<SessionDirectory> Create(const std::string& path);
  static absl::StatusOr<SessionDirectory> Open(const std::string& path);

  // Lets the janitor remove a half-written file, should we be killed while writing.
  absl::Status RegisterTemporaries(CleanupRegistry& registry);
  // Takes away the directory and what Write() made in it.
  void Remove() const;
  // Replaces both files.
  absl::Status Write(const Report& report) const;
  const std::string& path() const { return path_; }

 private:
  SessionDirectory(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  UniqueFd fd_;
  std::vector<Registration> registrations_;
};

// Reads DIR/report.json; FailedPrecondition where it is no whole report.
absl::StatusOr<Report> ReadSessionReport(const std::string& directory);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SESSION_SESSION_DIRECTORY_H_
