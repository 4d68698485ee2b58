#include "analysis/model/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace whylate {

void PreferHugePages(void* data, size_t size_bytes) {
  // madvise(2) wants the begin of a page; 2 MiB are a huge page of x86 and of arm64 with small ones.
  constexpr uintptr_t kHugePageBytes = uintptr_t{2} << 20;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(data);
  const uintptr_t first = (begin + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  const uintptr_t end = (begin + size_bytes) / kHugePageBytes * kHugePageBytes;
  if (first >= end) return;
  // A hint: that it is not taken is no failure.
  static_cast<void>(madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE));
}

}  // namespace whylate
