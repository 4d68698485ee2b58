// The packets of a Perfetto trace, one after the other, unpacked where they are compressed.
#ifndef WHYLATE_ANALYSIS_IMPORT_PERFETTO_PACKETS_H_
#define WHYLATE_ANALYSIS_IMPORT_PERFETTO_PACKETS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "analysis/import/imported_trace.h"

namespace whylate {

// What is read of a packet; views of what it has not are null. Valid while it is visited.
struct PerfettoPacket {
  absl::string_view ftrace_events;
  absl::string_view process_tree;
  absl::string_view clock_snapshot;
  absl::string_view ftrace_stats;
  absl::string_view system_info;
  absl::string_view track_event;
  uint32_t sequence = 0;  // of the writer, whose packets are in order
  bool previous_dropped =
      false;  // packets of this sequence are missing before, if it is not the first
  bool unread_before = false;  // packets between the visited one before and this could not be read
};

struct PerfettoPacketSummary {
  uint64_t packets = 0;            // those that could be read
  uint64_t malformed = 0;          // skipped
  uint64_t zstd = 0;               // skipped: packed in a way that is not read
  bool unpacked_too_much = false;  // packets beyond the limit were skipped
  bool stopped = false;            // by the visitor
  bool unread_at_end = false;      // what follows the last packet could not be read
  // Where the first packet begins that is not whole; unset where the file ends with a whole one.
  std::optional<size_t> cut_at;
};

// What a visitor says of a packet.
enum class PacketUse { kGood, kMalformed, kStop };

// Memory: one compressed packet's content at a time, of at most limits.unpacked_bytes; all of them
// together unpack to no more than 16 times that.
PerfettoPacketSummary ForEachPacket(absl::string_view bytes, const ImportLimits& limits,
                                    absl::FunctionRef<PacketUse(const PerfettoPacket&)> visit);

// One event of a bundle.
struct FtraceEventView {
  int64_t time_ns = 0;
  std::optional<int32_t> pid;     // the task current on the CPU
  std::optional<uint64_t> flags;  // common_flags
  uint32_t kind = 0;  // the number of its field in FtraceEvent; 0: none that is a message
  absl::string_view body;
};

// False where it is malformed.
bool ReadFtraceEvent(absl::string_view bytes, FtraceEventView* event);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_PERFETTO_PACKETS_H_
