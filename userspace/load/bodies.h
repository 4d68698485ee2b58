// What each load does; see LoadRows() for a line about each, and load.h for the contract.
#ifndef WHYLATE_USERSPACE_LOAD_BODIES_H_
#define WHYLATE_USERSPACE_LOAD_BODIES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "userspace/load/load.h"

namespace whylate {

absl::Status RunBurnLoad(const LoadContext& context);
absl::Status RunSimulatedLoad(const LoadContext& context);
absl::Status RunWriteLoad(const LoadContext& context);
absl::Status RunReadLoad(const LoadContext& context);
absl::Status RunRingLoad(const LoadContext& context);
absl::Status RunMemoryLoad(const LoadContext& context);
absl::Status RunHackLoad(const LoadContext& context);
absl::Status RunCommandLoad(const LoadContext& context);

int32_t RingThreadCount(int32_t load_threads);
int32_t HackThreadCount(int32_t load_threads);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_LOAD_BODIES_H_
