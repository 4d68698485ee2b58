// From the trace pages of all CPUs to the events that are kept: order made, losses found.
//
//   ASSIGN_OR_RETURN(BuiltCapture built, BuildFtraceCapture(store, formats, input));
//
// The pages of the CPUs are merged by time as they are decoded, so that what is not kept takes no
// memory. Pure; not thread-safe. A page that cannot be read is a loss, like records that were
// overwritten before they were read, or dropped for lack of memory.
#ifndef WHYLATE_USERSPACE_TRACE_FTRACE_CAPTURE_H_
#define WHYLATE_USERSPACE_TRACE_FTRACE_CAPTURE_H_

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/model/sched_event.h"
#include "userspace/trace/capture_builder.h"
#include "userspace/trace/ftrace_decoder.h"
#include "userspace/trace/ftrace_formats.h"
#include "userspace/trace/ftrace_page_store.h"
#include "userspace/trace/trace_source.h"

namespace whylate {

struct FtraceCaptureInput {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  KeepEvents keep;
  FtraceDecoderOptions decoder;
  bool delays_dequeue = true;  // see SettleFtraceEvents()
  // By CPU: records that its buffer counts as lost, in all.
  std::map<CpuId, uint64_t> lost;
  // Events that do not come through the pages: AffinityEvents. Always kept.
  std::vector<SchedEvent> others;
};

BuiltCapture BuildFtraceCapture(const FtracePageStore& store, const FtraceFormats& formats,
                                const FtraceCaptureInput& input);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_FTRACE_CAPTURE_H_
