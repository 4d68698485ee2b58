#include "analysis/import/perfetto_bundle.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/import/perfetto_proto.h"
#include "analysis/model/perfetto_fields.h"

namespace whylate {
namespace {

using perfetto::CompactSched;

// The columns of the compact form, by field number, and its table of names.
struct Columns {
  std::array<absl::string_view, CompactSched::kWakingCommonFlags + 1> packed;
  std::vector<absl::string_view> names;
};

Columns ReadColumns(absl::string_view bytes, bool* malformed) {
  Columns columns;
  ProtoReader reader(bytes);
  for (ProtoField field; reader.Next(&field);) {
    if (!field.is_bytes || field.number >= columns.packed.size()) continue;
    if (field.number == CompactSched::kInternTable) {
      columns.names.push_back(field.bytes);
    } else {
      columns.packed[field.number] = field.bytes;
    }
  }
  *malformed = *malformed || reader.malformed();
  return columns;
}

// Walks columns of equal length; one that is empty, or ends, has no values from there on.
class ColumnWalk {
 public:
  explicit ColumnWalk(absl::string_view packed) : reader_(packed) {}
  std::optional<uint64_t> Next() {
    uint64_t value = 0;
    return reader_.Next(&value) ? std::optional<uint64_t>(value) : std::nullopt;
  }
  std::optional<int32_t> Next32() {
    const std::optional<uint64_t> value = Next();
    return value ? std::optional<int32_t>(static_cast<int32_t>(*value)) : std::nullopt;
  }

 private:
  PackedReader reader_;
};

absl::string_view NameAt(const Columns& columns, const std::optional<uint64_t>& index) {
  if (!index || *index >= columns.names.size()) return absl::string_view();
  return columns.names[static_cast<size_t>(*index)];
}

// False where the time would be one that no clock shows, as sums of hostile differences are.
bool AddDelta(uint64_t delta, uint64_t* time_ns) {
  constexpr uint64_t kLastTimeNs = uint64_t{1} << 61;  // 73 years
  if (delta > kLastTimeNs - *time_ns) return false;
  *time_ns += delta;
  return true;
}

// An event for each time, whose other columns `fill` reads; false from it where one of them ends.
template <typename Fill>
void AddEvents(absl::string_view packed_times, uint32_t kind, size_t limit,
               FtraceBundleView* bundle, Fill fill) {
  ColumnWalk times(packed_times);
  uint64_t time_ns = 0;
  while (const std::optional<uint64_t> delta = times.Next()) {
    BundleEvent event;
    if (!AddDelta(*delta, &time_ns) || !fill(&event)) {
      bundle->malformed = true;
      return;
    }
    if (bundle->events.size() >= limit) {
      bundle->too_long = true;
      return;
    }
    event.view.time_ns = static_cast<int64_t>(time_ns);
    event.view.kind = kind;
    bundle->events.push_back(event);
  }
}

void AddSwitches(const Columns& columns, size_t limit, FtraceBundleView* bundle) {
  ColumnWalk states(columns.packed[CompactSched::kSwitchPrevState]);
  ColumnWalk tids(columns.packed[CompactSched::kSwitchNextPid]);
  ColumnWalk priorities(columns.packed[CompactSched::kSwitchNextPrio]);
  ColumnWalk names(columns.packed[CompactSched::kSwitchNextCommIndex]);
  AddEvents(columns.packed[CompactSched::kSwitchTimestamp], BundleEvent::kCompactSwitch, limit,
            bundle, [&](BundleEvent* event) {
              const std::optional<uint64_t> state = states.Next();
              const std::optional<int32_t> tid = tids.Next32();
              if (!state || !tid) return false;
              event->compact.prev_state = static_cast<int64_t>(*state);
              event->compact.tid = *tid;
              event->compact.priority = priorities.Next32();
              event->compact.comm = NameAt(columns, names.Next());
              return true;
            });
}

void AddWakings(const Columns& columns, size_t limit, FtraceBundleView* bundle) {
  ColumnWalk tids(columns.packed[CompactSched::kWakingPid]);
  ColumnWalk targets(columns.packed[CompactSched::kWakingTargetCpu]);
  ColumnWalk priorities(columns.packed[CompactSched::kWakingPrio]);
  ColumnWalk names(columns.packed[CompactSched::kWakingCommIndex]);
  ColumnWalk flags(columns.packed[CompactSched::kWakingCommonFlags]);
  AddEvents(columns.packed[CompactSched::kWakingTimestamp], BundleEvent::kCompactWaking, limit,
            bundle, [&](BundleEvent* event) {
              const std::optional<int32_t> tid = tids.Next32();
              if (!tid) return false;
              event->view.flags = flags.Next();
              event->compact.tid = *tid;
              event->compact.target_cpu = targets.Next32();
              event->compact.priority = priorities.Next32();
              event->compact.comm = NameAt(columns, names.Next());
              return true;
            });
}

void AddCompact(absl::string_view bytes, size_t limit, FtraceBundleView* bundle) {
  const Columns columns = ReadColumns(bytes, &bundle->malformed);
  bundle->has_compact = true;
  AddSwitches(columns, limit, bundle);
  AddWakings(columns, limit, bundle);
  // Each column is in its own order; equal times keep it. Who was woken at the time of a switch was so
  // before it: else it would not be switched to.
  const auto rank = [](const BundleEvent& event) {
    if (event.view.kind == BundleEvent::kCompactWaking) return 0;
    return event.view.kind == BundleEvent::kCompactSwitch ? 2 : 1;
  };
  std::stable_sort(bundle->events.begin(), bundle->events.end(),
                   [&](const BundleEvent& a, const BundleEvent& b) {
                     if (a.view.time_ns != b.view.time_ns) return a.view.time_ns < b.view.time_ns;
                     return rank(a) < rank(b);
                   });
}

void AddEvent(absl::string_view bytes, size_t limit, FtraceBundleView* bundle) {
  BundleEvent event;
  if (!ReadFtraceEvent(bytes, &event.view)) {
    bundle->malformed = true;
  } else if (bundle->events.size() >= limit) {
    bundle->too_long = true;
  } else {
    bundle->events.push_back(event);
  }
}

}  // namespace

void ReadFtraceBundle(absl::string_view bytes, size_t limit, FtraceBundleView* bundle) {
  std::vector<BundleEvent> events = std::move(bundle->events);
  *bundle = FtraceBundleView();
  events.clear();
  bundle->events = std::move(events);
  absl::string_view compact;
  ProtoReader reader(bytes);
  for (ProtoField field; reader.Next(&field);) {
    switch (field.number) {
      case perfetto::FtraceBundle::kCpu:
        bundle->cpu = field.value;
        break;
      case perfetto::FtraceBundle::kEvent:
        if (field.is_bytes) AddEvent(field.bytes, limit, bundle);
        break;
      case perfetto::FtraceBundle::kLostEvents:
        bundle->lost = field.Bool();
        break;
      case perfetto::FtraceBundle::kCompactSched:
        compact = field.bytes;
        break;
      case perfetto::FtraceBundle::kFtraceClock:
        bundle->clock = field.value;
        break;
      default:
        break;
    }
  }
  bundle->malformed = bundle->malformed || reader.malformed();
  if (!compact.empty()) AddCompact(compact, limit, bundle);
}

}  // namespace whylate
