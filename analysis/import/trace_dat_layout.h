// What a trace.dat file says of itself, before its events are read: where its parts are, and on what
// machine it was recorded. trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5) describe both versions.
//
// libtracecmd reads a file that is cut anywhere as one without events; here every part must lie
// within the file.
//
//   ASSIGN_OR_RETURN(TraceDatLayout layout, ReadTraceDatLayout(bytes));
//   layout.uname;  // "Linux host 6.1.0-18 x86_64"
#ifndef WHYLATE_ANALYSIS_IMPORT_TRACE_DAT_LAYOUT_H_
#define WHYLATE_ANALYSIS_IMPORT_TRACE_DAT_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/model/ids.h"

namespace whylate {

// The counters of one CPU's buffer when the recording ended (per_cpu/cpuN/stats).
struct TraceDatCpuStats {
  CpuId cpu;
  uint64_t unread = 0;   // left in the buffer
  uint64_t overrun = 0;  // the oldest, overwritten
  uint64_t dropped = 0;  // the newest, for want of room
};

struct TraceDatCpuData {
  CpuId cpu;
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
};

struct TraceDatLayout {
  int32_t version = 0;      // 6 or 7
  std::string compression;  // "", "none", "zstd" ..
  std::optional<std::string> uname;
  std::optional<std::string> clock;  // "local", "mono" ..
  std::vector<TraceDatCpuStats> stats;
  std::vector<TraceDatCpuData> cpus;   // of the main buffer
  std::vector<std::string> instances;  // names of further buffers

  // The release of the kernel out of `uname`; "" where that is not known.
  std::string Kernel() const;
};

// It begins as a trace.dat does.
bool LooksLikeTraceDat(absl::string_view bytes);

// InvalidArgument, in one line, for another kind of file, another version, or one that is cut.
// O(parts); reads no events.
absl::StatusOr<TraceDatLayout> ReadTraceDatLayout(absl::string_view bytes);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_TRACE_DAT_LAYOUT_H_
