#include "userspace/trace/sleep_stacks.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/strings/string_view.h"

namespace whylate {
namespace {

// The ways into __schedule() that sleep (kernel/sched/core.c).
constexpr std::array<absl::string_view, 6> kScheduler = {
    "__schedule",      "schedule",
    "schedule_idle",   "schedule_preempt_disabled",
    "schedule_rtlock", "preempt_schedule_common"};

bool IsScheduler(absl::string_view name) {
  return std::find(kScheduler.begin(), kScheduler.end(), name) != kScheduler.end();
}

std::vector<std::string> BelowScheduler(const std::vector<uint64_t>& addresses,
                                        const KernelSymbols& symbols) {
  std::vector<std::string> names;
  for (const uint64_t address : addresses) {
    // A return address is that of the next instruction, which may be the next function's.
    names.emplace_back(symbols.NameAt(address - 1));
  }
  const auto last = std::find_if(names.rbegin(), names.rend(), IsScheduler);
  if (last == names.rend()) return {};
  names.erase(names.begin(), last.base());
  return names;
}

}  // namespace

SleepStacks NameSleepStacks(const std::map<uint32_t, std::vector<uint64_t>>& stacks,
                            const KernelSymbols& symbols) {
  SleepStacks named;
  for (const auto& [number, addresses] : stacks) {
    std::vector<std::string> names = BelowScheduler(addresses, symbols);
    if (names.empty()) continue;
    // Several addresses in the same functions are one stack by name.
    const auto same = std::find(named.names.begin(), named.names.end(), names);
    named.index_of[number] = static_cast<int32_t>(same - named.names.begin());
    if (same == named.names.end()) named.names.push_back(std::move(names));
  }
  return named;
}

}  // namespace whylate
