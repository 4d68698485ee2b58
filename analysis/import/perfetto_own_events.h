// The scheduler events of one of our own recordings, from its ftrace bundles, exactly.
//
// Bundles are to be given in the order of the file; the events are in total order within each
// stretch of them only. Not thread-safe.
#ifndef WHYLATE_ANALYSIS_IMPORT_PERFETTO_OWN_EVENTS_H_
#define WHYLATE_ANALYSIS_IMPORT_PERFETTO_OWN_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "analysis/import/perfetto_packets.h"
#include "analysis/model/ids.h"
#include "analysis/model/sched_event.h"

namespace whylate {

// A field of a generic event: a number, a text, or neither, which says that something is not known.
struct GenericFact {
  absl::string_view name;
  std::optional<int64_t> number;
  absl::string_view text;
};

class OwnEventReader {
 public:
  // Appends to `events`, which must outlive it, up to `limit`.
  OwnEventReader(size_t limit, std::vector<SchedEvent>* events) : limit_(limit), events_(events) {}

  // False where the bundle is not as our writer makes them: something of it was not understood.
  bool ReadBundle(absl::string_view bytes);
  bool full() const { return events_->size() >= limit_; }

 private:
  struct Cpu {
    uint64_t next_sequence = 0;
    // As at its last switch.
    StolenTime stolen;
    std::optional<bool> preempt;
    std::optional<bool> iowait;
  };

  bool ReadEvent(absl::string_view bytes);
  bool ReadGeneric(const FtraceEventView& view);
  // The standard events, by their fields; false for one that is none of ours.
  bool ReadStandard(const FtraceEventView& view, SchedEventBody* body) const;
  void ReadSwitch(absl::string_view body, SwitchEvent* event) const;
  SchedEvent& Push(int64_t time_ns);
  void Pop();

  size_t limit_;
  std::vector<SchedEvent>* events_;
  std::map<CpuId, Cpu> cpus_;
  CpuId cpu_id_;
  Cpu* cpu_ = nullptr;
  bool has_last_ = false;  // an event of this bundle, which facts may complete
  std::vector<GenericFact> facts_;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_PERFETTO_OWN_EVENTS_H_
