// The unit of simulated CPU demand: a chain of dependent multiplications in registers.
//
// Calibration and everything that burns CPU call this one out-of-line, 64-byte-aligned function, so
// that what was calibrated is what runs: another inlined copy of the same loop can differ by a
// factor of two, by alignment alone.
#ifndef WHYLATE_USERSPACE_WORKLOAD_WORK_H_
#define WHYLATE_USERSPACE_WORKLOAD_WORK_H_

#include <cstdint>

namespace whylate {

// Runs `loops` steps; touches no memory. Returns the end of the chain, which is of no use.
uint64_t Work(uint64_t loops);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_WORKLOAD_WORK_H_
