// The tasks of this machine, as /proc has them now.
#ifndef WHYLATE_USERSPACE_TRACE_KNOWN_TASKS_H_
#define WHYLATE_USERSPACE_TRACE_KNOWN_TASKS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "analysis/model/ids.h"
#include "userspace/trace/ftrace_tasks.h"

namespace whylate {

// From the text of /proc/PID/task/TID/stat (proc(5)); nullopt where it is none. A kernel worker bears
// its own name there and, behind '-' or '+', what it works for: the name alone is what events show.
std::optional<KnownTask> ParseTaskStat(Tgid tgid, absl::string_view stat);

// All of them, in no order; quotas are not looked for. `proc` is where procfs is mounted.
std::vector<KnownTask> ReadKnownTasks(const std::string& proc);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_KNOWN_TASKS_H_
