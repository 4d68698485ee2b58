// Writes the packets of a Perfetto trace to a stream, one at a time: memory is bounded by the
// largest packet, and what was written is a valid trace at any moment.
//
//   PacketStream packets(out);
//   packets.Track(2, 1, "frames");
//   packets.SliceBegin(1000, 2, "frame 7", [](DebugAnnotations& a) { a.Int("index", 7); });
//   packets.SliceEnd(2000, 2);
//
// All texts must be valid UTF-8. Times are CLOCK_MONOTONIC nanoseconds. Not thread-safe.
#ifndef WHYLATE_ANALYSIS_REPORT_PERFETTO_PACKETS_H_
#define WHYLATE_ANALYSIS_REPORT_PERFETTO_PACKETS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <protozero/pbf_writer.hpp>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

namespace whylate {

// The debug annotations of one track event, or the entries of one of them.
class DebugAnnotations {
 public:
  using Fill = absl::FunctionRef<void(DebugAnnotations&)>;

  // Adds them to `message` as its field `field`; both must outlive it.
  DebugAnnotations(protozero::pbf_writer& message, uint32_t field)
      : message_(message), field_(field) {}

  // `name` is "" for an element of an array.
  void Int(absl::string_view name, int64_t value);
  void Uint(absl::string_view name, uint64_t value);
  void Bool(absl::string_view name, bool value);
  void Text(absl::string_view name, absl::string_view value);
  void Dictionary(absl::string_view name, Fill entries);
  void Array(absl::string_view name, Fill elements);

 private:
  protozero::pbf_writer& message_;
  uint32_t field_;
};

// The ends of arrows between track events: one leaves with an id, another takes it.
struct FlowEnds {
  std::optional<uint64_t> leaves;
  std::optional<uint64_t> arrives;
};

// A thread that a track belongs to.
struct TrackThread {
  int32_t tgid = 0;
  int32_t tid = 0;
  absl::string_view name;
};

class PacketStream {
 public:
  explicit PacketStream(std::ostream& out) : out_(out) {}

  // The clock of all times, as the trace's own.
  void Clock(int64_t time_ns);
  // `fill` gets the writer of the packet's fields.
  void Packet(absl::FunctionRef<void(protozero::pbf_writer&)> fill);

  void Track(uint64_t uuid, std::optional<uint64_t> parent, absl::string_view name);
  void ThreadTrack(uint64_t uuid, const TrackThread& thread);
  void CounterTrack(uint64_t uuid, uint64_t parent, absl::string_view name);

  void SliceBegin(int64_t time_ns, uint64_t track, absl::string_view name,
                  DebugAnnotations::Fill annotate, const FlowEnds& flow = {});
  void SliceEnd(int64_t time_ns, uint64_t track);
  void Instant(int64_t time_ns, uint64_t track, absl::string_view name,
               DebugAnnotations::Fill annotate, const FlowEnds& flow = {});
  void Counter(int64_t time_ns, uint64_t track, int64_t value);

 private:
  void Event(int64_t time_ns, uint64_t track, int32_t type,
             absl::FunctionRef<void(protozero::pbf_writer&)> fill);
  void Named(int64_t time_ns, uint64_t track, int32_t type, absl::string_view name,
             DebugAnnotations::Fill annotate, const FlowEnds& flow);

  std::ostream& out_;
  std::string buffer_;
  bool first_ = true;
};

// protozero's strings, from ours.
inline void AddText(protozero::pbf_writer& message, uint32_t field, absl::string_view text) {
  message.add_string(field, text.data(), text.size());
}

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_PERFETTO_PACKETS_H_
