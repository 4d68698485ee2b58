// Removes what earlier runs left that were killed together with their janitor.
#ifndef WHYLATE_USERSPACE_SESSION_SWEEP_H_
#define WHYLATE_USERSPACE_SESSION_SWEEP_H_

#include <string>

#include "absl/strings/string_view.h"
#include "userspace/platform/process.h"

namespace whylate {

// Ends processes, cgroups, ftrace instances and load files in `workdir` whose run id is that of a dead process. What
// another living run owns, or we have no right to, stays.
void SweepLeftovers(const std::string& workdir);
// Ends every process that bears this run id, of a run that is dead or done with them: descendants
// that are nobody's any more, because the process that kept them was killed. Gives up after 2 s.
void EndProcessesOfRun(absl::string_view run_id);
// The load files alone.
void SweepLoadFiles(const std::string& workdir);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SESSION_SWEEP_H_
