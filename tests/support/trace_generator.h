// Random but consistent recordings of a small machine, from a seed: what tasks do is arbitrary,
// what is recorded of it is complete and true.
//
// Every event has a time of its own, a multiple of `unit_ns`. CPUs and tasks are seeded at 0.
// Switches carry the kernel's notes of arrival and queueing. There is one late frame, of task
// kGeneratedTask.
#ifndef WHYLATE_TESTS_SUPPORT_TRACE_GENERATOR_H_
#define WHYLATE_TESTS_SUPPORT_TRACE_GENERATOR_H_

#include <cstdint>

#include "analysis/model/recording.h"

namespace whylate {

inline constexpr int32_t kGeneratedTask = 1;

struct GeneratorOptions {
  uint64_t seed = 1;
  int32_t cpus = 2;
  int32_t actions = 120;
  int64_t unit_ns = 1;
  bool rt_workload = false;
  bool stolen = false;  // interrupts and the hypervisor take time
  // The window begins in a sleep of the watched task, if it ever slept.
  bool asleep_at_release = false;
  bool exact_demand = false;  // what the frame ran is what it was to run
};

Recording GenerateTrace(const GeneratorOptions& options);

// A generated recording whose late frame goes through three stages: the watched task, and two others
// of its tasks. When they passed it on is arbitrary.
Recording ThroughStages(Recording generated, uint64_t seed);

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_TRACE_GENERATOR_H_
