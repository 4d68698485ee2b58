// What a child process is told to be, and the number of each file descriptor that it inherits.
//
// Children are this same program, executed again: a fresh address space, nothing inherited but the
// descriptors below. The spec is the first message on the channel.
#ifndef WHYLATE_USERSPACE_SESSION_CHILD_SPEC_H_
#define WHYLATE_USERSPACE_SESSION_CHILD_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "userspace/load/load.h"
#include "userspace/workload/workload.h"

namespace whylate {

inline constexpr int kChannelFd = 3;
inline constexpr int kSharedFd = 4;  // frame log, progress counters or clean-up registry
inline constexpr int kExtraFd = 5;   // load file, or the supervisor's pidfd

// The hidden subcommand of the program: `whylate child NAME`; NAME is for ps(1) alone.
inline constexpr char kChildCommand[] = "child";

// In the environment of every child but the janitor: tells a later run whose leftover a process is.
inline constexpr char kRunIdVariable[] = "WHYLATE_RUN_ID";

enum class ChildKind { kWorkload, kLoad, kJanitor };

struct ChildSpec {
  ChildKind kind = ChildKind::kLoad;
  int32_t parent = 0;  // pid of the supervisor, so that its death before we begin is seen
  std::optional<int32_t> nice;
  std::string cpus;         // list notation; "" leaves the affinity alone
  std::string workload;     // kWorkload
  int64_t duration_ns = 0;  // kWorkload
  LoadSettings load;        // kLoad; kWorkload takes loops_per_ms and values from it
};

std::string ToMessage(const ChildSpec& spec);
absl::StatusOr<ChildSpec> ChildSpecFromMessage(absl::string_view message);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SESSION_CHILD_SPEC_H_
