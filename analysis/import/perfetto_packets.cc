#include "analysis/import/perfetto_packets.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "analysis/import/perfetto_proto.h"
#include "analysis/model/perfetto_fields.h"

namespace whylate {
namespace {

// Unpacks `packed` (zlib) into `out`, of at most `limit` bytes. False where it is not whole, not
// zlib, or longer.
bool Inflate(absl::string_view packed, size_t limit, std::string* out) {
  constexpr size_t kStep = size_t{64} << 10;
  out->clear();
  z_stream stream{};
  if (packed.size() > std::numeric_limits<uInt>::max() || inflateInit(&stream) != Z_OK) {
    return false;
  }
  // zlib's own type is not const; it does not write there.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  int result = Z_OK;
  while (result == Z_OK && out->size() < limit) {
    const size_t old_size = out->size();
    const size_t step = std::min({std::max(kStep, old_size), limit - old_size, kStep << 8});
    out->resize(old_size + step);
    stream.next_out = reinterpret_cast<Bytef*>(out->data() + old_size);
    stream.avail_out = static_cast<uInt>(step);
    result = inflate(&stream, Z_NO_FLUSH);
    out->resize(out->size() - stream.avail_out);
    // Everything was given, and more is wanted: cut off.
    if (result == Z_OK && stream.avail_in == 0 && stream.avail_out != 0) break;
  }
  inflateEnd(&stream);
  return result == Z_STREAM_END;
}

class PacketWalk {
 public:
  PacketWalk(const ImportLimits& limits, absl::FunctionRef<PacketUse(const PerfettoPacket&)> visit)
      : limits_(limits), unpacked_left_(limits.unpacked_bytes), visit_(visit) {
    constexpr size_t kAllTogether = 16;
    const size_t most = std::numeric_limits<size_t>::max() / kAllTogether;
    unpacked_left_ = std::min(limits.unpacked_bytes, most) * kAllTogether;
  }

  PerfettoPacketSummary Run(absl::string_view bytes) {
    ProtoReader reader(bytes);
    for (ProtoField field; !summary_.stopped && reader.Next(&field);) {
      if (field.number == perfetto::Trace::kPacket && field.is_bytes) Packet(field.bytes, true);
    }
    if (reader.malformed()) summary_.cut_at = reader.consumed();
    summary_.unread_at_end = unread_ || reader.malformed();
    return summary_;
  }

 private:
  void Packet(absl::string_view bytes, bool may_be_packed) {
    PerfettoPacket packet;
    absl::string_view packed;
    bool zstd = false;
    ProtoReader reader(bytes);
    for (ProtoField field; reader.Next(&field);) {
      if (!field.is_bytes) {
        if (field.number == perfetto::Packet::kSequenceId) {
          packet.sequence = static_cast<uint32_t>(field.value);
        } else if (field.number == perfetto::Packet::kPreviousPacketDropped) {
          packet.previous_dropped = field.Bool();
        }
        continue;
      }
      switch (field.number) {
        case perfetto::Packet::kFtraceEvents:
          packet.ftrace_events = field.bytes;
          break;
        case perfetto::Packet::kProcessTree:
          packet.process_tree = field.bytes;
          break;
        case perfetto::Packet::kClockSnapshot:
          packet.clock_snapshot = field.bytes;
          break;
        case perfetto::Packet::kFtraceStats:
          packet.ftrace_stats = field.bytes;
          break;
        case perfetto::Packet::kSystemInfo:
          packet.system_info = field.bytes;
          break;
        case perfetto::Packet::kTrackEvent:
          packet.track_event = field.bytes;
          break;
        case perfetto::Packet::kCompressedPackets:
          packed = field.bytes;
          break;
        case perfetto::Packet::kZstdCompressedPackets:
          zstd = true;
          break;
        default:
          break;
      }
    }
    if (reader.malformed()) {
      ++summary_.malformed;
      unread_ = true;
      return;
    }
    if (zstd) {
      ++summary_.zstd;
      unread_ = true;
    }
    if (packed.data() != nullptr && may_be_packed) {
      Unpack(packed);
      return;
    }
    packet.unread_before = std::exchange(unread_, false);
    Visit(packet);
  }

  void Visit(const PerfettoPacket& packet) {
    switch (visit_(packet)) {
      case PacketUse::kGood:
        ++summary_.packets;
        break;
      case PacketUse::kMalformed:
        ++summary_.malformed;
        break;
      case PacketUse::kStop:
        summary_.stopped = true;
    }
  }

  void Unpack(absl::string_view packed) {
    const size_t limit = std::min(limits_.unpacked_bytes, unpacked_left_);
    const bool whole = Inflate(packed, limit, &unpacked_);
    unpacked_left_ -= unpacked_.size();
    if (!whole) {
      ++summary_.malformed;
      if (unpacked_.size() >= limit) summary_.unpacked_too_much = true;
    }
    // Packets in packets in packets are no trace's.
    ProtoReader reader(unpacked_);
    for (ProtoField field; !summary_.stopped && reader.Next(&field);) {
      if (field.number == perfetto::Trace::kPacket && field.is_bytes) Packet(field.bytes, false);
    }
    if (!whole || reader.malformed()) unread_ = true;
  }

  const ImportLimits& limits_;
  size_t unpacked_left_;
  std::string unpacked_;
  absl::FunctionRef<PacketUse(const PerfettoPacket&)> visit_;
  PerfettoPacketSummary summary_;
  bool unread_ = false;  // since the last packet that was visited
};

}  // namespace

PerfettoPacketSummary ForEachPacket(absl::string_view bytes, const ImportLimits& limits,
                                    absl::FunctionRef<PacketUse(const PerfettoPacket&)> visit) {
  return PacketWalk(limits, visit).Run(bytes);
}

bool ReadFtraceEvent(absl::string_view bytes, FtraceEventView* event) {
  *event = FtraceEventView();
  ProtoReader reader(bytes);
  for (ProtoField field; reader.Next(&field);) {
    if (field.is_bytes) {
      event->kind = field.number;
      event->body = field.bytes;
    } else if (field.number == perfetto::FtraceEvent::kTimestamp) {
      event->time_ns = field.Int64();
    } else if (field.number == perfetto::FtraceEvent::kPid) {
      event->pid = field.Int32();
    } else if (field.number == perfetto::FtraceEvent::kCommonFlags) {
      event->flags = field.value;
    }
  }
  return !reader.malformed();
}

}  // namespace whylate
