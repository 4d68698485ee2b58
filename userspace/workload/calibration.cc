#include "userspace/workload/calibration.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/files.h"
#include "userspace/workload/work.h"

namespace whylate {
namespace {

constexpr int64_t kSliceNs = 4 * kNsPerMs;

double LoopsPerNs(uint64_t loops) {
  const int64_t before_ns = ThreadCpuNs();
  Work(loops);
  return static_cast<double>(loops) /
         static_cast<double>(std::max<int64_t>(1, ThreadCpuNs() - before_ns));
}

// A first guess, good to some percent: the fastest of a few short runs.
double RoughLoopsPerNs() {
  double rough = 0;
  for (int i = 0; i < 20; ++i) rough = std::max(rough, LoopsPerNs(100000));
  return rough;
}

std::string CacheFileName(const std::string& cpu_model) {
  uint64_t hash = 14695981039346656037U;  // FNV-1a, the same in every process
  for (char c : cpu_model) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return absl::StrFormat("loops-per-ms-%016x", hash);
}

std::optional<int64_t> ReadCache(const std::string& path) {
  const std::optional<std::string> text = ReadFileLine(path);
  int64_t loops_per_ms = 0;
  if (!text || !absl::SimpleAtoi(*text, &loops_per_ms) || loops_per_ms <= 0) return std::nullopt;
  return loops_per_ms;
}

void WriteCache(const std::string& directory, const std::string& name, int64_t loops_per_ms) {
  const size_t parent_end = directory.rfind('/');
  // Both may be there, and the open tells.
  if (parent_end != std::string::npos) (void)CreateDirectory(directory.substr(0, parent_end));
  (void)CreateDirectory(directory);
  absl::StatusOr<UniqueFd> fd = OpenDirectory(directory);
  if (fd.ok()) (void)WriteFileAtomically(fd->get(), name, absl::StrCat(loops_per_ms, "\n"));
}

}  // namespace

Calibration Calibrate(int64_t duration_ns) {
  const auto slice_loops = static_cast<uint64_t>(RoughLoopsPerNs() * static_cast<double>(kSliceNs));
  std::vector<double> rates;
  const int64_t until_ns = MonotonicNs() + duration_ns;
  while (MonotonicNs() < until_ns || rates.size() < 5) rates.push_back(LoopsPerNs(slice_loops));
  std::sort(rates.begin(), rates.end());
  const double median = rates[rates.size() / 2];
  Calibration calibration;
  calibration.loops_per_ms = std::llround(median * static_cast<double>(kNsPerMs));
  calibration.spread = (rates[rates.size() * 3 / 4] - rates[rates.size() / 4]) / median;
  return calibration;
}

Calibration CalibrateCached(const std::string& cache_directory, const std::string& cpu_model) {
  const std::string name = CacheFileName(cpu_model);
  const std::string path = absl::StrCat(cache_directory, "/", name);
  const std::optional<int64_t> cached = cache_directory.empty() ? std::nullopt : ReadCache(path);
  Calibration calibration = Calibrate(100 * kNsPerMs);
  if (cached) {
    const double ratio =
        static_cast<double>(calibration.loops_per_ms) / static_cast<double>(*cached);
    if (std::fabs(ratio - 1) <= 0.005) {
      calibration.loops_per_ms = *cached;
      return calibration;
    }
  }
  calibration = Calibrate(500 * kNsPerMs);
  if (!cache_directory.empty()) WriteCache(cache_directory, name, calibration.loops_per_ms);
  return calibration;
}

std::string DefaultCacheDirectory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return absl::StrCat(cache, "/whylate");
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return absl::StrCat(home, "/.cache/whylate");
  }
  return "";
}

}  // namespace whylate
