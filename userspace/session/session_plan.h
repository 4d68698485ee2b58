// Which cells a session has, and whether its options make sense: all that is decided before
// anything is started.
#ifndef WHYLATE_USERSPACE_SESSION_SESSION_PLAN_H_
#define WHYLATE_USERSPACE_SESSION_SESSION_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/report/report.h"
#include "userspace/session/cell_runner.h"

namespace whylate {

inline constexpr int64_t kMinDurationNs = 100000000;                    // 100 ms
inline constexpr int64_t kMaxDurationNs = 86400 * int64_t{1000000000};  // a day
inline constexpr int32_t kMaxLoadThreads = 4096;
inline constexpr int64_t kMinBufferBytes = 4096;
inline constexpr int64_t kMaxBufferBytes = int64_t{512} << 20;  // the most a BPF ring buffer can be
inline constexpr int32_t kMaxRepeat = 1000;
inline constexpr size_t kMaxCommandBytes = 8192;

// Fills what the user left open: workloads, loads and duration from `options.preset`, or, without
// one, "quick" where neither workload, load, command line nor duration is given, else 10 s cells of
// quick's lists, or of load command where its line is given. InvalidArgument for an unknown preset.
absl::Status FillFromPreset(SessionOptions& options);

// The cells in the order in which they run: repeats outermost, so that slow changes of the machine
// spread over all cells. InvalidArgument names the option that is wrong.
absl::StatusOr<std::vector<CellPlan>> PlanCells(const SessionOptions& options);

// Threads of a load: as told, else one per CPU that the session may use.
absl::StatusOr<int32_t> ResolveLoadThreads(const SessionOptions& options);

// About how long `cells` take, in ns.
int64_t EstimateNs(const SessionOptions& options, size_t cells);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SESSION_SESSION_PLAN_H_
