// Other processes: who they are, who descends from whom, what CPU time they used, and ending them.
//
// A process is identified by (pid, start time), because pids are reused.
#ifndef WHYLATE_USERSPACE_PLATFORM_PROCESS_H_
#define WHYLATE_USERSPACE_PLATFORM_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/model/ids.h"
#include "userspace/platform/unique_fd.h"

namespace whylate {

struct ProcessIdentity {
  Tgid tgid;
  uint64_t start_ticks = 0;  // since boot, /proc/PID/stat field 22
  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

// "<pid>-<start time in ticks>": tells forever which process it was, and whether it still runs. What a
// run makes outside its processes bears that of its supervisor.
std::string MakeRunId(const ProcessIdentity& process);
std::optional<ProcessIdentity> ParseRunId(absl::string_view run_id);

struct ProcessFacts {
  ProcessIdentity identity;
  Tgid parent;
  char state = '?';           // as in /proc/PID/stat: 'Z' is a zombie
  uint64_t cpu_ticks = 0;     // user + system, its own
  uint64_t reaped_ticks = 0;  // of the children it has waited for
};

// nullopt when there is no such process (any more).
std::optional<ProcessFacts> ReadProcess(Tgid tgid);
// Every process of this PID namespace, in one pass over /proc.
std::vector<ProcessFacts> ReadAllProcesses();
// Of `all`, those that descend from `root`, itself not among them.
std::vector<ProcessFacts> DescendantsOf(Tgid root, const std::vector<ProcessFacts>& all);

// Alive, not a zombie, and the same process.
bool IsAlive(const ProcessIdentity& identity);
// Sends SIGKILL unless the pid has become another process.
void KillProcess(const ProcessIdentity& identity);

// Kills all descendants of `root`, also those forked meanwhile, until none is alive (zombies aside)
// or `timeout_ns` has passed. Complete only while `root` lives and is a subreaper, so that orphans
// stay its descendants. Returns how many were left.
size_t KillDescendants(Tgid root, int64_t timeout_ns);

// CPU time in ms of all descendants of `root`, living and reaped. Resolution: one clock tick.
uint64_t DescendantsCpuMs(Tgid root);

// FailedPrecondition, with the remedy, where this process is in a PID namespace of its own, in which
// its tids are not those of the kernel's records. `proc` is where procfs is mounted.
absl::Status InInitialPidNamespace(const std::string& proc);

absl::StatusOr<UniqueFd> OpenPidfd(Tgid tgid);

// "exited with status 2", "was killed by signal 9 (Killed)".
std::string DescribeWaitStatus(int wait_status);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_PROCESS_H_
