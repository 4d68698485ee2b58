#include "userspace/workload/frame_log.h"

#include <algorithm>
#include <utility>

#include "analysis/model/status_macros.h"

namespace whylate {

absl::StatusOr<FrameLog> FrameLog::Create(int64_t capacity, size_t stage_count) {
  const size_t size_bytes =
      sizeof(Header) + static_cast<size_t>(capacity) * FrameBytes(stage_count);
  // Zeroed memory is a valid empty log.
  ASSIGN_OR_RETURN(SharedMemory memory, SharedMemory::Create("whylate-frame-log", size_bytes));
  FrameLog log(std::move(memory));
  log.header()->stage_count = stage_count;
  return log;
}

absl::StatusOr<FrameLog> FrameLog::Map(UniqueFd fd) {
  ASSIGN_OR_RETURN(SharedMemory memory, SharedMemory::Map(std::move(fd)));
  return FrameLog(std::move(memory));
}

void FrameLog::CopyFrames(CellFrames& frames) const {
  frames.has_unfinished = has_unfinished_frame();
  for (size_t stage = 0; stage < frames.stages.size(); ++stage) {
    frames.stages[stage].tid = stage_tid(stage);
  }
  const size_t passes = frames.stages.empty() ? 0 : frames.stages.size() - 1;
  for (int64_t i = 0; i < count(); ++i) {
    const FrameRecord& frame = record(i);
    if (frame.release_ns >= frames.end_ns) break;
    frames.frames.push_back({frame.index, frame.release_ns, frame.start_ns, frame.completion_ns,
                             frame.cpu_ns, frame.demand_ns});
    const std::span<const int64_t> row = StageRow(i);
    frames.passed_ns.insert(frames.passed_ns.end(), row.begin(),
                            row.begin() + static_cast<ptrdiff_t>(passes));
    frames.stage_cpu_ns.insert(frames.stage_cpu_ns.end(),
                               row.begin() + static_cast<ptrdiff_t>(passes), row.end());
  }
}

bool FrameLog::Append(const FrameRecord& record, std::span<const int64_t> passed_ns,
                      std::span<const int64_t> cpu_ns) {
  const int64_t index = count();
  if (index >= capacity()) return false;
  records()[index] = record;
  const std::span<int64_t> row = StageRow(index);
  const auto rest = std::copy(passed_ns.begin(), passed_ns.end(), row.begin());
  std::copy(cpu_ns.begin(), cpu_ns.end(), rest);
  header()->count.store(index + 1, std::memory_order_release);
  return true;
}

std::span<int64_t> FrameLog::StageRow(int64_t i) const {
  const size_t numbers = StageNumbers(header()->stage_count);
  auto* rows = reinterpret_cast<int64_t*>(records() + capacity());
  return {rows + static_cast<size_t>(i) * numbers, numbers};
}

}  // namespace whylate
