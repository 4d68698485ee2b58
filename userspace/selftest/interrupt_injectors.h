// Who floods a CPU with interrupts on purpose. What those take has no stamps of the injector's: the
// interrupted workload's own account of what it lost without being switched out has to do.
#ifndef WHYLATE_USERSPACE_SELFTEST_INTERRUPT_INJECTORS_H_
#define WHYLATE_USERSPACE_SELFTEST_INTERRUPT_INJECTORS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "analysis/model/ids.h"
#include "userspace/selftest/injectors.h"

namespace whylate {

// Arms thousands of timers on `cpu`, while nothing else wants it, that expire in bunches from
// `from_ns` to `until_ns` after each `every`-th release. FailedPrecondition where a process may not
// have so many.
absl::StatusOr<Injector> MakeTimerFlood(CpuId cpu, int64_t every, int64_t from_ns,
                                        int64_t until_ns);
// Sends packets from CPU `from`, over a loopback device in a network of its own, whose receipt is
// steered to CPU `to` and takes long there, from `from_ns` to `until_ns` after each `every`-th
// release.
Injector MakePacketFlood(CpuId from, CpuId to, int64_t every, int64_t from_ns, int64_t until_ns);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SELFTEST_INTERRUPT_INJECTORS_H_
