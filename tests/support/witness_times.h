// What a witness of the scheduler says of the time of some tasks.
#ifndef WHYLATE_TESTS_SUPPORT_WITNESS_TIMES_H_
#define WHYLATE_TESTS_SUPPORT_WITNESS_TIMES_H_

#include <set>
#include <vector>

#include "analysis/model/ids.h"
#include "tests/support/tracefs_witness.h"
#include "userspace/trace/trace_source.h"

namespace whylate {

// When `threads` ran on `cpu`.
std::vector<TimeWindow> RunTimes(const WitnessRecording& witness, CpuId cpu,
                                 const std::set<Tid>& threads);

// Of `times`, what passed while `workload` was on the runqueue of `home`: each time it is woken it begins
// there, and it is away while it was moved or switched in elsewhere last. The witness does not record
// where a wake-up placed it: this is exact only where `workload` may use nothing but `home` whenever
// it is woken, as in the scenario whose helper narrows its mask to `home` while it sleeps and widens it
// when it runs.
std::vector<TimeWindow> WhileAtHome(const std::vector<TimeWindow>& times,
                                    const WitnessRecording& witness, CpuId home, Tid workload);

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_WITNESS_TIMES_H_
