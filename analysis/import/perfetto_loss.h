// Where a Perfetto trace is known to miss events: each place in the file becomes, for a CPU, the time
// from its last event before that to its next one after it.
//
//   PerfettoLosses losses(&collector);
//   losses.Everywhere();                     // a packet that cannot be read
//   if (losses.BeforeEvent(cpu, time_ns)) .. // what was known of the CPU is not any more
//   losses.Finish();
//
// Not thread-safe.
#ifndef WHYLATE_ANALYSIS_IMPORT_PERFETTO_LOSS_H_
#define WHYLATE_ANALYSIS_IMPORT_PERFETTO_LOSS_H_

#include <cstdint>
#include <map>
#include <optional>

#include "absl/strings/string_view.h"
#include "analysis/import/event_collector.h"
#include "analysis/model/ids.h"

namespace whylate {

class PerfettoLosses {
 public:
  // `collector` must outlive the object.
  explicit PerfettoLosses(EventCollector* collector) : collector_(collector) {}

  // Of any CPU, those that come later in the file too.
  void Everywhere() { ++everywhere_; }
  // Of `cpu`, after its last event, as its bundle tells.
  void Told(CpuId cpu);
  // Of `cpu`, after `begin_ns`; unset: after the recording's begin.
  void On(CpuId cpu, std::optional<int64_t> begin_ns);
  // The writer's own mark of dropped packets, or none, on a packet of its sequence.
  void Packet(uint32_t sequence, bool previous_dropped, bool has_events);
  // Each event, in the file's order. True where events of the CPU were lost before it.
  bool BeforeEvent(CpuId cpu, int64_t time_ns);
  std::optional<int64_t> LastNs(CpuId cpu) { return cpus_[cpu].last_ns; }
  // The end of the last loss of `cpu`; unset where there was none.
  std::optional<int64_t> LastLossEndNs(CpuId cpu) { return cpus_[cpu].loss_end_ns; }
  // An FtraceStats message. What the ring's counters miss and no event tells is lost somewhere.
  void Stats(absl::string_view bytes);
  void Finish();

 private:
  struct Count {
    uint64_t at_start = 0;
    uint64_t lost = 0;
  };
  struct Cpu {
    std::optional<int64_t> last_ns;
    bool is_open = false;  // events after begin_ns were lost
    std::optional<int64_t> begin_ns;
    uint64_t everywhere = 0;  // as of its last event
    std::optional<int64_t> loss_end_ns;
    bool was_told = false;
    Count overruns;
    Count dropped;
  };
  struct Sequence {
    bool has_events = false;
    bool dropped = false;
  };

  bool IsOpen(const Cpu& cpu) const { return cpu.is_open || cpu.everywhere != everywhere_; }
  void Close(CpuId id, Cpu* cpu, std::optional<int64_t> end_ns);

  EventCollector* collector_;
  uint64_t everywhere_ = 0;
  std::map<CpuId, Cpu> cpus_;
  std::map<uint32_t, Sequence> sequences_;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_PERFETTO_LOSS_H_
