// `whylate run`: workloads x loads -> tables and a session directory.
#ifndef WHYLATE_USERSPACE_CLI_RUN_H_
#define WHYLATE_USERSPACE_CLI_RUN_H_

#include <string>

#include "userspace/session/session.h"

namespace whylate {

struct RunFlags {
  SessionRequest request;
  std::string duration;     // as given: "10s", "500ms", "2m", or a number of seconds
  std::string buffer_size;  // as given: "64K", "8M", or a number of bytes
  std::string resume;       // DIR of --resume
  bool list = false;
  bool dry_run = false;
  bool quiet = false;
  bool json = false;
};

// Returns the exit code. `changed_by_flags`: an option of the session was given, which --resume,
// whose session has its own, does not take.
int RunRun(RunFlags flags, bool changed_by_flags);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_CLI_RUN_H_
