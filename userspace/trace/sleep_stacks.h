// Kernel stacks of sleeps, by name: what lies below the scheduler itself.
//
//   SleepStacks stacks = NameSleepStacks(programs.ReadStacks(), symbols);
//   stacks.names[stacks.index_of[7]];  // {"futex_wait_queue", "futex_wait", "do_futex", ...}
#ifndef WHYLATE_USERSPACE_TRACE_SLEEP_STACKS_H_
#define WHYLATE_USERSPACE_TRACE_SLEEP_STACKS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "userspace/platform/kernel_symbols.h"

namespace whylate {

struct SleepStacks {
  std::vector<std::vector<std::string>> names;  // Recording::stacks
  std::map<uint32_t, int32_t> index_of;         // by the number that the records have
};

// Addresses are return addresses, innermost first. What the tracepoint and the scheduler put on top
// is cut off, up to schedule(); a stack without it, or without names, is left out.
SleepStacks NameSleepStacks(const std::map<uint32_t, std::vector<uint64_t>>& stacks,
                            const KernelSymbols& symbols);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_SLEEP_STACKS_H_
