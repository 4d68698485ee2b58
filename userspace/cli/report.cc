#include "userspace/cli/report.h"

#include <iostream>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "analysis/report/report_json.h"
#include "analysis/report/report_text.h"
#include "userspace/cli/command.h"
#include "userspace/cli/session_file.h"

namespace whylate {

int RunReport(const ReportFlags& flags) {
  if (flags.format != "text" && flags.format != "json") {
    return ReportError(absl::InvalidArgumentError(
        absl::StrCat("unknown --format '", flags.format, "'; known: text, json")));
  }
  const absl::StatusOr<Report> report = OpenSession(flags.session);
  if (!report.ok()) return ReportError(report.status());
  std::cout << (flags.format == "json" ? ReportToJson(*report) : ReportToText(*report));
  return FinishOutput(kExitOk);
}

}  // namespace whylate
