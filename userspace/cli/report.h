// `whylate report DIR`: renders a session again.
#ifndef WHYLATE_USERSPACE_CLI_REPORT_H_
#define WHYLATE_USERSPACE_CLI_REPORT_H_

#include <string>

namespace whylate {

struct ReportFlags {
  std::string directory;
  std::string format = "text";  // "text" or "json"
};

int RunReport(const ReportFlags& flags);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_CLI_REPORT_H_
