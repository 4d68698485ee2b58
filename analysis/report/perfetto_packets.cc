#include "analysis/report/perfetto_packets.h"

#include <string>

#include "analysis/model/perfetto_fields.h"

namespace whylate {
namespace {

using protozero::pbf_writer;

// All packets are of one writer, whose state never depends on earlier ones.
constexpr uint32_t kSequenceId = 1;
constexpr char kCategory[] = "whylate";

}  // namespace

void DebugAnnotations::Int(absl::string_view name, int64_t value) {
  pbf_writer annotation(message_, field_);
  if (!name.empty()) AddText(annotation, perfetto::DebugAnnotation::kName, name);
  annotation.add_int64(perfetto::DebugAnnotation::kIntValue, value);
}

void DebugAnnotations::Uint(absl::string_view name, uint64_t value) {
  pbf_writer annotation(message_, field_);
  if (!name.empty()) AddText(annotation, perfetto::DebugAnnotation::kName, name);
  annotation.add_uint64(perfetto::DebugAnnotation::kUintValue, value);
}

void DebugAnnotations::Bool(absl::string_view name, bool value) {
  pbf_writer annotation(message_, field_);
  if (!name.empty()) AddText(annotation, perfetto::DebugAnnotation::kName, name);
  annotation.add_bool(perfetto::DebugAnnotation::kBoolValue, value);
}

void DebugAnnotations::Text(absl::string_view name, absl::string_view value) {
  pbf_writer annotation(message_, field_);
  if (!name.empty()) AddText(annotation, perfetto::DebugAnnotation::kName, name);
  AddText(annotation, perfetto::DebugAnnotation::kStringValue, value);
}

void DebugAnnotations::Dictionary(absl::string_view name, Fill entries) {
  pbf_writer annotation(message_, field_);
  if (!name.empty()) AddText(annotation, perfetto::DebugAnnotation::kName, name);
  DebugAnnotations inner(annotation, perfetto::DebugAnnotation::kDictEntries);
  entries(inner);
}

void DebugAnnotations::Array(absl::string_view name, Fill elements) {
  // protozero leaves out a submessage that it began and that stayed empty: an array in an array would
  // lose its place.
  std::string content;
  pbf_writer annotation(content);
  if (!name.empty()) AddText(annotation, perfetto::DebugAnnotation::kName, name);
  DebugAnnotations inner(annotation, perfetto::DebugAnnotation::kArrayValues);
  elements(inner);
  message_.add_message(field_, content);
}

void PacketStream::Packet(absl::FunctionRef<void(pbf_writer&)> fill) {
  buffer_.clear();
  {
    pbf_writer trace(buffer_);
    pbf_writer packet(trace, perfetto::Trace::kPacket);
    fill(packet);
    packet.add_uint32(perfetto::Packet::kSequenceId, kSequenceId);
    if (first_) {
      packet.add_uint32(perfetto::Packet::kSequenceFlags,
                        perfetto::Packet::kIncrementalStateCleared);
      first_ = false;
    }
  }
  out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
}

void PacketStream::Clock(int64_t time_ns) {
  Packet([&](pbf_writer& packet) {
    pbf_writer snapshot(packet, perfetto::Packet::kClockSnapshot);
    // A bundle of ftrace events that names no clock is of CLOCK_BOOTTIME, and no other value means
    // CLOCK_MONOTONIC. Equating the two here puts the events at their monotonic times.
    for (const uint32_t id : {perfetto::Clock::kMonotonic, perfetto::Clock::kBoottime}) {
      pbf_writer clock(snapshot, perfetto::ClockSnapshot::kClocks);
      clock.add_uint32(perfetto::Clock::kClockId, id);
      clock.add_uint64(perfetto::Clock::kTimestamp, static_cast<uint64_t>(time_ns));
    }
    snapshot.add_enum(perfetto::ClockSnapshot::kPrimaryTraceClock,
                      static_cast<int32_t>(perfetto::Clock::kMonotonic));
  });
}

void PacketStream::Track(uint64_t uuid, std::optional<uint64_t> parent, absl::string_view name) {
  Packet([&](pbf_writer& packet) {
    pbf_writer track(packet, perfetto::Packet::kTrackDescriptor);
    track.add_uint64(perfetto::TrackDescriptor::kUuid, uuid);
    if (parent) track.add_uint64(perfetto::TrackDescriptor::kParentUuid, *parent);
    AddText(track, perfetto::TrackDescriptor::kName, name);
  });
}

void PacketStream::ThreadTrack(uint64_t uuid, const TrackThread& thread) {
  Packet([&](pbf_writer& packet) {
    pbf_writer track(packet, perfetto::Packet::kTrackDescriptor);
    track.add_uint64(perfetto::TrackDescriptor::kUuid, uuid);
    pbf_writer descriptor(track, perfetto::TrackDescriptor::kThread);
    descriptor.add_int32(perfetto::ThreadDescriptor::kPid, thread.tgid);
    descriptor.add_int64(perfetto::ThreadDescriptor::kTid, thread.tid);
    AddText(descriptor, perfetto::ThreadDescriptor::kThreadName, thread.name);
  });
}

void PacketStream::CounterTrack(uint64_t uuid, uint64_t parent, absl::string_view name) {
  Packet([&](pbf_writer& packet) {
    pbf_writer track(packet, perfetto::Packet::kTrackDescriptor);
    track.add_uint64(perfetto::TrackDescriptor::kUuid, uuid);
    track.add_uint64(perfetto::TrackDescriptor::kParentUuid, parent);
    AddText(track, perfetto::TrackDescriptor::kName, name);
    pbf_writer counter(track, perfetto::TrackDescriptor::kCounter);
    counter.add_enum(perfetto::CounterDescriptor::kUnit, perfetto::CounterDescriptor::kUnitCount);
  });
}

void PacketStream::Event(int64_t time_ns, uint64_t track, int32_t type,
                         absl::FunctionRef<void(pbf_writer&)> fill) {
  Packet([&](pbf_writer& packet) {
    packet.add_uint64(perfetto::Packet::kTimestamp, static_cast<uint64_t>(time_ns));
    packet.add_uint32(perfetto::Packet::kTimestampClockId, perfetto::Clock::kMonotonic);
    pbf_writer event(packet, perfetto::Packet::kTrackEvent);
    event.add_enum(perfetto::TrackEvent::kType, type);
    event.add_uint64(perfetto::TrackEvent::kTrackUuid, track);
    fill(event);
  });
}

void PacketStream::Named(int64_t time_ns, uint64_t track, int32_t type, absl::string_view name,
                         DebugAnnotations::Fill annotate, const FlowEnds& flow) {
  Event(time_ns, track, type, [&](pbf_writer& event) {
    AddText(event, perfetto::TrackEvent::kName, name);
    AddText(event, perfetto::TrackEvent::kCategories, kCategory);
    if (flow.leaves) event.add_fixed64(perfetto::TrackEvent::kFlowIds, *flow.leaves);
    if (flow.arrives) event.add_fixed64(perfetto::TrackEvent::kTerminatingFlowIds, *flow.arrives);
    DebugAnnotations annotations(event, perfetto::TrackEvent::kDebugAnnotations);
    annotate(annotations);
  });
}

void PacketStream::SliceBegin(int64_t time_ns, uint64_t track, absl::string_view name,
                              DebugAnnotations::Fill annotate, const FlowEnds& flow) {
  Named(time_ns, track, perfetto::TrackEvent::kSliceBegin, name, annotate, flow);
}

void PacketStream::SliceEnd(int64_t time_ns, uint64_t track) {
  Event(time_ns, track, perfetto::TrackEvent::kSliceEnd, [](pbf_writer&) {});
}

void PacketStream::Instant(int64_t time_ns, uint64_t track, absl::string_view name,
                           DebugAnnotations::Fill annotate, const FlowEnds& flow) {
  Named(time_ns, track, perfetto::TrackEvent::kInstant, name, annotate, flow);
}

void PacketStream::Counter(int64_t time_ns, uint64_t track, int64_t value) {
  Event(time_ns, track, perfetto::TrackEvent::kCounter,
        [&](pbf_writer& event) { event.add_int64(perfetto::TrackEvent::kCounterValue, value); });
}

}  // namespace whylate
