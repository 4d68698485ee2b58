// From the records that were captured to the events that are kept: losses found, order made.
//
//   ASSIGN_OR_RETURN(BuiltCapture built, BuildCapture(store, input));
//
// Two passes over the records, so that those which are not kept are never decoded: a decoded event
// takes several times the room of its record. Pure; not thread-safe.
#ifndef WHYLATE_USERSPACE_TRACE_CAPTURE_BUILDER_H_
#define WHYLATE_USERSPACE_TRACE_CAPTURE_BUILDER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "analysis/model/recording.h"
#include "analysis/model/sched_event.h"
#include "userspace/trace/record_store.h"
#include "userspace/trace/trace_source.h"
#include "userspace/trace/wire_decoder.h"

namespace whylate {

struct CaptureInput {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  std::vector<uint64_t> attempts;  // by CPU: the sequence of the last record that it tried to emit
  KeepEvents keep;
  WireDecoderOptions decoder;
};

struct BuiltCapture {
  uint64_t record_count = 0;  // delivered and counted by a sequence, kept or not
  uint64_t lost_count = 0;    // sequences that no record has
  std::vector<SchedEvent> events;
  std::vector<LossInterval> losses;
  std::vector<OmittedInterval> omitted;  // between the kept windows, within [begin, end)
};

// Events outside [begin, end] are left out, but names, forks, exits and seeds. DataLoss for a
// record that is damaged.
absl::StatusOr<BuiltCapture> BuildCapture(const RecordStore& store, const CaptureInput& input);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_CAPTURE_BUILDER_H_
