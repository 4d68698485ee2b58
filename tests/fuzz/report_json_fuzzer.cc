// report.json from anywhere: it is refused with a reason, or it is a report that every writer can
// render and that reads back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/report/explain_text.h"
#include "analysis/report/report_json.h"
#include "analysis/report/report_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace whylate;  // NOLINT(google-build-using-namespace): an entry point, no header
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<Report> report = ReportFromJson(text);
  if (!report.ok()) {
    if (report.status().message().empty()) abort();
    return 0;
  }
  const std::string json = ReportToJson(*report);
  const absl::StatusOr<Report> again = ReportFromJson(json);
  if (!again.ok() || ReportToJson(*again) != json) abort();
  if (ReportToText(*report).find('\x1b') != std::string::npos) abort();
  for (const Cell& cell : report->cells) {
    for (const Miss& miss : cell.explanation.misses) ExplainMiss(cell, miss);
  }
  return 0;
}
