// Writes a recording as a Perfetto trace, which Perfetto's own viewer and SQL engine open, and from
// which import/perfetto.h gets the recording back exactly.
//
//   std::ofstream file("video-burn-1.pftrace", std::ios::binary);
//   WritePerfetto(recording, &explanation, file);
//
// First what the recording is, then losses, omitted stretches and frames, then the events: a file
// that was cut off says what it lacks. The events must be in total order (see Before()).
#ifndef WHYLATE_ANALYSIS_REPORT_PERFETTO_WRITER_H_
#define WHYLATE_ANALYSIS_REPORT_PERFETTO_WRITER_H_

#include <ostream>
#include <string>

#include "analysis/attribution/explanation.h"
#include "analysis/model/recording.h"

namespace whylate {

// `explanation` (of this recording) may be null: no segments and verdicts, then. Needs a few MB
// beside the recording, however long that is. Errors of writing are the stream's.
void WritePerfetto(const Recording& recording, const Explanation* explanation, std::ostream& out);

// The same in memory.
std::string RecordingToPerfetto(const Recording& recording, const Explanation* explanation);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_PERFETTO_WRITER_H_
