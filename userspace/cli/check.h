// `whylate check`: can this machine measure? Each ability, yes or no, and what to do about a no.
//
// JSON, schema "whylate.check/1":
//   {"schema": "whylate.check/1",
//    "abilities": [{"name": "btf", "ok": true, "detail": "...", "remedy": null, "required":
//    false}], "host": {"kernel": "6.18.0", "hz": null, ...}}     // text, or null where unknown
#ifndef WHYLATE_USERSPACE_CLI_CHECK_H_
#define WHYLATE_USERSPACE_CLI_CHECK_H_

#include <ostream>
#include <string>
#include <vector>

#include "analysis/model/host.h"
#include "userspace/platform/abilities.h"

namespace whylate {

struct CheckOptions {
  bool json = false;
  std::string workdir = ".";  // where load files would go
};

// Examines this machine and writes the findings to `out`. Returns the exit code: 0 when every
// required ability is there, else 1.
int RunCheck(const CheckOptions& options, std::ostream& out);

// What RunCheck writes. Text is at most 100 columns wide, hostile bytes escaped; its last line is
// the answer, in words. Both end with a newline.
std::string CheckText(const std::vector<Ability>& abilities, const std::vector<HostFact>& host);
std::string CheckJson(const std::vector<Ability>& abilities, const std::vector<HostFact>& host);
// 0 or 1, as RunCheck.
int CheckExitCode(const std::vector<Ability>& abilities);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_CLI_CHECK_H_
