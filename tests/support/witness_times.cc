#include "tests/support/witness_times.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

namespace whylate {

std::vector<TimeWindow> RunTimes(const WitnessRecording& witness, CpuId cpu,
                                 const std::set<Tid>& threads) {
  std::vector<TimeWindow> times;
  const auto events = witness.events.find(cpu);
  if (events == witness.events.end()) return times;
  std::optional<int64_t> since_ns;
  for (const WitnessEvent& event : events->second) {
    if (event.kind != WitnessKind::kSwitch) continue;
    if (since_ns) times.push_back({*since_ns, event.time_ns});
    since_ns.reset();
    if (threads.count(event.next) > 0) since_ns = event.time_ns;
  }
  return times;
}

std::vector<TimeWindow> WhileAtHome(const std::vector<TimeWindow>& times,
                                    const WitnessRecording& witness, CpuId home, Tid workload) {
  std::map<int64_t, bool> is_home;  // from then on
  for (const auto& [cpu, events] : witness.events) {
    for (const WitnessEvent& event : events) {
      const bool comes_on = event.kind == WitnessKind::kSwitch && event.next == workload;
      const bool is_woken = event.kind == WitnessKind::kWaking && event.task == workload;
      if (comes_on || is_woken) is_home[event.time_ns] = is_woken || cpu == home;
    }
  }
  for (const WitnessMigration& migration : witness.migrations) {
    if (migration.task == workload) is_home[migration.time_ns] = migration.to == home;
  }
  std::vector<TimeWindow> result;
  for (const TimeWindow& time : times) {
    auto change = is_home.upper_bound(time.begin_ns);
    bool home_now = change == is_home.begin() || std::prev(change)->second;
    int64_t at_ns = time.begin_ns;
    while (at_ns < time.end_ns) {
      const bool ends_first = change == is_home.end() || change->first >= time.end_ns;
      const int64_t end_ns = ends_first ? time.end_ns : change->first;
      if (home_now && at_ns < end_ns) result.push_back({at_ns, end_ns});
      at_ns = end_ns;
      if (!ends_first) home_now = (change++)->second;
    }
  }
  return result;
}

}  // namespace whylate
