// The frames of a cell as slices of a Perfetto trace, on tracks of the watched thread; in each late
// one its segments, and its verdict; arrows from who woke the thread to what it did then.
#ifndef WHYLATE_ANALYSIS_REPORT_PERFETTO_FRAMES_H_
#define WHYLATE_ANALYSIS_REPORT_PERFETTO_FRAMES_H_

#include "analysis/attribution/explanation.h"
#include "analysis/model/recording.h"
#include "analysis/report/perfetto_packets.h"

namespace whylate {

// `explanation` (of this recording) may be null: frames alone, then. Windows that overlap, as those
// of carried frames do, are on tracks of their own: as many as overlap at once.
void WriteFrames(const Recording& recording, const Explanation* explanation, PacketStream& packets);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_PERFETTO_FRAMES_H_
