// The instant with which each of our recordings begins: what it is of, and how much of what it holds.
#ifndef WHYLATE_ANALYSIS_IMPORT_PERFETTO_OWN_HEAD_H_
#define WHYLATE_ANALYSIS_IMPORT_PERFETTO_OWN_HEAD_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "analysis/import/perfetto_annotations.h"
#include "analysis/model/recording.h"

namespace whylate {

// What a whole file has of each.
struct OwnCounts {
  uint64_t frames = 0;
  uint64_t losses = 0;
  uint64_t omitted = 0;
  uint64_t events = 0;
  uint64_t stretch_events = 1;  // never 0
};

absl::Status ReadOwnHead(const std::vector<Annotation>& annotations, Recording* recording,
                         OwnCounts* counts);

// Refuses frames with which the arithmetic of CellFrames would overflow or not end.
absl::Status CheckFrames(const CellFrames& frames);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_PERFETTO_OWN_HEAD_H_
