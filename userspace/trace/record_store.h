// Bounded memory for records as they come from the kernel, undecoded.
//
//   RecordStore store(512 << 20);
//   if (!store.Append(data, size)) { /* full: this record is lost */ }
//   store.ForEach([](absl::Span<const uint8_t> record) { ... });
//
// Not thread-safe. Memory is taken in blocks as it is needed.
#ifndef WHYLATE_USERSPACE_TRACE_RECORD_STORE_H_
#define WHYLATE_USERSPACE_TRACE_RECORD_STORE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/types/span.h"

namespace whylate {

class RecordStore {
 public:
  explicit RecordStore(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // False when the record would pass the limit (or does not fit a block): nothing is stored.
  bool Append(const void* data, size_t size_bytes);

  // Calls visit(absl::Span<const uint8_t>) for each record, in the order of Append. The spans stay
  // valid as long as the store.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    for (const Block& block : blocks_) {
      const uint8_t* at = block.bytes.get();
      const uint8_t* end = at + block.used;
      while (at < end) {
        Size size = 0;
        std::memcpy(&size, at, sizeof(size));
        at += sizeof(size);
        visit(absl::MakeConstSpan(at, size));
        at += size;
      }
    }
  }

  int64_t record_count() const { return record_count_; }
  int64_t size_bytes() const { return size_bytes_; }        // of the records
  int64_t dropped_count() const { return dropped_count_; }  // for which Append said false

 private:
  using Size = uint32_t;
  struct Block {
    std::unique_ptr<uint8_t[]> bytes;
    size_t used = 0;
  };
  static constexpr size_t kBlockBytes = size_t{256} << 10;

  int64_t limit_bytes_;
  int64_t record_count_ = 0;
  int64_t size_bytes_ = 0;
  int64_t dropped_count_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_RECORD_STORE_H_
