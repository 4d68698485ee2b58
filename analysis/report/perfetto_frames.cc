#include "analysis/report/perfetto_frames.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/attribution/stolen.h"
#include "analysis/model/perfetto_facts.h"
#include "analysis/model/perfetto_fields.h"
#include "analysis/report/escape.h"
#include "analysis/report/perfetto_tracks.h"
#include "analysis/report/words.h"

namespace whylate {
namespace {

void AnnotateParts(const std::vector<Part>& parts, DebugAnnotations& annotations) {
  for (const Part& part : parts) {
    annotations.Int(absl::StrCat(EscapeForTerminal(SubjectOf(part)), "_ns"), part.ns);
  }
}

void AnnotateOccupant(const Occupant& occupant, DebugAnnotations& entry) {
  entry.Text("task", EscapeForTerminal(occupant.task));
  if (occupant.tid) entry.Int("tid", occupant.tid->value);
  entry.Text("role", EscapeForTerminal(occupant.role.ToString()));
  if (occupant.cpu) entry.Int("cpu", occupant.cpu->value);
  entry.Int("start_ns", occupant.start_ns);
  entry.Int("end_ns", occupant.end_ns);
  entry.Text("decision", ToString(occupant.decision));
  AnnotateParts(occupant.parts, entry);
}

void AnnotateMigration(const Migration& migration, DebugAnnotations& entry) {
  entry.Int("from", migration.from.value);
  entry.Int("to", migration.to.value);
  entry.Int("time_ns", migration.time_ns);
}

void AnnotateOccupants(const std::vector<Occupant>& occupants, DebugAnnotations& annotations) {
  annotations.Array("occupants", [&](DebugAnnotations& array) {
    for (const Occupant& occupant : occupants) {
      array.Dictionary("", [&](DebugAnnotations& entry) { AnnotateOccupant(occupant, entry); });
    }
  });
}

void AnnotateLink(const ChainLink& link, DebugAnnotations& entry) {
  entry.Text("task", EscapeForTerminal(link.task));
  if (link.tid) entry.Int("tid", link.tid->value);
  entry.Text("kind", ToString(link.kind));
  if (link.kind == SegmentKind::kBlocked) entry.Text("block_kind", ToString(link.block_kind));
  entry.Int("depth", link.depth);
  entry.Int("start_ns", link.start_ns);
  entry.Int("end_ns", link.end_ns);
  if (link.decision) entry.Text("decision", ToString(*link.decision));
  if (!link.occupants.empty()) AnnotateOccupants(link.occupants, entry);
  AnnotateParts(link.parts, entry);
}

void AnnotateSleep(const Segment& segment, DebugAnnotations& annotations) {
  if (segment.kind == SegmentKind::kBlocked) {
    annotations.Text("block_kind", ToString(segment.block_kind));
  }
  if (!segment.stack.empty()) {
    annotations.Array("stack", [&](DebugAnnotations& array) {
      for (const std::string& function : segment.stack) {
        array.Text("", EscapeForTerminal(function));
      }
    });
  }
  if (!segment.chain.empty()) {
    annotations.Array("chain", [&](DebugAnnotations& array) {
      for (const ChainLink& link : segment.chain) {
        array.Dictionary("", [&](DebugAnnotations& entry) { AnnotateLink(link, entry); });
      }
    });
  }
  if (!segment.group.empty()) annotations.Text("group", EscapeForTerminal(segment.group));
  if (segment.quota_ns) annotations.Int("quota_ns", *segment.quota_ns);
  if (segment.period_ns) annotations.Int("period_ns", *segment.period_ns);
}

void AnnotateSegment(const Segment& segment, DebugAnnotations& annotations) {
  if (segment.stage) {
    annotations.Text("stage", EscapeForTerminal(segment.stage->name));
    annotations.Int("stage_tid", segment.stage->tid.value);
  }
  if (segment.decision) annotations.Text("decision", ToString(*segment.decision));
  if (segment.cpu) annotations.Int("cpu", segment.cpu->value);
  if (!segment.waker.empty()) {
    annotations.Text(segment.kind == SegmentKind::kPreempted ? "preempted_by" : "waker",
                     EscapeForTerminal(segment.waker));
  }
  if (!segment.reason.empty()) annotations.Text("reason", EscapeForTerminal(segment.reason));
  if (segment.repaired) annotations.Bool("repaired", true);
  if (!segment.occupants.empty()) {
    annotations.Int("avoidable_ns", segment.avoidable_ns);
    annotations.Int("avoidable_sched_idle_ns", segment.avoidable_sched_idle_ns);
    annotations.Int("possibly_avoidable_ns", segment.possibly_avoidable_ns);
    annotations.Int("not_balanced_ns", segment.not_balanced_ns);
    AnnotateOccupants(segment.occupants, annotations);
  }
  AnnotateSleep(segment, annotations);
  if (!segment.migrations.empty()) {
    annotations.Array("migrations", [&](DebugAnnotations& array) {
      for (const Migration& migration : segment.migrations) {
        array.Dictionary("", [&](DebugAnnotations& entry) { AnnotateMigration(migration, entry); });
      }
    });
  }
  AnnotateParts(segment.parts, annotations);
}

void AnnotateNumbers(absl::string_view name, std::span<const int64_t> numbers,
                     DebugAnnotations& annotations) {
  if (numbers.empty()) return;
  annotations.Array(name, [&](DebugAnnotations& array) {
    for (const int64_t number : numbers) array.Int("", number);
  });
}

void AnnotateVerdict(const Verdict& verdict, DebugAnnotations& annotations) {
  annotations.Dictionary("verdict", [&](DebugAnnotations& entry) {
    entry.Text("subject", EscapeForTerminal(verdict.subject));
    entry.Text("kind", EscapeForTerminal(verdict.kind));
    if (verdict.decision) entry.Text("decision", ToString(*verdict.decision));
    entry.Bool("sufficient", verdict.sufficient);
    entry.Int("margin_ns", verdict.margin_ns);
    entry.Text("confidence", ToString(verdict.confidence));
    entry.Int("repaired_ns", verdict.repaired_ns);
    if (!verdict.stage.empty()) entry.Text("stage", EscapeForTerminal(verdict.stage));
  });
}

class FrameTracks {
 public:
  FrameTracks(const Recording& recording, PacketStream& packets)
      : recording_(recording), packets_(packets) {
    FindWakings();
    std::optional<Tgid> tgid;
    std::string name;
    for (const SchedEvent& event : recording.events) {
      const auto* binding = std::get_if<TaskNameEvent>(&event.body);
      if (binding == nullptr || binding->task != recording.watched) continue;
      if (binding->tgid) tgid = binding->tgid;
      name = EscapeForTerminal(binding->name);
    }
    if (!tgid) return;
    packets.ThreadTrack(kWatchedThreadTrack, {tgid->value, recording.watched.value, name});
    parent_ = kWatchedThreadTrack;
  }

