#include "tests/support/stage.h"

#include <unistd.h>

#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "userspace/platform/ability_probes.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/cpu_topology.h"
#include "userspace/platform/process.h"
#include "userspace/platform/scheduling.h"
#include "userspace/session/sweep.h"
#include "userspace/trace/bpf_source.h"
#include "userspace/workload/calibration.h"

namespace whylate {
namespace {

int64_t LoopsPerMs() {
  static const int64_t loops_per_ms = Calibrate(500 * kNsPerMs).loops_per_ms;
  return loops_per_ms;
}

}  // namespace

int64_t NumberFromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  int64_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) && value > 0 ? value : otherwise;
}

std::string WhyNoStage() {
  if (geteuid() != 0) return "needs root";
  if (const absl::Status usable = BpfUsable(); !usable.ok()) return usable.ToString();
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) return "needs two CPUs";
  const absl::Status real_time = TryRealTime();
  return real_time.ok() ? "" : real_time.ToString();
}

ScenarioStage MakeStage() {
  ScenarioStage stage;
  stage.home = CpuId{0};
  stage.other = CpuId{1};
  stage.far = FarCpu(stage.home, GetAffinity(Tid{0}).value());
  stage.duration_ns = NumberFromEnvironment("WHYLATE_SECONDS", 2) * kNsPerSecond;
  stage.loops_per_ms = LoopsPerMs();
  stage.run_id = MakeRunId(ReadProcess(Tgid{getpid()})->identity);
  return stage;
}

}  // namespace whylate
