#include "userspace/trace/ftrace_page_store.h"

#include <algorithm>
#include <cstring>

namespace whylate {
namespace {

// Before the page's bytes in each record.
struct Head {
  int32_t cpu = 0;
  uint64_t dropped_before = 0;
};

// At least one, so that a page that cannot be read is not nothing.
uint64_t CountRecords(const FtracePageLayout& layout, absl::Span<const uint8_t> bytes) {
  uint64_t count = 0;
  absl::StatusOr<FtracePage> page = FtracePage::Open(layout, bytes);
  while (page.ok() && page->Next().has_value()) ++count;
  return std::max<uint64_t>(count, 1);
}

}  // namespace

void FtracePageStore::Add(CpuId cpu, absl::Span<const uint8_t> page) {
  page = page.first(FtracePageBytes(layout_, page));
  const auto dropped = dropped_.find(cpu);
  const Head head{cpu.value, dropped == dropped_.end() ? 0 : dropped->second};
  scratch_.resize(sizeof(head) + page.size());
  std::memcpy(scratch_.data(), &head, sizeof(head));
  std::copy(page.begin(), page.end(), scratch_.begin() + sizeof(head));
  if (!records_.Append(scratch_.data(), scratch_.size())) {
    dropped_[cpu] += CountRecords(layout_, page);
  } else if (dropped != dropped_.end()) {
    dropped_.erase(dropped);
  }
}

void FtracePageStore::ForEach(const std::function<void(const StoredPage&)>& visit) const {
  records_.ForEach([&](absl::Span<const uint8_t> record) {
    Head head;
    std::memcpy(&head, record.data(), sizeof(head));
    visit({CpuId{head.cpu}, head.dropped_before, record.subspan(sizeof(head))});
  });
}

}  // namespace whylate
