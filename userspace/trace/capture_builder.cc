#include "userspace/trace/capture_builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "analysis/model/ids.h"
#include "analysis/model/recording.h"
#include "analysis/model/status_macros.h"
#include "userspace/trace/keep_plan.h"
#include "userspace/trace/sequence_tracker.h"
#include "userspace/trace/wire_decoder.h"

namespace whylate {
namespace {

struct Entry {
  int64_t time_ns;
  uint64_t sequence;
  int32_t cpu;
  uint32_t size;
  const uint8_t* data;
};

class Builder {
 public:
  explicit Builder(const CaptureInput& input)
      : input_(input), plan_(input.keep, input.begin_ns, input.end_ns) {}

  // First pass: numbers, losses, and each CPU's last switch before each window.
  void Survey(absl::Span<const uint8_t> record) {
    absl::StatusOr<WireHeader> header = PeekHeader(record);
    if (!header.ok()) {
      if (status_.ok()) status_ = header.status();
      return;
    }
    if (header->sequence != 0) {
      ++record_count_;
      TrackerOf(header->cpu).Add(header->sequence, header->time_ns);
    }
    if (plan_.all() || header->kind != WireKind::kSwitch) return;
    const size_t window = plan_.WindowAfter(header->time_ns);
    const std::vector<TimeWindow>& windows = plan_.windows();
    if (window == windows.size() || header->time_ns >= windows[window].begin_ns) return;
    int64_t& last = last_switch_ns_[{header->cpu.value, window}];
    last = std::max(last, header->time_ns);
  }

  // Second pass: what is kept.
  void Collect(absl::Span<const uint8_t> record) {
    absl::StatusOr<WireHeader> header = PeekHeader(record);
    if (!header.ok()) return;
    uint64_t sequence = 0;
    if (header->sequence != 0) sequence = NumberOf(*header);
    if (!IsKept(*header)) return;
    entries_.push_back({header->time_ns, sequence, header->cpu.value,
                        static_cast<uint32_t>(record.size()), record.data()});
  }

  absl::StatusOr<BuiltCapture> Finish() {
    RETURN_IF_ERROR(status_);
    BuiltCapture built;
    built.record_count = record_count_;
    TakeLosses(&built);
    built.omitted = plan_.Omitted();
    std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.time_ns, a.cpu, a.sequence) < std::tie(b.time_ns, b.cpu, b.sequence);
    });
    ASSIGN_OR_RETURN(WireDecoder decoder, WireDecoder::Create(input_.decoder));
    built.events.reserve(entries_.size());
    for (const Entry& entry : entries_) {
      RETURN_IF_ERROR(decoder.Decode(absl::MakeConstSpan(entry.data, entry.size), entry.sequence,
                                     &built.events));
    }
    return built;
  }

 private:
  SequenceTracker& TrackerOf(CpuId cpu) {
    return trackers_.try_emplace(cpu.value, input_.begin_ns).first->second;
  }

  // The whole number again: the same steps as in the first pass, without the gaps.
  uint64_t NumberOf(const WireHeader& header) {
    uint64_t& last = numbers_[header.cpu.value];
    const auto step = static_cast<int32_t>(header.sequence - static_cast<uint32_t>(last));
    const uint64_t whole = last + static_cast<uint64_t>(int64_t{step});
    last = std::max(last, whole);
    return whole;
  }

  bool IsKept(const WireHeader& header) const {
    if (header.kind == WireKind::kAlways) return true;
    if (plan_.Covers(header.time_ns)) return true;
    if (header.kind != WireKind::kSwitch) return false;
    if (header.time_ns < input_.begin_ns || header.time_ns > input_.end_ns) return false;
    const size_t window = plan_.WindowAfter(header.time_ns);
    auto last = last_switch_ns_.find({header.cpu.value, window});
    return last != last_switch_ns_.end() && last->second == header.time_ns;
  }

  void TakeLosses(BuiltCapture* built) {
    for (size_t cpu = 0; cpu < input_.attempts.size(); ++cpu) {
      if (input_.attempts[cpu] == 0) continue;
      const CpuId id{static_cast<int32_t>(cpu)};
      TrackerOf(id).Finish(input_.attempts[cpu], input_.end_ns);
    }
    for (const auto& [cpu, tracker] : trackers_) {
      for (const SequenceTracker::Gap& gap : tracker.gaps()) {
        const uint64_t count = gap.last - gap.first + 1;
        built->lost_count += count;
        // Numbers are taken after the time is read: an interrupt in between reverses the two.
        built->losses.push_back({CpuId{cpu}, std::min(gap.begin_ns, gap.end_ns),
                                 std::max(gap.begin_ns, gap.end_ns), count});
      }
    }
    std::sort(built->losses.begin(), built->losses.end(),
              [](const LossInterval& a, const LossInterval& b) {
                return std::tie(a.begin_ns, a.cpu) < std::tie(b.begin_ns, b.cpu);
              });
  }

  const CaptureInput& input_;
  KeepPlan plan_;
  std::map<int32_t, SequenceTracker> trackers_;
  std::map<int32_t, uint64_t> numbers_;
  std::map<std::pair<int32_t, size_t>, int64_t> last_switch_ns_;  // by CPU and window
  std::vector<Entry> entries_;
  uint64_t record_count_ = 0;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<BuiltCapture> BuildCapture(const RecordStore& store, const CaptureInput& input) {
  Builder builder(input);
  store.ForEach([&](absl::Span<const uint8_t> record) { builder.Survey(record); });
  store.ForEach([&](absl::Span<const uint8_t> record) { builder.Collect(record); });
  return builder.Finish();
}

}  // namespace whylate
