#include "tests/support/explanation_checks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace whylate {
namespace {

// The log's: a miss that was read from a report does not say it.
int64_t DemandNs(const CellFrames& frames, int64_t index) {
  for (const Frame& frame : frames.frames) {
    if (frame.index == index) return frame.demand_ns;
  }
  return 0;
}

class Checker {
 public:
  std::vector<std::string> Run(const CellFrames& frames, const Explanation& explanation) {
    int64_t lost_frames = 0;
    int64_t delay_ns = 0;
    for (const Miss& miss : explanation.misses) {
      frame_ = miss.frame.index;
      CheckMiss(frames, miss);
      lost_frames += 1 + miss.dropped;
      const Frame& frame = miss.frame;
      const int64_t ran_ns = SegmentNs(miss, SegmentKind::kRunning);
      delay_ns +=
          frame.completion_ns - frame.release_ns - std::min(ran_ns, DemandNs(frames, frame.index));
    }
    frame_ = -1;
    CheckRows("causes", explanation.causes, lost_frames, delay_ns);
    CheckRows("subjects", explanation.subjects, lost_frames, delay_ns);
    const auto late = std::count_if(frames.frames.begin(), frames.frames.end(),
                                    [&](const Frame& frame) { return frames.IsLate(frame); });
    Expect("misses", static_cast<int64_t>(explanation.misses.size()), late);
    return std::move(broken_);
  }

 private:
  void Expect(const std::string& what, int64_t actual, int64_t expected) {
    if (actual == expected) return;
    broken_.push_back(
        absl::StrCat("frame ", frame_, ": ", what, " is ", actual, ", not ", expected));
  }
  void ExpectAtMost(const std::string& what, int64_t actual, int64_t limit) {
    if (actual >= 0 && actual <= limit) return;
    broken_.push_back(
        absl::StrCat("frame ", frame_, ": ", what, " is ", actual, ", not 0 to ", limit));
  }

  template <typename Row>
  void CheckRows(const std::string& name, const std::vector<Row>& rows, int64_t frames,
                 int64_t ns) {
    int64_t row_frames = 0;
    int64_t row_ns = 0;
    for (const Row& row : rows) {
      row_frames += row.frames + row.frames_incomplete;
      row_ns += row.ns;
    }
    Expect(absl::StrCat("frames of all ", name), row_frames, frames);
    Expect(absl::StrCat("ns of all ", name), row_ns, ns);
  }

  void CheckMiss(const CellFrames& frames, const Miss& miss) {
    Expect("deadline", miss.deadline_ns, frames.DeadlineNs(miss.frame.index));
    Expect("dropped", miss.dropped, frames.SkippedReleases(miss.frame));
    if (!miss.verdict) broken_.push_back(absl::StrCat("frame ", frame_, " has no verdict"));
    int64_t at_ns = miss.frame.release_ns;
    for (const Segment& segment : miss.segments) {
      Expect(absl::StrCat("start of ", ToString(segment.kind)), segment.start_ns, at_ns);
      if (segment.end_ns <= segment.start_ns) Expect("length", segment.end_ns, -1);
      CheckSegment(segment);
      at_ns = segment.end_ns;
    }
    Expect("end of the last segment", at_ns, miss.frame.completion_ns);
  }

  void CheckSegment(const Segment& segment) {
    const int64_t length_ns = segment.end_ns - segment.start_ns;
    CheckParts(segment.parts, length_ns);
    if (!IsWait(segment)) return;
    int64_t at_ns = segment.start_ns;
    for (const Occupant& occupant : segment.occupants) {
      Expect("start of an occupant", occupant.start_ns, at_ns);
      CheckParts(occupant.parts, occupant.end_ns - occupant.start_ns);
      at_ns = occupant.end_ns;
    }
    Expect("end of the last occupant", at_ns, segment.end_ns);
    ExpectAtMost("avoidable", segment.avoidable_ns + segment.possibly_avoidable_ns, length_ns);
  }

  void CheckParts(const std::vector<Part>& parts, int64_t length_ns) {
    int64_t total_ns = 0;
    for (const Part& part : parts) {
      ExpectAtMost("a part", part.ns, length_ns);
      total_ns += part.ns;
    }
    ExpectAtMost("all parts", total_ns, length_ns);
  }

  int64_t frame_ = -1;
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> BrokenInvariants(const CellFrames& frames,
                                          const Explanation& explanation) {
  return Checker().Run(frames, explanation);
}

int64_t SegmentNs(const Miss& miss, SegmentKind kind) {
  int64_t total_ns = 0;
  for (const Segment& segment : miss.segments) {
    if (segment.kind == kind) total_ns += segment.end_ns - segment.start_ns;
  }
  return total_ns;
}

int64_t OccupantNs(const Miss& miss, const std::string& role) {
  int64_t total_ns = 0;
  for (const Segment& segment : miss.segments) {
    if (!IsWait(segment)) continue;
    for (const Occupant& occupant : segment.occupants) {
      if (occupant.role.ToString() == role) total_ns += occupant.end_ns - occupant.start_ns;
    }
  }
  return total_ns;
}

}  // namespace whylate
