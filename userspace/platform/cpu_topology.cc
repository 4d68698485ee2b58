#include "userspace/platform/cpu_topology.h"

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "userspace/platform/files.h"

namespace whylate {

// Documentation/ABI/testing/sysfs-devices-system-cpu: a directory index0, index1, .. for each cache.
std::optional<CpuSet> LastLevelCacheOf(CpuId cpu, const std::string& sys) {
  std::optional<CpuSet> last;
  int32_t last_level = 0;
  for (int index = 0;; ++index) {
    const std::string cache =
        absl::StrCat(sys, "/devices/system/cpu/cpu", cpu.value, "/cache/index", index);
    const absl::StatusOr<std::string> text = ReadFile(cache + "/level");
    int32_t level = 0;
    if (!text.ok() || !absl::SimpleAtoi(*text, &level)) return last;
    if (level < last_level) continue;
    const absl::StatusOr<std::string> shared = ReadFile(cache + "/shared_cpu_list");
    if (!shared.ok()) return last;
    const absl::StatusOr<CpuSet> cpus = CpuSet::Parse(absl::StripAsciiWhitespace(*shared));
    if (!cpus.ok()) return last;
    last = *cpus;
    last_level = level;
  }
}

std::optional<CpuId> FarCpu(CpuId cpu, const CpuSet& cpus, const std::string& sys) {
  const std::optional<CpuSet> close = LastLevelCacheOf(cpu, sys);
  if (!close) return std::nullopt;
  for (const CpuId other : cpus.ToVector()) {
    if (!close->Contains(other)) return other;
  }
  return std::nullopt;
}

}  // namespace whylate
