// What a recording holds beside its events and frames, in a Perfetto trace: what it is of, the
// names of its tasks, what was lost and what was omitted.
#ifndef WHYLATE_ANALYSIS_REPORT_PERFETTO_RECORDING_H_
#define WHYLATE_ANALYSIS_REPORT_PERFETTO_RECORDING_H_

#include "analysis/model/recording.h"
#include "analysis/report/perfetto_packets.h"

namespace whylate {

// The instant that says what the trace is; see kRecording in model/perfetto_fields.h.
void WriteRecordingFacts(const Recording& recording, PacketStream& packets);

// What the kernel is, where that is known: tools read states by its version.
void WriteSystem(const Recording& recording, PacketStream& packets);

// Each task under its last name. Escaped: the names' bytes are in the events.
void WriteProcessTree(const Recording& recording, PacketStream& packets);

// Slices, one track for each CPU that lost something, beside a counter of how much.
void WriteLosses(const Recording& recording, PacketStream& packets);
void WriteOmitted(const Recording& recording, PacketStream& packets);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_PERFETTO_RECORDING_H_
