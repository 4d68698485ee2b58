// How much of a frame's window the recording leaves open, and whether its verdict survives that.
//
// What is open: losses, unknown stretches, and what rests on the repair of a chain break; on the
// CPUs that the thread's state at that instant depends on: its own while it runs, else those it may
// use, was queued on or was woken from. A hidden task's records can't change what a running or
// sleeping thread is seen to do, so repairs count during waits alone.
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_UNCERTAINTY_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_UNCERTAINTY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/attribution/counterfactual.h"
#include "analysis/attribution/delay.h"
#include "analysis/attribution/window.h"
#include "analysis/timeline/interval.h"
#include "analysis/timeline/task_table.h"
#include "analysis/timeline/timeline.h"

namespace whylate {

struct Uncertainty {
  IntervalList open;     // the union, within the window
  IntervalList repairs;  // of that, what rests on repairs
  // The end of the last stretch in which the thread may have slept unseen. A sleep that somebody
  // else ended absorbs all that was saved before it.
  std::optional<int64_t> hidden_sleep_until_ns;

  int64_t OpenNs() const { return TotalNs(open); }
};

// `parts` tile the window and have been analyzed; `completed`: the task of the last one itself did
// what ended it. O(parts * CPUs * (log n + gaps in the window)).
Uncertainty FindUncertainty(const Timeline& timeline, const std::vector<WindowPart>& parts,
                            bool completed = true);

// Whether the judgement names the same subjects, as sufficient or not, and their first one's kind,
// when the open time is added to a named subject, and when it is taken from one and given to its
// strongest rival, or to one that nobody saw. A joint cause of more than 100 subjects does not,
// once any time is open. O(named subjects * a judgement).
bool Survives(const Counterfactual& without, const Judgement& judgement, const FrameDelay& delay,
              const Uncertainty& uncertainty);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_UNCERTAINTY_H_
