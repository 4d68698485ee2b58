// The log that a workload thread writes its frames to: in shared, locked memory, allocated before.
//
// One writer (the workload's thread), any readers. A record is whole once `count` includes it.
#ifndef WHYLATE_USERSPACE_WORKLOAD_FRAME_LOG_H_
#define WHYLATE_USERSPACE_WORKLOAD_FRAME_LOG_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "analysis/model/frame.h"
#include "userspace/platform/shared_memory.h"

namespace whylate {

struct FrameRecord {
  int64_t index;
  int64_t release_ns;
  int64_t start_ns;
  int64_t completion_ns;
  int64_t cpu_ns;
  int64_t demand_ns;
};

class FrameLog {
 public:
  // Memory for `capacity` frames, shareable with the workload's process.
  static absl::StatusOr<FrameLog> Create(int64_t capacity);
  static absl::StatusOr<FrameLog> Map(UniqueFd fd);

  int fd() const { return memory_.fd(); }
  // Pages in and locks the log alone, so that writing to it cannot fault.
  absl::Status Lock() const { return memory_.Lock(); }

  // Release 0 and the end of the cell, set by the workload when it starts; 0 before.
  void SetOrigin(int64_t origin_ns) { header()->origin_ns.store(origin_ns); }
  int64_t origin_ns() const { return header()->origin_ns.load(); }

  // Says that the thread waits for or runs a frame, so that one which never completes is known.
  void Enter() { header()->entered.store(count() + 1, std::memory_order_release); }
  // False when the log is full.
  bool Append(const FrameRecord& record);
  int64_t count() const { return header()->count.load(std::memory_order_acquire); }
  bool full() const { return count() >= capacity(); }
  bool has_unfinished_frame() const { return header()->entered.load() > count(); }
  const FrameRecord& record(int64_t i) const { return records()[i]; }
  // Appends the completed frames that were released before `frames.end_ns`.
  void CopyFrames(CellFrames& frames) const;

 private:
  struct alignas(64) Header {
    std::atomic<int64_t> origin_ns;
    std::atomic<int64_t> entered;
    std::atomic<int64_t> count;
  };

  explicit FrameLog(SharedMemory memory) : memory_(std::move(memory)) {}
  Header* header() const { return static_cast<Header*>(memory_.data()); }
  FrameRecord* records() const { return reinterpret_cast<FrameRecord*>(header() + 1); }
  int64_t capacity() const {
    return static_cast<int64_t>((memory_.size_bytes() - sizeof(Header)) / sizeof(FrameRecord));
  }

  SharedMemory memory_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_WORKLOAD_FRAME_LOG_H_
