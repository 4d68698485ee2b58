// The trace source `tracefs`: every scheduler event of every CPU, from private instances of ftrace.
//
// For kernels without BTF, and beside `bpf` as a witness of it. Linux 4.15 and later with CONFIG_FTRACE;
// root. A thread of its own, named whylate-reader, moves pages from the kernel's buffers into memory
// every 10 ms; they are decoded at Stop(), by the formats that the kernel publishes. Which facts it
// has, and which it cannot have: userspace/trace/README.md.
#ifndef WHYLATE_USERSPACE_TRACE_TRACEFS_SOURCE_H_
#define WHYLATE_USERSPACE_TRACE_TRACEFS_SOURCE_H_

#include <memory>

#include "userspace/trace/trace_source.h"

namespace whylate {

std::unique_ptr<TraceSource> CreateTracefsSource();

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_TRACEFS_SOURCE_H_
