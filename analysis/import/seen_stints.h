// Who was on a CPU, told by a trace that has not every switch: between what is seen, the CPU's task
// is not known, and never idle.
//
//   SeenStints stints(&collector);
//   stints.Begin(100, cpu);            // from here on the trace looks at it, and has seen nobody yet
//   stints.Found(150, cpu, disk);      // on the CPU from here on
//   stints.Left(400, cpu, disk, SwitchOut::kUnknown);  // who came next is not known
//   collector.Switch(..);              // seen from both sides
//
// What is not known is a hidden switch: to the idle task, for no time, and from there to whoever is
// found. The timeline calls the time between them hidden.
#ifndef WHYLATE_ANALYSIS_IMPORT_SEEN_STINTS_H_
#define WHYLATE_ANALYSIS_IMPORT_SEEN_STINTS_H_

#include <cstdint>

#include "analysis/import/event_collector.h"
#include "analysis/model/ids.h"
#include "analysis/model/sched_event.h"

namespace whylate {

class SeenStints {
 public:
  // Must outlive the object.
  explicit SeenStints(EventCollector* collector) : collector_(collector) {}

  void Begin(int64_t time_ns, CpuId cpu) {
    collector_->Switch(time_ns, cpu, kIdle, SwitchOut::kRunnable, 0, kIdle);
  }
  void Found(int64_t time_ns, CpuId cpu, const TracedTask& task) {
    collector_->Switch(time_ns, cpu, task, SwitchOut::kRunnable, 0, task);
  }
  void Left(int64_t time_ns, CpuId cpu, const TracedTask& task, SwitchOut out) {
    constexpr uint32_t kAsleep = 1;  // TASK_INTERRUPTIBLE: no race, see EventCollector::Switch()
    collector_->Switch(time_ns, cpu, task, out, kAsleep, kIdle);
  }

 private:
  static constexpr TracedTask kIdle{Tid{0}, "", std::nullopt};

  EventCollector* collector_;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_SEEN_STINTS_H_
