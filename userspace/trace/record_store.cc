#include "userspace/trace/record_store.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace whylate {

bool RecordStore::Append(const void* data, size_t size_bytes) {
  const size_t needed = sizeof(Size) + size_bytes;
  const bool fits_block = !blocks_.empty() && blocks_.back().used + needed <= kBlockBytes;
  const auto blocks = static_cast<int64_t>(blocks_.size() + (fits_block ? 0 : 1));
  if (needed > kBlockBytes || blocks * static_cast<int64_t>(kBlockBytes) > limit_bytes_) {
    ++dropped_count_;
    return false;
  }
  // Not zeroed: the pages are touched when they are filled, not before.
  if (!fits_block) blocks_.push_back({std::unique_ptr<uint8_t[]>(new uint8_t[kBlockBytes]), 0});
  Block& block = blocks_.back();
  const auto size = static_cast<Size>(size_bytes);
  std::memcpy(block.bytes.get() + block.used, &size, sizeof(size));
  std::memcpy(block.bytes.get() + block.used + sizeof(size), data, size_bytes);
  block.used += needed;
  ++record_count_;
  size_bytes_ += static_cast<int64_t>(size_bytes);
  return true;
}

}  // namespace whylate
