// A private ftrace instance that records some events, read raw, CPU by CPU.
//
//   ASSIGN_OR_RETURN(auto buffer, TracefsBuffer::Create({.events = FtraceSchedEvents()}));
//   RETURN_IF_ERROR(buffer->SetRecording(true));
//   buffer->Drain([](CpuId cpu, absl::Span<const uint8_t> page) { ... });
//
// Times are CLOCK_MONOTONIC (trace clock `mono`). What is not read in time is overwritten, and the
// kernel counts it. One thread at a time.
#ifndef WHYLATE_USERSPACE_TRACE_TRACEFS_BUFFER_H_
#define WHYLATE_USERSPACE_TRACE_TRACEFS_BUFFER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "analysis/model/ids.h"
#include "userspace/platform/unique_fd.h"
#include "userspace/trace/ftrace_formats.h"
#include "userspace/trace/ftrace_page.h"
#include "userspace/trace/tracefs_instance.h"

namespace whylate {

struct TracefsBufferOptions {
  absl::Span<const FtraceEventRow> events;  // those that this kernel has are recorded
  int64_t bytes = int64_t{8} << 20;         // of all CPUs together
  // By kind: which records of it, in the kernel's language ("id == 203"). An empty text: none.
  std::map<FtraceKind, std::string> filters;
};

class TracefsBuffer {
 public:
  using PageVisitor = std::function<void(CpuId cpu, absl::Span<const uint8_t> page)>;

  // Nothing is recorded yet. FailedPrecondition where the kernel lacks an event that is required.
  static absl::StatusOr<std::unique_ptr<TracefsBuffer>> Create(const TracefsBufferOptions& options);

  absl::Status SetRecording(bool on);
  // Visits all pages that are there, those that are not full yet too.
  absl::Status Drain(const PageVisitor& visit);
  // By CPU: records that were overwritten or dropped since the buffer was made.
  absl::StatusOr<std::map<CpuId, uint64_t>> ReadLost() const;

  // Whether an event of this kind is recorded.
  bool Records(FtraceKind kind) const;
  const FtraceFormats& formats() const { return formats_; }
  const FtracePageLayout& layout() const { return layout_; }
  int32_t cpu_count() const { return static_cast<int32_t>(pipes_.size()); }
  int64_t buffer_bytes() const { return buffer_bytes_; }

 private:
  struct Pipe {
    CpuId cpu;
    UniqueFd fd;
  };
  TracefsBuffer(std::unique_ptr<TracefsInstance> instance, FtraceFormats formats)
      : instance_(std::move(instance)), formats_(std::move(formats)) {}
  absl::Status Configure(const TracefsBufferOptions& options);
  absl::Status OpenPipes();

  std::unique_ptr<TracefsInstance> instance_;
  FtraceFormats formats_;
  FtracePageLayout layout_;
  std::vector<FtraceKind> kinds_;
  int64_t buffer_bytes_ = 0;
  std::vector<uint8_t> page_;
  std::vector<Pipe> pipes_;  // after the instance, which is busy while they are open
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_TRACEFS_BUFFER_H_
