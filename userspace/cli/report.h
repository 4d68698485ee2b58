// `whylate report SESSION`: renders a session again.
#ifndef WHYLATE_USERSPACE_CLI_REPORT_H_
#define WHYLATE_USERSPACE_CLI_REPORT_H_

#include <string>

namespace whylate {

struct ReportFlags {
  std::string session;          // its directory, or a cell's recording
  std::string format = "text";  // "text" or "json"
};

int RunReport(const ReportFlags& flags);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_CLI_REPORT_H_
