// The selftest: provokes every cause of the ground truth, and sees whether each is named right.
//
//   ASSIGN_OR_RETURN(const SelftestResult result, RunSelftest(options, observer));
//   for (const ScenarioResult& scenario : result.scenarios) scenario.Ok();
//
// The calling process becomes a supervisor, as in a session, and nothing of it is left on the machine
// however it ends. One at a time, from a process with one thread.
#ifndef WHYLATE_USERSPACE_SELFTEST_SELFTEST_H_
#define WHYLATE_USERSPACE_SELFTEST_SELFTEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "userspace/selftest/prediction.h"
#include "userspace/selftest/scenarios.h"
#include "userspace/selftest/score.h"

namespace whylate {

struct SelftestOptions {
  std::vector<std::string> scenarios;  // by name; empty: all
  int64_t runs = 1;                    // of each
  int64_t duration_ns = 3000000000;    // of a run
  std::string source = "bpf";          // of the trace
  std::string workdir = ".";           // for files
};

struct ScenarioResult {
  const ScenarioRow* row = nullptr;
  Score score;
  std::optional<Prediction> prediction;
  std::optional<std::string> skipped;  // what this machine lacks for it
  // Why its proof is not complete though no verdict is wrong.
  std::vector<std::string> unproven;

  bool Ok() const { return score.wrong.empty() && unproven.empty(); }
};

struct SelftestResult {
  std::vector<ScenarioResult> scenarios;
  double busy_share = 0;  // of all CPUs, by others, before it began
  bool interrupted = false;

  // Nothing is wrong, and all that was not skipped is proven.
  bool Ok() const;
};

// Told what happens, between measurements.
class SelftestObserver {
 public:
  virtual ~SelftestObserver() = default;
  // Before run `run` of scenario `index` of `count`; `left_ns` until the end, about.
  virtual void OnRun(const ScenarioRow& row, size_t index, size_t count, int64_t run,
                     int64_t left_ns) = 0;
};

// About how long it takes.
int64_t EstimateSelftestNs(const SelftestOptions& options);

// The scenarios that were asked for, in the table's order. InvalidArgument names an unknown one, and
// those that exist.
absl::StatusOr<std::vector<const ScenarioRow*>> SelectScenarios(const SelftestOptions& options);

// PermissionDenied where this is not root; what else makes the whole of it impossible is an error too.
absl::StatusOr<SelftestResult> RunSelftest(const SelftestOptions& options,
                                           SelftestObserver& observer);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SELFTEST_SELFTEST_H_
