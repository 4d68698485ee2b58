// The debug annotations of a Perfetto track event, as a tree.
//
//   TrackEventView event;
//   if (ReadTrackEvent(bytes, 1000, &event)) Find(event.annotations, "whylate_run");
//
// The views point into the bytes.
#ifndef WHYLATE_ANALYSIS_IMPORT_PERFETTO_ANNOTATIONS_H_
#define WHYLATE_ANALYSIS_IMPORT_PERFETTO_ANNOTATIONS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace whylate {

struct Annotation {
  absl::string_view name;  // empty in an array
  int64_t value = 0;       // of a number or a boolean; an unsigned one's bits
  absl::string_view text;
  std::vector<Annotation> children;  // of a dictionary or an array
};

struct TrackEventView {
  absl::string_view name;
  std::vector<Annotation> annotations;
};

// False where it is malformed, nested deeper than eight levels, or has more than `limit`
// annotations in all.
bool ReadTrackEvent(absl::string_view bytes, size_t limit, TrackEventView* event);

// The first of that name; null where there is none.
const Annotation* Find(const std::vector<Annotation>& annotations, absl::string_view name);
// Its value or text; 0 and "" where there is none.
int64_t NumberOf(const std::vector<Annotation>& annotations, absl::string_view name);
absl::string_view TextOf(const std::vector<Annotation>& annotations, absl::string_view name);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_PERFETTO_ANNOTATIONS_H_
