// The numbers of the tracks that our recordings have: any, as long as they differ.
#ifndef WHYLATE_ANALYSIS_REPORT_PERFETTO_TRACKS_H_
#define WHYLATE_ANALYSIS_REPORT_PERFETTO_TRACKS_H_

#include <cstdint>

#include "analysis/model/ids.h"

namespace whylate {

inline constexpr uint64_t kRootTrack = 0x7768796c61746500;
inline constexpr uint64_t kWatchedThreadTrack = kRootTrack + 1;
inline constexpr uint64_t kWakersTrack = kRootTrack + 2;
inline constexpr uint64_t kOmittedTrack = kRootTrack + 3;
inline constexpr uint64_t kFirstFrameTrack = kRootTrack + (uint64_t{1} << 32);
inline constexpr uint64_t kFirstFlow = kRootTrack + (uint64_t{2} << 32);

inline uint64_t LossTrack(CpuId cpu) {
  return kRootTrack + (uint64_t{3} << 32) + static_cast<uint32_t>(cpu.value);
}
inline uint64_t LossCounterTrack(CpuId cpu) {
  return kRootTrack + (uint64_t{4} << 32) + static_cast<uint32_t>(cpu.value);
}

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_PERFETTO_TRACKS_H_
