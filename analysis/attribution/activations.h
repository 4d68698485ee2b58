// Who made a task wait, where nobody marked its frames: the worst activations of a recording.
//
// An activation (see activation_spans.h) is the frame of a task without frame marks. With a
// deadline it is late when it ended later than that after its waking, and the verdict is that of a
// frame whose demand is what it ran. Without one the question is who made it wait: the verdict's
// subject is the one with the largest saving against a deadline of waking + the time it ran, that
// is no wait at all; `sufficient` says whether it was the only one.
//
// A recording that has frames is explained by its late frames, unless another task or another
// deadline is asked for.
//
//   ActivationOptions options;  options.deadline_ns = 5'000'000;
//   const Analysis analysis = AnalyzeActivations(recording, options);
//   analysis.activations.front().verdict->subject;  // "bash"
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_ACTIVATIONS_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_ACTIVATIONS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/explanation.h"
#include "analysis/model/ids.h"
#include "analysis/model/recording.h"

namespace whylate {

struct ActivationOptions {
  std::string task;                    // a name, or a tid in digits; "" for all tasks
  std::optional<int64_t> deadline_ns;  // after the waking
  size_t worst = 10;                   // so many are explained
};

struct Activation {
  std::string task;  // its name at its start; raw, hostile
  Tid tid;
  int64_t start_ns = 0;  // the waking where that is known, else the switch-in after the sleep
  int64_t end_ns = 0;    // of its last run, or of what is known of it
  bool finished = false;
  std::optional<int64_t> waking_ns;
  std::optional<int64_t> running_ns;   // first switch-in
  std::optional<int64_t> deadline_ns;  // an instant
  std::optional<bool> late;            // unset without a deadline, or where its end is not known
  int64_t wait_ns = 0;                 // wakeup_dispatch, runqueue_wait and preempted
  // False where it may have waited before it first ran and nobody knows: no record says that it was
  // woken, or nothing is known of a stretch before that run. A frame has its release.
  bool wait_known = false;
  std::vector<Segment> segments;  // tile [start, end)
  // Unset where nothing is to be explained: in time or, without a deadline, no wait.
  std::optional<Verdict> verdict;
};

// All activations of one task.
struct ActivationRow {
  std::string task;
  Tid tid;
  int64_t activations = 0;
  int64_t late = 0;
  int64_t wait_ns = 0;
  int64_t longest_wait_ns = 0;
};

struct SubjectWait {
  std::string subject;
  int64_t ns = 0;
};

struct Analysis {
  bool of_frames = false;               // the activations are late frames
  std::vector<Activation> activations;  // the worst ones, longest wait first
  std::vector<ActivationRow> tasks;     // of all activations, longest wait first
  // Whose the waits of `activations` were, most time first; of frames, whose all their delay was.
  std::vector<SubjectWait> subjects;
  int64_t total = 0;  // activations of all these tasks
  int64_t late = 0;
  std::optional<TraceTotals> trace;
};

// With a deadline late activations come before others into the choice of the worst. The idle task
// has no activations, nor has a task that does not occur.
// O(n log n) in events, O(n) to find the worst, and for each of those O(m log m) in what happened
// in it, but for a joint cause with records missing: up to 100 times that.
Analysis AnalyzeActivations(const Recording& recording, const ActivationOptions& options);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_ACTIVATIONS_H_
