// What every source needs to know of the machine it captures.
#ifndef WHYLATE_USERSPACE_TRACE_CAPTURE_HOST_H_
#define WHYLATE_USERSPACE_TRACE_CAPTURE_HOST_H_

#include <cstdint>
#include <vector>

#include "analysis/model/recording.h"

namespace whylate {

// Of CPUs 0 .. possible_cpus - 1.
std::vector<CpuDescription> DescribeCpus(int32_t possible_cpus);

// A sched_ext scheduler is loaded and runs the tasks of the fair class as well.
bool ExtTakesFair();

// Returns when every CPU has seen what this thread wrote before, and nothing that traces and began
// earlier is still under way: that runs inside RCU read sections, and this waits for a grace period.
void WaitForTracers();

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_CAPTURE_HOST_H_
