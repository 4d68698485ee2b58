// The trace source `bpf`: every scheduler event of every CPU, by eBPF programs on BTF tracepoints.
//
// Linux 6.1 and later with BTF; root, or CAP_BPF and CAP_PERFMON. A thread of its own, named
// whylate-reader, moves records from the kernel's ring into memory every 10 ms.
#ifndef WHYLATE_USERSPACE_TRACE_BPF_SOURCE_H_
#define WHYLATE_USERSPACE_TRACE_BPF_SOURCE_H_

#include <memory>

#include "absl/status/status.h"
#include "userspace/trace/trace_source.h"

namespace whylate {

std::unique_ptr<TraceSource> CreateBpfSource();

// Ok when this process can load the programs, here and now: it tries. Else what is missing, and how
// to get it. Takes a few hundred milliseconds; changes nothing.
absl::Status BpfUsable();

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_BPF_SOURCE_H_
