// A session that ran: its directory, or one cell of it, from the cell's recording alone.
//
//   ASSIGN_OR_RETURN(Report report, OpenSession("whylate-mine/video-burn-1.pftrace"));
#ifndef WHYLATE_USERSPACE_CLI_SESSION_FILE_H_
#define WHYLATE_USERSPACE_CLI_SESSION_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "analysis/report/report.h"

namespace whylate {

// A report that was made from a recording has that one cell, explained anew; it knows neither what
// the load did nor the machine, and has no `run_id`. Errors are FailedPrecondition, in one line.
absl::StatusOr<Report> OpenSession(const std::string& path);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_CLI_SESSION_FILE_H_
