#include "analysis/import/perfetto_own_recording.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "analysis/import/event_runs.h"
#include "analysis/import/perfetto_annotations.h"
#include "analysis/import/perfetto_own_events.h"
#include "analysis/import/perfetto_own_head.h"
#include "analysis/import/perfetto_packets.h"
#include "analysis/model/cpu_set.h"
#include "analysis/model/huge_pages.h"
#include "analysis/model/perfetto_fields.h"
#include "analysis/model/status_macros.h"

namespace whylate {
namespace {

// Losses, and omitted stretches, of which a recording of ours has no more than frames.
constexpr size_t kMostStretches = 50'000;

// The writer's smallest event is larger.
constexpr size_t kLeastEventBytes = 16;

class OwnReader {
 public:
  explicit OwnReader(const ImportLimits& limits)
      : limits_(limits), events_(limits.events, &trace_.recording.events) {}

  absl::StatusOr<ImportedTrace> Read(absl::string_view bytes) {
    size_bytes_ = bytes.size();
    const PerfettoPacketSummary summary = ForEachPacket(
        bytes, limits_, [this](const PerfettoPacket& packet) { return Visit(packet); });
    RETURN_IF_ERROR(status_);
    if (!has_head_) return absl::InvalidArgumentError("a whylate recording without its beginning");
    RETURN_IF_ERROR(CheckFrames(trace_.recording.frames));
    trace_.format = "whylate recording";
    trace_.has_frames = true;
    Close(summary, bytes.size());
    OrderEvents();
    return std::move(trace_);
  }

 private:
  PacketUse Visit(const PerfettoPacket& packet) {
    if (packet.track_event.data() != nullptr) return VisitTrackEvent(packet.track_event);
    if (packet.ftrace_events.data() == nullptr || !has_head_) return PacketUse::kGood;
    const size_t before = trace_.recording.events.size();
    const bool good = events_.ReadBundle(packet.ftrace_events);
    if (!good && !trouble_at_) trouble_at_ = before;
    OrderStretches();
    return good ? PacketUse::kGood : PacketUse::kMalformed;
  }

  // Once a stretch is whole: it is in the processor's cache.
  void OrderStretches() {
    const std::span<SchedEvent> events = trace_.recording.events;
    while (events.size() - ordered_ >= counts_.stretch_events) {
      MergeRuns(events.subspan(ordered_, static_cast<size_t>(counts_.stretch_events)));
      ordered_ += static_cast<size_t>(counts_.stretch_events);
    }
  }

  // Into the total order: what is left of the last stretch, and all where a file's stretches are not
  // in order themselves.
  void OrderEvents() {
    const std::span<SchedEvent> events = trace_.recording.events;
    ordered_ = std::min(ordered_, events.size());
    MergeRuns(events.subspan(ordered_));
    bool in_order = true;
    for (size_t i = ordered_; i > 0; i -= static_cast<size_t>(counts_.stretch_events)) {
      in_order = in_order && (i == events.size() || !Before(events[i], events[i - 1]));
    }
    if (!in_order) MergeRuns(events);
  }

  PacketUse VisitTrackEvent(absl::string_view bytes) {
    TrackEventView event;
    if (!ReadTrackEvent(bytes, limits_.names, &event)) return PacketUse::kMalformed;
    if (event.name == perfetto::kRecording) {
      if (has_head_) {
        trace_.notes.push_back("several recordings in one file: only the first was read");
        return PacketUse::kStop;
      }
      has_head_ = true;
      status_ = ReadOwnHead(event.annotations, &trace_.recording, &counts_);
      ReserveEvents();
      return status_.ok() ? PacketUse::kGood : PacketUse::kStop;
    }
    return ReadSlice(event.annotations) ? PacketUse::kGood : PacketUse::kMalformed;
  }

  // A file may lie about how many it has.
  void ReserveEvents() {
    const uint64_t most = std::min(limits_.events, size_bytes_ / kLeastEventBytes);
    std::vector<SchedEvent>& events = trace_.recording.events;
    events.reserve(static_cast<size_t>(std::min(counts_.events, most)));
    PreferHugePages(events.data(), events.capacity() * sizeof(SchedEvent));
  }

  bool ReadSlice(const std::vector<Annotation>& facts) {
    // What makes a slice one of these comes first in it.
    if (facts.empty() || !has_head_) return true;
    Recording& recording = trace_.recording;
    const absl::string_view kind = facts.front().name;
    const int64_t value = facts.front().value;
    if (kind == perfetto::kFrame) {
      if (recording.frames.frames.size() >= limits_.names) return false;
      return ReadFrame(value, facts, &recording.frames);
    } else if (kind == perfetto::kLossCpu) {
      if (recording.losses.size() >= kMostStretches) return false;
      if (value < 0 || value >= CpuSet::kMaxCpus) return false;
      recording.losses.push_back({CpuId{static_cast<int32_t>(value)}, NumberOf(facts, "begin_ns"),
                                  NumberOf(facts, "end_ns"),
                                  static_cast<uint64_t>(NumberOf(facts, "count"))});
    } else if (kind == perfetto::kOmittedBeginNs) {
      if (recording.omitted.size() >= MostOmitted()) return false;
      recording.omitted.push_back({value, NumberOf(facts, "end_ns")});
    }
    return true;
  }

