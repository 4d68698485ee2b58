#include "analysis/import/perfetto_loss.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/strings/str_cat.h"
#include "analysis/import/perfetto_proto.h"
#include "analysis/model/cpu_set.h"
#include "analysis/model/perfetto_fields.h"

namespace whylate {
namespace {

// A trace has a few for each process; past that the marks of further ones count for all.
constexpr size_t kMostSequences = 100'000;

}  // namespace

void PerfettoLosses::Told(CpuId id) {
  On(id, LastNs(id));
  cpus_[id].was_told = true;
}

void PerfettoLosses::On(CpuId id, std::optional<int64_t> begin_ns) {
  Cpu& cpu = cpus_[id];
  if (!cpu.is_open) cpu.begin_ns = begin_ns;
  cpu.is_open = true;
}

void PerfettoLosses::Packet(uint32_t id, bool previous_dropped, bool has_events) {
  auto found = sequences_.find(id);
  if (found == sequences_.end()) {
    if (sequences_.size() >= kMostSequences) {
      if (previous_dropped) Everywhere();
      return;
    }
    // A sequence's first packet may bear the mark without a loss: nothing came before it.
    sequences_[id].has_events = has_events;
    return;
  }
  Sequence& sequence = found->second;
  sequence.has_events = sequence.has_events || has_events;
  sequence.dropped = sequence.dropped || previous_dropped;
  // What writers of other packets dropped were no scheduler events.
  if (!sequence.has_events || !sequence.dropped) return;
  sequence.dropped = false;
  Everywhere();
}

void PerfettoLosses::Close(CpuId id, Cpu* cpu, std::optional<int64_t> end_ns) {
  const std::optional<int64_t> begin_ns = cpu->is_open ? cpu->begin_ns : cpu->last_ns;
  std::optional<int64_t> begin;
  if (begin_ns && end_ns) begin = std::min(*begin_ns, *end_ns);
  if (begin_ns && !end_ns) begin = begin_ns;
  collector_->Lost(id, begin, end_ns, 0);
  cpu->is_open = false;
  cpu->everywhere = everywhere_;
  cpu->loss_end_ns = end_ns;
}

bool PerfettoLosses::BeforeEvent(CpuId id, int64_t time_ns) {
  Cpu& cpu = cpus_[id];
  const bool lost = IsOpen(cpu);
  if (lost) Close(id, &cpu, time_ns);
  cpu.last_ns = std::max(cpu.last_ns.value_or(time_ns), time_ns);
  return lost;
}

// The counters are cumulative: what counts is how many more at the end than at the start.
void PerfettoLosses::Stats(absl::string_view bytes) {
  uint64_t phase = 0;
  ProtoReader first(bytes);
  for (ProtoField field; first.Next(&field);) {
    if (field.number == perfetto::FtraceStats::kPhase) phase = field.value;
  }
  const bool is_end = phase == perfetto::FtraceStats::kEndOfTrace;
  const auto take = [&](uint64_t value, Count* count) {
    if (!is_end) {
      count->at_start = value;
    } else if (value > count->at_start) {
      count->lost = value - count->at_start;
    }
  };
  ProtoReader reader(bytes);
  for (ProtoField field; reader.Next(&field);) {
    if (field.number != perfetto::FtraceStats::kCpuStats) continue;
    uint64_t number = 0;
    uint64_t overruns = 0;
    uint64_t dropped = 0;
    ProtoReader stats(field.bytes);
    for (ProtoField part; stats.Next(&part);) {
      if (part.number == perfetto::FtraceCpuStats::kCpu) number = part.value;
      if (part.number == perfetto::FtraceCpuStats::kOverrun) overruns = part.value;
      if (part.number == perfetto::FtraceCpuStats::kDroppedEvents) dropped = part.value;
    }
    if (number >= CpuSet::kMaxCpus) continue;
    Cpu& cpu = cpus_[CpuId{static_cast<int32_t>(number)}];
    take(overruns, &cpu.overruns);
    take(dropped, &cpu.dropped);
  }
}

void PerfettoLosses::Finish() {
  for (auto& [id, cpu] : cpus_) {
    if (cpu.is_open || (IsOpen(cpu) && cpu.last_ns)) Close(id, &cpu, std::nullopt);
    if (cpu.overruns.lost > 0) {
      collector_->Note(
          absl::StrCat("ring overrun on CPU ", id.value, ": ", cpu.overruns.lost, " events lost"));
    }
    if (cpu.dropped.lost > 0) {
      collector_->Note(absl::StrCat("the buffer of CPU ", id.value, " was full: ", cpu.dropped.lost,
                                    " events were dropped"));
    }
    if (cpu.was_told || cpu.overruns.lost + cpu.dropped.lost == 0) continue;
    const uint64_t most = std::numeric_limits<uint64_t>::max() - cpu.overruns.lost;
    collector_->Lost(id, std::nullopt, std::nullopt,
                     cpu.overruns.lost + std::min(cpu.dropped.lost, most));
  }
}

}  // namespace whylate
