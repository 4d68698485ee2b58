#include "userspace/cli/report.h"

#include <iostream>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "analysis/report/report_json.h"
#include "analysis/report/report_text.h"
#include "userspace/cli/command.h"
#include "userspace/session/session_directory.h"

namespace whylate {

int RunReport(const ReportFlags& flags) {
  if (flags.format != "text" && flags.format != "json") {
    return ReportError(absl::InvalidArgumentError(
        absl::StrCat("unknown --format '", flags.format, "'; known: text, json")));
  }
  absl::StatusOr<Report> report = ReadSessionReport(flags.directory);
  if (!report.ok()) {
    // A file that is no report is not the user's flag that is wrong.
    return ReportError(
        absl::Status(absl::StatusCode::kFailedPrecondition, report.status().message()));
  }
  std::cout << (flags.format == "json" ? ReportToJson(*report) : ReportToText(*report));
  return FinishOutput(kExitOk);
}

}  // namespace whylate
