// The simulated interactive tasks: what is periodic, how often, how much work, and until when.
//
// One table holds them; a new workload is a new row. A Workload is a row with a user's values in
// place (custom) and says everything that pacing and accounting need.
//
//   ASSIGN_OR_RETURN(Workload video, MakeWorkload("video", {}));
//   video.period;        // 1/60 s
//   video.DemandNs(5, 600);  // 40 % of it
#ifndef WHYLATE_USERSPACE_WORKLOAD_WORKLOAD_H_
#define WHYLATE_USERSPACE_WORKLOAD_WORKLOAD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/model/frame.h"

namespace whylate {

struct Workload {
  std::string name;   // "video"
  std::string title;  // "Video (60 Hz, 40 %)"
  Pacing pacing = Pacing::kSkip;
  Period period;              // kBackToBack: of the grace at the end of a cell only
  int64_t demand_ns = 0;      // of each frame; of a ramp, its largest
  std::vector<Stage> stages;  // of a chain; their demands add up to demand_ns, tids are not set
  bool ramp = false;          // demand grows from 0 to demand_ns in 101 steps, again and again

  // Demand of release `index` of the `release_count` that a cell has. A ramp that does not fit
  // strides evenly, so that its last step is still the largest.
  int64_t DemandNs(int64_t index, int64_t release_count) const;
};

// Values that only some workloads take.
struct WorkloadValues {
  std::optional<double> cpu_percent;   // custom: 0 < P <= 100
  std::optional<int64_t> interval_us;  // custom: 100 us .. 10 s
};

// InvalidArgument, with the known names, for an unknown one; and for custom without its values.
absl::StatusOr<Workload> MakeWorkload(absl::string_view name, const WorkloadValues& values);

struct WorkloadRow {
  const char* name;
  const char* summary;  // one line, for --list
};
// All of them, in the order of the classic report.
const std::vector<WorkloadRow>& WorkloadRows();

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_WORKLOAD_WORKLOAD_H_
