#include "analysis/import/perfetto_own_recording.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "analysis/import/perfetto_annotations.h"
#include "analysis/import/perfetto_own_events.h"
#include "analysis/import/perfetto_own_head.h"
#include "analysis/import/perfetto_packets.h"
#include "analysis/model/cpu_set.h"
#include "analysis/model/perfetto_fields.h"
#include "analysis/model/status_macros.h"

namespace whylate {
namespace {

// Losses, and omitted stretches, of which a recording of ours has no more than frames.
constexpr size_t kMostStretches = 50'000;

// Into the total order, in which our files have them within each CPU only.
void Sort(std::vector<SchedEvent>* events) {
  if (std::is_sorted(events->begin(), events->end(), Before)) return;
  std::vector<size_t> order(events->size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return Before((*events)[a], (*events)[b]); });
  std::vector<SchedEvent> sorted;
  sorted.reserve(events->size());
  for (const size_t i : order) sorted.push_back(std::move((*events)[i]));
  *events = std::move(sorted);
}

class OwnReader {
 public:
  explicit OwnReader(const ImportLimits& limits)
      : limits_(limits), events_(limits.events, &trace_.recording.events) {}

  absl::StatusOr<ImportedTrace> Read(absl::string_view bytes) {
    const PerfettoPacketSummary summary = ForEachPacket(
        bytes, limits_, [this](const PerfettoPacket& packet) { return Visit(packet); });
    RETURN_IF_ERROR(status_);
    if (!has_head_) return absl::InvalidArgumentError("a whylate recording without its beginning");
    RETURN_IF_ERROR(CheckFrames(trace_.recording.frames));
    trace_.format = "whylate recording";
    trace_.has_frames = true;
    Close(summary, bytes.size());
    Sort(&trace_.recording.events);
    return std::move(trace_);
  }

 private:
  PacketUse Visit(const PerfettoPacket& packet) {
    if (packet.track_event.data() != nullptr) return VisitTrackEvent(packet.track_event);
    if (packet.ftrace_events.data() == nullptr || !has_head_) return PacketUse::kGood;
    const size_t before = trace_.recording.events.size();
    if (events_.ReadBundle(packet.ftrace_events)) return PacketUse::kGood;
    if (!trouble_at_) trouble_at_ = before;
    return PacketUse::kMalformed;
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
      return status_.ok() ? PacketUse::kGood : PacketUse::kStop;
    }
    return ReadSlice(event.annotations) ? PacketUse::kGood : PacketUse::kMalformed;
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
  bool has_head_ = false;
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
