#include "userspace/session/sweep.h"

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "userspace/platform/cgroup.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/files.h"
#include "userspace/session/child_spec.h"
#include "userspace/trace/tracefs_instance.h"

namespace whylate {
namespace {

constexpr int64_t kRemoveTimeoutNs = 2 * kNsPerSecond;
constexpr char kLoadFilePrefix[] = ".whylate-";

bool IsOfDeadRun(absl::string_view run_id) {
  const std::optional<ProcessIdentity> supervisor = ParseRunId(run_id);
  return supervisor && !IsAlive(*supervisor);
}

// Kills each process, but this one, that bears a run id which `chosen` holds for. Returns how many.
size_t KillProcesses(const std::function<bool(absl::string_view run_id)>& chosen) {
  const std::string prefix = absl::StrCat(kRunIdVariable, "=");
  size_t killed = 0;
  for (const ProcessFacts& facts : ReadAllProcesses()) {
    if (facts.identity.tgid.value == getpid() || facts.state == 'Z') continue;
    absl::StatusOr<std::string> environment =
        ReadFile(absl::StrCat("/proc/", facts.identity.tgid.value, "/environ"));
    if (!environment.ok()) continue;
    for (absl::string_view variable : absl::StrSplit(*environment, '\0')) {
      if (!absl::ConsumePrefix(&variable, prefix) || !chosen(variable)) continue;
      KillProcess(facts.identity);
      ++killed;
      break;
    }
  }
  return killed;
}

}  // namespace

void EndProcessesOfRun(absl::string_view run_id) {
  const int64_t until_ns = MonotonicNs() + kRemoveTimeoutNs;
  // Again, because one may have forked while we looked.
  while (KillProcesses([&](absl::string_view other) { return other == run_id; }) > 0 &&
         MonotonicNs() < until_ns) {
    SleepUntilNs(MonotonicNs() + 5 * kNsPerMs);
  }
}

void SweepLoadFiles(const std::string& workdir) {
  std::error_code error;
  std::vector<std::filesystem::path> found;
  auto walk = std::filesystem::directory_iterator(workdir, error);
  for (; !error && walk != std::filesystem::directory_iterator(); walk.increment(error)) {
    const std::string name = walk->path().filename().string();
    absl::string_view rest = name;
    if (!absl::ConsumePrefix(&rest, kLoadFilePrefix)) continue;
    // .whylate-<pid>-<ticks>-XXXXXX
    const size_t suffix = rest.rfind('-');
    if (suffix != rest.npos && IsOfDeadRun(rest.substr(0, suffix))) found.push_back(walk->path());
  }
  for (const std::filesystem::path& path : found) unlink(path.c_str());
}

void SweepLeftovers(const std::string& workdir) {
  KillProcesses(IsOfDeadRun);
  VisitOurCgroups([](const std::string& directory) {
    absl::string_view run_id = directory;
    run_id.remove_prefix(run_id.rfind('/') + 1);
    absl::ConsumePrefix(&run_id, kCgroupPrefix);
    if (IsOfDeadRun(run_id)) RemoveCgroup(directory, kRemoveTimeoutNs);
  });
  RemoveTracefsInstances(IsOfDeadRun, kRemoveTimeoutNs);
  SweepLoadFiles(workdir);
}

}  // namespace whylate
