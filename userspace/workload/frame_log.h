// The log that a workload writes its frames to: in shared, locked memory, allocated before.
//
// One writer at a time (the workload's thread; of a chain, whichever stage holds the frame), any
// readers. A record is whole once `count` includes it.
#ifndef WHYLATE_USERSPACE_WORKLOAD_FRAME_LOG_H_
#define WHYLATE_USERSPACE_WORKLOAD_FRAME_LOG_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "analysis/model/frame.h"
#include "analysis/model/ids.h"
#include "analysis/model/recording.h"
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
  // Memory for `capacity` frames, shareable with the workload's process; of a chain, with what each
  // of its stages did.
  static absl::StatusOr<FrameLog> Create(int64_t capacity, size_t stage_count = 0);
  static absl::StatusOr<FrameLog> Map(UniqueFd fd);

  int fd() const { return memory_.fd(); }
  // Pages in and locks the log alone, so that writing to it cannot fault.
  absl::Status Lock() const { return memory_.Lock(); }

  // Release 0 and the end of the cell, set by the workload when it starts; 0 before.
  void SetOrigin(int64_t origin_ns) { header()->origin_ns.store(origin_ns); }
  int64_t origin_ns() const { return header()->origin_ns.load(); }

  // Says that the thread waits for or runs a frame, so that one which never completes is known.
  void Enter() { header()->entered.store(count() + 1, std::memory_order_release); }
  // The same of a chain, whose first stage waits for the next frame while one is on its way: so many
  // have been begun or waited for in all.
  void EnterFrames(int64_t count) { header()->entered.store(count, std::memory_order_release); }
  // False when the log is full.
  bool Append(const FrameRecord& record) { return Append(record, {}, {}); }
  // Of a chain: stage_count - 1 instants, and stage_count amounts.
  bool Append(const FrameRecord& record, std::span<const int64_t> passed_ns,
              std::span<const int64_t> cpu_ns);
  int64_t count() const { return header()->count.load(std::memory_order_acquire); }
  bool full() const { return count() >= capacity(); }
  bool has_unfinished_frame() const { return header()->entered.load() > count(); }
  const FrameRecord& record(int64_t i) const { return records()[i]; }
  // Appends the completed frames that were released before `frames.end_ns`, to frames that go
  // through as many stages.
  void CopyFrames(CellFrames& frames) const;

  // The threads of a chain, by stage; unset before each is started.
  void SetStageTid(size_t stage, Tid tid) { header()->stage_tids[stage].store(tid.value); }
  Tid stage_tid(size_t stage) const { return Tid{header()->stage_tids[stage].load()}; }

 private:
  struct alignas(64) Header {
    std::atomic<int64_t> origin_ns;
    std::atomic<int64_t> entered;
    std::atomic<int64_t> count;
    size_t stage_count;  // set before anybody else sees it
    std::array<std::atomic<int32_t>, kMostStages> stage_tids;
  };

  explicit FrameLog(SharedMemory memory) : memory_(std::move(memory)) {}
  Header* header() const { return static_cast<Header*>(memory_.data()); }
  FrameRecord* records() const { return reinterpret_cast<FrameRecord*>(header() + 1); }
  // Numbers that say what the stages of one frame did: when all but the last passed it on, and the
  // CPU time in each.
  static size_t StageNumbers(size_t stage_count) {
    return stage_count == 0 ? 0 : 2 * stage_count - 1;
  }
  static size_t FrameBytes(size_t stage_count) {
    return sizeof(FrameRecord) + StageNumbers(stage_count) * sizeof(int64_t);
  }
  int64_t capacity() const {
    return static_cast<int64_t>((memory_.size_bytes() - sizeof(Header)) /
                                FrameBytes(header()->stage_count));
  }
  // Those of frame i, after all records.
  std::span<int64_t> StageRow(int64_t i) const;

  SharedMemory memory_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_WORKLOAD_FRAME_LOG_H_
