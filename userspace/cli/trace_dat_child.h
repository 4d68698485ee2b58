// Reads a trace.dat in a child process with limits, because the library that decodes it was not made
// for hostile files (see analysis/import/trace_dat.h).
//
//   ASSIGN_OR_RETURN(ImportedTrace trace, ReadTraceDatInChild("trace.dat", TraceDatLimits()));
//
// The caller has one thread. Blocks until the child is gone, which takes no longer than
// `wall_seconds`; the child does not outlive the caller.
#ifndef WHYLATE_USERSPACE_CLI_TRACE_DAT_CHILD_H_
#define WHYLATE_USERSPACE_CLI_TRACE_DAT_CHILD_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "analysis/import/imported_trace.h"

namespace whylate {

struct TraceDatLimits {
  ImportLimits import;
  uint64_t memory_bytes = uint64_t{4} << 30;  // address space
  // Of what a compressed trace is unpacked to, in memory where the child may mount it.
  uint64_t file_bytes = uint64_t{4} << 30;
  uint32_t cpu_seconds = 120;
  uint32_t wall_seconds = 600;
};

// False in a build with sanitizers, whose memory no limit can hold.
bool LimitsMemory();

// The errors of ImportTraceDat(), and InvalidArgument, in one line, where the child crashed or came
// to a limit.
absl::StatusOr<ImportedTrace> ReadTraceDatInChild(const std::string& path,
                                                  const TraceDatLimits& limits);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_CLI_TRACE_DAT_CHILD_H_
