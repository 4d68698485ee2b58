#include "userspace/workload/workload.h"

#include <array>
#include <cmath>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "userspace/platform/clock.h"

namespace whylate {
namespace {

constexpr int64_t kRampSteps = 101;  // 0 to 100 ms, one each ms

struct StageDefinition {
  const char* name;  // of the thread: at most 15 characters
  int64_t demand_ns;
};

// Input handling, an application and a compositor: 5, 20 and 10 % of each refresh.
constexpr std::array kDesktopStages = {StageDefinition{"desktop-input", 833333},
                                       StageDefinition{"desktop-app", 3333333},
                                       StageDefinition{"desktop-comp", 1666667}};

// Figures of the interactive tasks that interbench 0.31 simulates, and of a chain beside them.
struct Definition {
  const char* name;
  const char* title;
  const char* summary;
  Pacing pacing;
  Period period;
  int64_t demand_ns;
  bool ramp;
  std::span<const StageDefinition> stages = {};
};

constexpr std::array kDefinitions = {
    Definition{"audio", "Audio (20 Hz, 5 %)", "2.5 ms of work every 50 ms", Pacing::kSkip,
               Period{50 * kNsPerMs, 1}, 2500000, false},
    Definition{"video", "Video (60 Hz, 40 %)", "6.67 ms of work every 1/60 s", Pacing::kSkip,
               Period{kNsPerSecond, 60}, 6666667, false},
    Definition{
        "x", "X (10 Hz, 0-100 %)",
        "0 to 100 ms of work every 100 ms, growing by 1 ms a step; a late step delays the next",
        Pacing::kCarry, Period{100 * kNsPerMs, 1}, 100 * kNsPerMs, true},
    Definition{"gaming", "Gaming (back to back)", "frames of 10 ms of work, one after the other",
               Pacing::kBackToBack, Period{10 * kNsPerMs, 1}, 10 * kNsPerMs, false},
    Definition{"desktop", "Desktop (60 Hz, 5 + 20 + 10 %)",
               "three threads in a chain, input, application and compositor, every 1/60 s",
               Pacing::kSkip, Period{kNsPerSecond, 60}, 5833333, false, kDesktopStages},
};
constexpr char kCustomSummary[] = "--cpu-percent P of work every --interval US microseconds";

absl::StatusOr<Workload> MakeCustom(const WorkloadValues& values) {
  if (!values.cpu_percent || !values.interval_us) {
    return absl::InvalidArgumentError(
        "custom needs its work: give --cpu-percent P and --interval US");
  }
  const double percent = *values.cpu_percent;
  const int64_t interval_us = *values.interval_us;
  if (!(percent > 0 && percent <= 100)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("--cpu-percent %g is outside 0 < P <= 100", percent));
  }
  if (interval_us < 100 || interval_us > 10000000) {
    return absl::InvalidArgumentError(
        absl::StrFormat("--interval %d is outside 100 to 10000000 microseconds", interval_us));
  }
  Workload custom;
  custom.name = "custom";
  custom.title = absl::StrFormat("Custom (%d us, %g %%)", interval_us, percent);
  custom.period = Period{interval_us * 1000, 1};
  custom.demand_ns = std::llround(static_cast<double>(interval_us) * 10 * percent);
  return custom;
}

}  // namespace

int64_t Workload::DemandNs(int64_t index, int64_t release_count) const {
  if (!ramp) return demand_ns;
  if (release_count >= kRampSteps) return index % kRampSteps * demand_ns / (kRampSteps - 1);
  if (release_count < 2) return demand_ns;
  const int64_t step = (index * (kRampSteps - 1) + (release_count - 1) / 2) / (release_count - 1);
  return step * demand_ns / (kRampSteps - 1);
}

absl::StatusOr<Workload> MakeWorkload(absl::string_view name, const WorkloadValues& values) {
  if (name == "custom") return MakeCustom(values);
  for (const Definition& row : kDefinitions) {
    if (name != row.name) continue;
    Workload workload;
    workload.name = row.name;
    workload.title = row.title;
    workload.pacing = row.pacing;
    workload.period = row.period;
    workload.demand_ns = row.demand_ns;
    workload.ramp = row.ramp;
    for (const StageDefinition& stage : row.stages) {
      workload.stages.push_back({stage.name, Tid{}, stage.demand_ns, {}, {}});
    }
    return workload;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown workload '", name, "'; known: ",
      absl::StrJoin(WorkloadRows(), ", ",
                    [](std::string* out, const WorkloadRow& row) { out->append(row.name); })));
}

const std::vector<WorkloadRow>& WorkloadRows() {
  static const auto* const kRows = [] {
    auto* rows = new std::vector<WorkloadRow>();
    for (const Definition& row : kDefinitions) rows->push_back({row.name, row.summary});
    rows->push_back({"custom", kCustomSummary});
    return rows;
  }();
  return *kRows;
}

}  // namespace whylate
