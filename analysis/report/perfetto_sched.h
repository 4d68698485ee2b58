// The scheduler events of a recording as ftrace events of a Perfetto trace: in stretches, each one
// bundle per CPU, in the recording's order.
//
//   SchedEventWriter writer(recording, packets);
//   for (const SchedEvent& event : recording.events) writer.Add(event);
//   writer.Flush();
//
// Memory is bounded by one stretch. What each event becomes is said in model/perfetto_fields.h.
#ifndef WHYLATE_ANALYSIS_REPORT_PERFETTO_SCHED_H_
#define WHYLATE_ANALYSIS_REPORT_PERFETTO_SCHED_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "analysis/model/recording.h"
#include "analysis/model/sched_event.h"
#include "analysis/report/perfetto_packets.h"

namespace whylate {

class SchedEventWriter {
 public:
  // About 200 KB of bundles: so much is lost of a file that was cut.
  static constexpr size_t kStretchEvents = 2048;

  // Both must outlive it.
  SchedEventWriter(const Recording& recording, PacketStream& packets);

  void Add(const SchedEvent& event);
  // Writes what is left of the last stretch.
  void Flush();

 private:
  struct Cpu {
    std::string bundle;  // its serialized events
    bool lost = false;   // records were lost before one of them
    size_t next_loss = 0;
    std::vector<int64_t> loss_ends;
    size_t next_gap = 0;
    std::vector<int64_t> gap_begins;  // of losses and of what was not kept
    std::optional<Tid> current;
    std::optional<Tid> shown;  // by the switches so far, hidden ones included
    int64_t last_ns = 0;       // of the event before
    uint64_t next_sequence = 0;
    StolenTime stolen;
    std::optional<bool> preempt;
    std::optional<bool> iowait;
  };
  using FillMessage = absl::FunctionRef<void(protozero::pbf_writer&)>;

  void Write(const SwitchEvent& event);
  void Write(const WakingEvent& event);
  void Write(const WakeupEvent& event);
  void Write(const MigrateEvent& event);
  void Write(const ForkEvent& event);
  void Write(const ExitEvent& event);
  void Write(const TaskNameEvent& event);
  void Write(const TimerStartEvent& event);
  void Write(const TimerExpireEvent& event);
  void Write(const AffinityEvent& event);
  void Write(const CpuSeedEvent& event);
  void Write(const TaskSeedEvent& event);
  void Write(const UnthrottleEvent& event);
  void Write(const InterruptTimeEvent& event);
  void Write(const StandingEvent& event);
  void Write(const CgroupEvent& event);
  void Write(const StopEvent& event);
  void Write(const WorkEvent& event);

  // A switch that has no record, so that other tools don't see `prev` on the CPU for ever.
  void HiddenSwitch(int64_t time_ns, Tid prev, Tid next);
  void LeaveAtGaps();
  // One ftrace event of the current time and CPU; `pid` is the task current there.
  void Standard(uint32_t field, std::optional<Tid> pid, FillMessage fill);
  void AddHeader(protozero::pbf_writer& event, std::optional<Tid> pid) const;
  // Facts of the current event, as fields of its generic event.
  void Fact(absl::string_view name, int64_t value);
  void Fact(absl::string_view name, absl::string_view value);
  void Forgotten(absl::string_view name);
  void Caller(const std::optional<Tid>& by);
  void Standing(absl::string_view prefix, Tid tid, const TaskStanding& standing);
  void FullStanding(absl::string_view prefix, const TaskStanding& standing);
  void Allowed(absl::string_view name, const std::optional<CpuSet>& allowed);
  // Where it is not as it was at the CPU's switch before, which it then is.
  template <typename Value>
  void Changed(absl::string_view name, const std::optional<Value>& now,
               std::optional<Value>& before);
  void Generic(absl::string_view name, bool alone);

  absl::string_view Comm(Tid tid) const;
  void AddTask(protozero::pbf_writer& message, Tid tid, uint32_t comm, uint32_t pid) const;

  PacketStream& packets_;
  std::map<CpuId, Cpu> cpus_;
  absl::flat_hash_map<Tid, std::string> names_;
  const SchedEvent* event_ = nullptr;
  Cpu* cpu_ = nullptr;
  std::string facts_;    // encoded
  std::string generic_;  // reused
  size_t in_stretch_ = 0;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_PERFETTO_SCHED_H_
