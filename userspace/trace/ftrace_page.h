// One sub-buffer of ftrace's ring, as per_cpu/cpuN/trace_pipe_raw gives it: its records, in order.
//
//   ASSIGN_OR_RETURN(const FtracePageLayout layout, FtracePageLayout::Parse(header_page_text));
//   ASSIGN_OR_RETURN(FtracePage page, FtracePage::Open(layout, bytes));
//   while (std::optional<FtraceRecord> record = page.Next()) ...
//
// Where the header's fields are is what the kernel publishes in events/header_page. How records follow
// each other is fixed (events/header_event; include/linux/ring_buffer.h): a word of 5 bits of type or
// length and 27 bits of time since the record before, then 32-bit words. Bytes are not trusted: a
// page that cannot be is an error or is damaged from some record on, never a read outside it.
// Little-endian machines only.
#ifndef WHYLATE_USERSPACE_TRACE_FTRACE_PAGE_H_
#define WHYLATE_USERSPACE_TRACE_FTRACE_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace whylate {

struct FtracePageLayout {
  size_t time_offset = 0;  // 8 bytes
  size_t commit_offset = 8;
  size_t commit_bytes = 8;  // a long of the kernel
  size_t data_offset = 16;

  // InvalidArgument where a field is missing, or of a size that no kernel has.
  static absl::StatusOr<FtracePageLayout> Parse(absl::string_view header_page);
};

// How many of the page's bytes mean something; all of them where it is no page.
size_t FtracePageBytes(const FtracePageLayout& layout, absl::Span<const uint8_t> bytes);

struct FtraceRecord {
  int64_t time_ns = 0;  // of the trace's clock
  absl::Span<const uint8_t> bytes;
};

class FtracePage {
 public:
  // DataLoss for bytes that are no page. They must outlive the object.
  static absl::StatusOr<FtracePage> Open(const FtracePageLayout& layout,
                                         absl::Span<const uint8_t> bytes);

  // Records of this CPU were overwritten before this page; how many, where the kernel says so.
  bool missed() const { return missed_; }
  std::optional<uint64_t> missed_count() const { return missed_count_; }

  // nullopt at the page's end, or where it is damaged.
  std::optional<FtraceRecord> Next();
  // What follows the last record given cannot be read.
  bool damaged() const { return damaged_; }

 private:
  FtracePage() = default;
  std::optional<FtraceRecord> Damaged();

  absl::Span<const uint8_t> rest_;
  uint64_t page_time_ns_ = 0;
  uint64_t time_ns_ = 0;
  bool missed_ = false;
  bool damaged_ = false;
  std::optional<uint64_t> missed_count_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_FTRACE_PAGE_H_
