// A frame's window, cut into what its thread was doing: the segments, before anybody is blamed.
//
// The parts tile the window: in order, without a gap. What the recording does not say is a part of
// kind unknown, with its reason.
//
//   for (const WindowPart& part : TileWindow(timeline, cast, task, release_ns, window)) ...
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_WINDOW_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_WINDOW_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/attribution/cast.h"
#include "analysis/attribution/explanation.h"
#include "analysis/timeline/interval.h"
#include "analysis/timeline/task_spans.h"
#include "analysis/timeline/timeline.h"

namespace whylate {

struct WindowPart {
  Segment segment;           // without parts, occupants, avoidable time and decision
  TaskIndex task = kNoTask;  // whose time it is; kNoTask where the recording does not know it
  // What it was made of, to its full length: a wait may have begun before the window. Belongs to
  // the timeline; empty where the recording has nothing.
  std::span<const TaskSpan> spans;
  std::string subject;  // who is charged; empty for waits and running, which have several
  // It would have ended when it did whatever had gone before it: time saved earlier is lost in it.
  bool absorbs = false;
  bool uncertain = false;  // its kind may be another
  // Of a sleep that another task ended: the waking, and, once the delay is charged, what that task
  // and those that it waited for did meanwhile. These parts tile this one.
  int32_t chain_event = kNoEvent;
  std::vector<WindowPart> chain;
  int32_t chain_depth = 0;  // in such a chain: how many sleeps lie between, from 1
};

// `window` begins at the release, or where the frame before it was completed. O(log n + parts).
std::vector<WindowPart> TileWindow(const Timeline& timeline, const Cast& cast, TaskIndex task,
                                   int64_t release_ns, const Interval& window);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_WINDOW_H_