  // The recording's frame `index`.
  void Write(size_t index, const Miss* miss) {
    const Frame& frame = recording_.frames.frames[index];
    const int64_t end_ns = std::max(frame.release_ns, frame.completion_ns);
    const uint64_t track = TrackFor(frame.release_ns, end_ns);
    packets_.SliceBegin(
        frame.release_ns, track,
        miss == nullptr ? absl::StrCat("frame ", frame.index)
                        : absl::StrCat("late frame ", frame.index, ", by ",
                                       Milliseconds(frame.completion_ns - miss->deadline_ns)),
        [&](DebugAnnotations& annotations) { AnnotateFrame(index, miss, annotations); });
    if (miss != nullptr) {
      for (const Segment& segment : miss->segments) WriteSegment(segment, track);
    }
    packets_.SliceEnd(end_ns, track);
  }

 private:
  void FindWakings() {
    const std::vector<Tid> watched = recording_.WatchedThreads();
    for (size_t i = 0; i < recording_.events.size(); ++i) {
      const auto* waking = std::get_if<WakingEvent>(&recording_.events[i].body);
      if (waking == nullptr) continue;
      if (std::find(watched.begin(), watched.end(), waking->wakee) != watched.end()) {
        wakings_.push_back(i);
      }
    }
  }

  void AnnotateFrame(size_t index, const Miss* miss, DebugAnnotations& annotations) const {
    const Frame& frame = recording_.frames.frames[index];
    annotations.Int(perfetto::kFrame, frame.index);  // first: the reader knows a frame by it
    if (miss != nullptr && miss->verdict) annotations.Text("why", VerdictInWords(*miss->verdict));
    if (miss != nullptr) annotations.Int("late_ns", frame.completion_ns - miss->deadline_ns);
    annotations.Int("release_ns", frame.release_ns);
    annotations.Int("start_ns", frame.start_ns);
    annotations.Int("completion_ns", frame.completion_ns);
    annotations.Int("cpu_ns", frame.cpu_ns);
    annotations.Int("demand_ns", frame.demand_ns);
    AnnotateNumbers("passed_ns", recording_.frames.PassedNs(index), annotations);
    AnnotateNumbers("stage_cpu_ns", recording_.frames.StageCpuNs(index), annotations);
    if (recording_.frames.pacing != Pacing::kBackToBack) {
      annotations.Int("deadline_ns", recording_.frames.DeadlineNs(frame.index));
    }
    if (miss == nullptr) return;
    annotations.Int("dropped", miss->dropped);
    if (miss->verdict) AnnotateVerdict(*miss->verdict, annotations);
  }

