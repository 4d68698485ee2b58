// A frame's delay, charged: each nanosecond beyond the demand has one cause.
//
// The charges of a frame sum to completion - release - min(ran, demand), to the nanosecond.
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_DELAY_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_DELAY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/cast.h"
#include "analysis/attribution/explanation.h"
#include "analysis/attribution/wait.h"
#include "analysis/attribution/window.h"
#include "analysis/timeline/timeline.h"

namespace whylate {

// Some time of one segment, and whose it is. A segment's charges stand together, segments in order.
struct Charge {
  std::string subject;
  SegmentKind kind = SegmentKind::kUnknown;
  // Of waits, but for what an interrupt took of an occupant's time; of a sleep that another task
  // ended, where that one waited.
  std::optional<Decision> decision;
  int64_t segment_start_ns = 0;
  int64_t ns = 0;
};

// A block whose end would have stayed where it was: what was saved before `start_ns` is lost in it.
struct AbsorbingBlock {
  int64_t start_ns = 0;
  std::vector<std::string> subjects;  // all of whose time it is
};

struct FrameDelay {
  std::vector<Charge> charges;
  std::vector<AbsorbingBlock> blocks;  // in order
  int64_t ran_ns = 0;                  // in running segments

  int64_t TotalNs() const;
};

// Analyzes the waits among `parts`, the chains of their sleeps and the stolen time of running,
// completes their segments and charges everything. Running beyond `demand_ns` goes to what was taken by nmi, irq, softirq and
// steal in that order, each capped by what is left, the rest to the thread itself ("slow").
FrameDelay ChargeDelay(const Timeline& timeline, const Cast& cast, int64_t demand_ns,
                       std::vector<WindowPart>* parts);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_DELAY_H_
