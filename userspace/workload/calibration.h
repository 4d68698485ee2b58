// How much Work() is one millisecond of CPU time on this machine.
#ifndef WHYLATE_USERSPACE_WORKLOAD_CALIBRATION_H_
#define WHYLATE_USERSPACE_WORKLOAD_CALIBRATION_H_

#include <cstdint>
#include <string>

namespace whylate {

struct Calibration {
  int64_t loops_per_ms = 0;
  double spread = 0;  // (p75 - p25) / median over its slices: the machine's unsteadiness
};

// Measures for about `duration_ns` in slices of a frame's length, in thread CPU time, on the CPU it
// happens to run on; the median slice counts, so that an interrupt or a stolen slice does not.
Calibration Calibrate(int64_t duration_ns);

// The calibration of this CPU model, from `cache_directory` if a quick measurement confirms it to
// 0.5 %, else measured now and cached there. Failure to read or write the cache is no error: the
// measurement is just made again next time. An empty directory means no cache.
Calibration CalibrateCached(const std::string& cache_directory, const std::string& cpu_model);

// $XDG_CACHE_HOME/whylate, else $HOME/.cache/whylate, else "".
std::string DefaultCacheDirectory();

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_WORKLOAD_CALIBRATION_H_
