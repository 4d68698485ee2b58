#include "analysis/report/perfetto_writer.h"

#include <sstream>
#include <utility>

#include "analysis/report/perfetto_frames.h"
#include "analysis/report/perfetto_packets.h"
#include "analysis/report/perfetto_recording.h"
#include "analysis/report/perfetto_sched.h"

namespace whylate {

void WritePerfetto(const Recording& recording, const Explanation* explanation, std::ostream& out) {
  PacketStream packets(out);
  packets.Clock(recording.begin_ns);
  WriteSystem(recording, packets);
  WriteRecordingFacts(recording, packets);
  WriteLosses(recording, packets);
  WriteOmitted(recording, packets);
  WriteProcessTree(recording, packets);
  WriteFrames(recording, explanation, packets);
  SchedEventWriter events(recording, packets);
  for (const SchedEvent& event : recording.events) events.Add(event);
  events.Flush();
}

std::string RecordingToPerfetto(const Recording& recording, const Explanation* explanation) {
  std::ostringstream out(std::ios::binary);
  WritePerfetto(recording, explanation, out);
  return std::move(out).str();
}

}  // namespace whylate
