// Bounded memory for trace pages as they come from the kernel, undecoded, of all CPUs.
//
//   FtracePageStore store(layout, 512 << 20);
//   store.Add(CpuId{0}, page);
//   store.ForEach([](const StoredPage& page) { ... });
//   store.dropped_at_end();
//
// A page that does not fit is dropped, its records are counted, and the next page of its CPU says so.
// Not thread-safe.
#ifndef WHYLATE_USERSPACE_TRACE_FTRACE_PAGE_STORE_H_
#define WHYLATE_USERSPACE_TRACE_FTRACE_PAGE_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "absl/types/span.h"
#include "analysis/model/ids.h"
#include "userspace/trace/ftrace_page.h"
#include "userspace/trace/record_store.h"

namespace whylate {

struct StoredPage {
  CpuId cpu;
  uint64_t dropped_before = 0;  // records that this store could not hold, since the page before
  absl::Span<const uint8_t> bytes;
};

class FtracePageStore {
 public:
  FtracePageStore(const FtracePageLayout& layout, int64_t limit_bytes)
      : layout_(layout), records_(limit_bytes) {}

  void Add(CpuId cpu, absl::Span<const uint8_t> page);

  // In the order of Add; the spans stay valid as long as the store.
  void ForEach(const std::function<void(const StoredPage&)>& visit) const;
  // By CPU: records dropped after its last page.
  const std::map<CpuId, uint64_t>& dropped_at_end() const { return dropped_; }

  const FtracePageLayout& layout() const { return layout_; }
  int64_t size_bytes() const { return records_.size_bytes(); }

 private:
  FtracePageLayout layout_;
  RecordStore records_;
  std::map<CpuId, uint64_t> dropped_;
  std::vector<uint8_t> scratch_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_FTRACE_PAGE_STORE_H_