  // The first track whose last frame is over; a new one where none is.
  uint64_t TrackFor(int64_t begin_ns, int64_t end_ns) {
    size_t lane = 0;
    while (lane < ends_.size() && ends_[lane] > begin_ns) ++lane;
    const uint64_t track = kFirstFrameTrack + lane;
    if (lane == ends_.size()) {
      ends_.push_back(end_ns);
      std::string name = absl::StrCat(perfetto::AsciiOfBytes(recording_.workload), " frames");
      if (lane > 0) absl::StrAppend(&name, ", overlapping ", lane);
      packets_.Track(track, parent_, name);
    }
    ends_[lane] = end_ns;
    return track;
  }

  void WriteSegment(const Segment& segment, uint64_t track) {
    FlowEnds flow;
    flow.arrives = WriteWaker(segment);
    std::string name = ToString(segment.kind);
    if (segment.stage) name = absl::StrCat(EscapeForTerminal(segment.stage->name), ": ", name);
    if (segment.decision) absl::StrAppend(&name, ": ", ToString(*segment.decision));
    packets_.SliceBegin(
        segment.start_ns, track, name,
        [&](DebugAnnotations& annotations) { AnnotateSegment(segment, annotations); }, flow);
    packets_.SliceEnd(std::max(segment.start_ns, segment.end_ns), track);
  }

  // The waking of the segment's thread with which it begins; null where it begins with none.
  const SchedEvent* WakingAt(const Segment& segment) const {
    const Tid thread = segment.stage ? segment.stage->tid : recording_.watched;
    auto at = std::lower_bound(
        wakings_.begin(), wakings_.end(), segment.start_ns,
        [&](size_t i, int64_t time_ns) { return recording_.events[i].time_ns < time_ns; });
    for (; at != wakings_.end(); ++at) {
      const SchedEvent& event = recording_.events[*at];
      if (event.time_ns != segment.start_ns) break;
      if (std::get<WakingEvent>(event.body).wakee == thread) return &event;
    }
    return nullptr;
  }

  // The arrow's begin, for a segment that begins at a waking of its thread.
  std::optional<uint64_t> WriteWaker(const Segment& segment) {
    const SchedEvent* found = WakingAt(segment);
    if (found == nullptr) return std::nullopt;
    const SchedEvent& event = *found;
    if (flows_++ == 0) packets_.Track(kWakersTrack, parent_, "woken by");
    const auto& waking = std::get<WakingEvent>(event.body);
    const uint64_t flow = kFirstFlow + flows_;
    const std::string name = segment.waker.empty() ? absl::StrCat(perfetto::WordOf(waking.context),
                                                                  " on tid ", waking.waker.value)
                                                   : EscapeForTerminal(segment.waker);
    packets_.Instant(event.time_ns, kWakersTrack, name,
                     [&](DebugAnnotations& annotations) {
                       annotations.Int("tid", waking.waker.value);
                       annotations.Int("cpu", event.cpu.value);
                       annotations.Text("context", perfetto::WordOf(waking.context));
                     },
                     {.leaves = flow, .arrives = {}});
    return flow;
  }

  const Recording& recording_;
  PacketStream& packets_;
  uint64_t parent_ = kRootTrack;
  std::vector<int64_t> ends_;    // of the last frame, by track
  std::vector<size_t> wakings_;  // of watched threads, among the recording's events
  uint64_t flows_ = 0;
};

}  // namespace

void WriteFrames(const Recording& recording, const Explanation* explanation,
                 PacketStream& packets) {
  FrameTracks tracks(recording, packets);
  // Misses are in the order of the frames.
  size_t next_miss = 0;
  for (size_t i = 0; i < recording.frames.frames.size(); ++i) {
    const Miss* miss = nullptr;
    if (explanation != nullptr && next_miss < explanation->misses.size() &&
        explanation->misses[next_miss].frame.index == recording.frames.frames[i].index) {
      miss = &explanation->misses[next_miss++];
    }
    tracks.Write(i, miss);
  }
}

}  // namespace whylate
