#include "analysis/attribution/chain.h"

#include <string>
#include <utility>

#include "analysis/timeline/interval.h"

namespace whylate {
namespace {

class Follower {
 public:
  Follower(const Timeline& timeline, const Cast& cast) : timeline_(timeline), cast_(cast) {}

  // Over `interval`, at whose end or later the waking was.
  void Follow(int32_t waking_event, const Interval& interval, int32_t depth) {
    const TaskIndex waker = cast_.WakerTask(waking_event);
    // No release lies in it: nothing in there is a task's wait for its own release.
    const int64_t no_release_ns = interval.start_ns - 1;
    for (WindowPart& part : TileWindow(timeline_, cast_, waker, no_release_ns, interval)) {
      const Interval inside{part.segment.start_ns, part.segment.end_ns};
      // Who ends this sleep does so before the waker can end the one before.
      if (part.chain_event != kNoEvent && depth < kMostHops && waker != kNoTask) {
        Follow(part.chain_event, inside, depth + 1);
        continue;
      }
      part.task = waker;
      part.chain_event = kNoEvent;
      part.chain_depth = depth;
      const bool own = part.segment.kind == SegmentKind::kRunning || part.subject == kSubjectSelf;
      if (own) part.subject = cast_.SubjectOf(waker, inside.start_ns);
      parts_.push_back(std::move(part));
    }
  }

  std::vector<WindowPart> TakeParts() { return std::move(parts_); }

 private:
  const Timeline& timeline_;
  const Cast& cast_;
  std::vector<WindowPart> parts_;
};

}  // namespace

std::vector<WindowPart> FollowChain(const Timeline& timeline, const Cast& cast,
                                    const WindowPart& sleep) {
  Follower follower(timeline, cast);
  follower.Follow(sleep.chain_event, {sleep.segment.start_ns, sleep.segment.end_ns}, 1);
  return follower.TakeParts();
}

}  // namespace whylate