  // Of a chain a frame is one only with what each stage did.
  static bool ReadFrame(int64_t index, const std::vector<Annotation>& facts, CellFrames* cell) {
    const size_t stages = cell->stages.size();
    const Annotation* passed = Find(facts, "passed_ns");
    const Annotation* cpu = Find(facts, "stage_cpu_ns");
    const size_t passes = passed == nullptr ? 0 : passed->children.size();
    const size_t amounts = cpu == nullptr ? 0 : cpu->children.size();
    if (amounts != stages || passes != (stages == 0 ? 0 : stages - 1)) return false;
    for (size_t i = 0; i < passes; ++i) cell->passed_ns.push_back(passed->children[i].value);
    for (size_t i = 0; i < amounts; ++i) cell->stage_cpu_ns.push_back(cpu->children[i].value);
    cell->frames.push_back({index, NumberOf(facts, "release_ns"), NumberOf(facts, "start_ns"),
                            NumberOf(facts, "completion_ns"), NumberOf(facts, "cpu_ns"),
                            NumberOf(facts, "demand_ns")});
    return true;
  }

  // Each of them is one on every CPU.
  size_t MostOmitted() const {
    return kMostStretches / std::max<size_t>(1, trace_.recording.cpus.size() / 16);
  }

  // Says what the file lacks, and keeps the analysis from taking it for what did not happen.
  void Close(const PerfettoPacketSummary& summary, size_t size) {
    Recording& recording = trace_.recording;
    const bool too_many = events_.full() && counts_.events > limits_.events;
    const bool short_of = recording.frames.frames.size() < counts_.frames ||
                          recording.losses.size() < counts_.losses ||
                          recording.omitted.size() < counts_.omitted ||
                          recording.events.size() < counts_.events;
    // A cut between two packets shows in the numbers alone.
    if (summary.cut_at || (short_of && !too_many && summary.malformed == 0)) {
      Note(absl::StrCat("cut off after ", summary.cut_at.value_or(size), " bytes"));
    }
    if (too_many) {
      Note(absl::StrCat("only the first ", limits_.events, " of ", counts_.events,
                        " events were read"));
    } else {
      if (summary.malformed > 0) Note(absl::StrCat(summary.malformed, " packets are broken"));
      NoteMissing("events", recording.events.size(), counts_.events);
    }
    NoteMissing("frames", recording.frames.frames.size(), counts_.frames);
    NoteMissing("losses", recording.losses.size(), counts_.losses);
    NoteMissing("omitted stretches", recording.omitted.size(), counts_.omitted);
    if (recording.events.size() != counts_.events || trouble_at_) KeepWholeStretches();
  }

  void Note(std::string note) { trace_.notes.push_back(std::move(note)); }

  void NoteMissing(absl::string_view what, size_t read, uint64_t there) {
    if (read != there) Note(absl::StrCat(read, " of ", there, " ", what, " are there"));
  }

  void KeepWholeStretches() {
    std::vector<SchedEvent>& events = trace_.recording.events;
    const size_t good = trouble_at_.value_or(events.size());
    const size_t whole = good - static_cast<size_t>(good % counts_.stretch_events);
    events.resize(whole);
    int64_t known_until_ns = trace_.recording.begin_ns;
    for (const SchedEvent& event : events) known_until_ns = std::max(known_until_ns, event.time_ns);
    trace_.recording.omitted.push_back(
        {known_until_ns, std::max(known_until_ns, trace_.recording.end_ns)});
  }

  const ImportLimits& limits_;
  ImportedTrace trace_;
  OwnEventReader events_;
  OwnCounts counts_;
  absl::Status status_;
  size_t size_bytes_ = 0;
  bool has_head_ = false;
  size_t ordered_ = 0;                // events of stretches that are in order, each of them
  std::optional<size_t> trouble_at_;  // events before the first bundle that is broken
};

}  // namespace

bool IsOwnRecording(absl::string_view bytes, const ImportLimits& limits) {
  // A clock and a track come before it.
  constexpr int kFirstPackets = 8;
  int packets = 0;
  bool found = false;
  ForEachPacket(bytes, limits, [&](const PerfettoPacket& packet) {
    TrackEventView event;
    if (packet.track_event.data() != nullptr &&
        ReadTrackEvent(packet.track_event, limits.names, &event)) {
      found = event.name == perfetto::kRecording;
    }
    return found || ++packets == kFirstPackets ? PacketUse::kStop : PacketUse::kGood;
  });
  return found;
}

absl::StatusOr<ImportedTrace> ReadOwnRecording(absl::string_view bytes,
                                               const ImportLimits& limits) {
  return OwnReader(limits).Read(bytes);
}

}  // namespace whylate
