// One late frame's verdict: who made it late, by which of its causes, and how sure that is.
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_VERDICT_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_VERDICT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "analysis/attribution/delay.h"
#include "analysis/attribution/explanation.h"

namespace whylate {

// A subject's main cause: the decision with most of its time, and the segment kind with most of
// that.
struct MainCause {
  SegmentKind kind = SegmentKind::kUnknown;
  std::optional<Decision> decision;
};
MainCause MainCauseOf(const FrameDelay& delay, absl::string_view subject);

// Whether the kind of the subject's main cause would stay the same with `open_ns` of its time, or
// as much more, moved to any other of its causes. A missing record can also change the decision of
// time that is known; so beyond that the time of its kind, halved, must lead that of any other.
bool KindSurvives(const FrameDelay& delay, absl::string_view subject, int64_t open_ns);

// "A & B" of a joint cause, in the order of the names: the same set is the same cause.
std::string JoinSubjects(std::vector<std::string> subjects);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_VERDICT_H_
