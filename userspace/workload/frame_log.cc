#include "userspace/workload/frame_log.h"

#include <utility>

#include "analysis/model/status_macros.h"

namespace whylate {

absl::StatusOr<FrameLog> FrameLog::Create(int64_t capacity) {
  const size_t size_bytes = sizeof(Header) + static_cast<size_t>(capacity) * sizeof(FrameRecord);
  // Zeroed memory is a valid empty log.
  ASSIGN_OR_RETURN(SharedMemory memory, SharedMemory::Create("whylate-frame-log", size_bytes));
  return FrameLog(std::move(memory));
}

absl::StatusOr<FrameLog> FrameLog::Map(UniqueFd fd) {
  ASSIGN_OR_RETURN(SharedMemory memory, SharedMemory::Map(std::move(fd)));
  return FrameLog(std::move(memory));
}

void FrameLog::CopyFrames(CellFrames& frames) const {
  frames.has_unfinished = has_unfinished_frame();
  for (int64_t i = 0; i < count(); ++i) {
    const FrameRecord& frame = record(i);
    if (frame.release_ns >= frames.end_ns) break;
    frames.frames.push_back({frame.index, frame.release_ns, frame.start_ns, frame.completion_ns,
                             frame.cpu_ns, frame.demand_ns});
  }
}

bool FrameLog::Append(const FrameRecord& record) {
  const int64_t index = count();
  if (index >= capacity()) return false;
  records()[index] = record;
  header()->count.store(index + 1, std::memory_order_release);
  return true;
}

}  // namespace whylate
