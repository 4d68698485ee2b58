// Binary records of ftrace become events of a collector: fields are found by the formats that the
// trace brings along, and never read past a record's end.
#ifndef WHYLATE_ANALYSIS_IMPORT_TRACE_DAT_EVENTS_H_
#define WHYLATE_ANALYSIS_IMPORT_TRACE_DAT_EVENTS_H_

#include <cstdint>
#include <map>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "analysis/import/event_collector.h"
#include "analysis/import/irq_context.h"
#include "analysis/import/prev_state.h"
#include "analysis/model/ids.h"

struct tep_event;
struct tep_format_field;
struct tep_handle;
struct tep_record;

namespace whylate {

class TraceDatEvents {
 public:
  // Both must outlive the object. `kernel`: the release that recorded, "" where not known.
  TraceDatEvents(tep_handle* tep, EventCollector* collector, absl::string_view kernel);

  // A first pass, where the kernel is not known: what the states of all switches tell of it, and
  // what their numbers mean, is one thing for the whole trace. Nothing is collected.
  void LookAtState(tep_record* record);
  uint32_t largest_state() const { return largest_state_; }
  void AssumeLayout(StateLayout layout) { layout_ = layout; }

  void Record(tep_record* record);
  uint64_t records() const { return records_; }
  // Of the CPU's first and last record.
  std::optional<int64_t> FirstNs(CpuId cpu) const;
  std::optional<int64_t> LastNs(CpuId cpu) const;
  // The trace itself tells where it lost events of `cpu`.
  bool ToldLoss(CpuId cpu) const;

 private:
  enum class Kind : uint8_t {
    kOther,
    kSwitch,
    kWaking,
    kWakeup,
    kWakeupNew,
    kMigrate,
    kFork,
    kExit,
    kRename,
    kHardEntry,
    kHardExit,
    kSoftEntry,
    kSoftExit,
  };
  // The fields that a kind uses, in the order of its table; null where the format has none.
  struct Format {
    Kind kind = Kind::kOther;
    tep_format_field* fields[8] = {};
  };
  struct Stream {
    int64_t first_ns = 0;
    int64_t last_ns = 0;
    bool told_loss = false;
  };
  struct At {
    int64_t time_ns = 0;
    CpuId cpu;
    const tep_record* record = nullptr;
    const Format* format = nullptr;
  };

  const Format& FormatOf(int32_t id);
  void Switch(const At& at);
  void Wake(const At& at, tep_record* record);
  void Others(const At& at);
  std::optional<int64_t> Number(const At& at, size_t field) const;
  absl::string_view Text(const At& at, size_t field) const;
  std::optional<TracedTask> Task(const At& at, size_t name, size_t tid, size_t priority) const;

  tep_handle* tep_;
  EventCollector* collector_;
  std::optional<StateLayout> layout_;
  IrqContexts contexts_;
  absl::flat_hash_map<int32_t, Format> formats_;
  std::map<CpuId, Stream> streams_;
  uint64_t records_ = 0;
  uint32_t largest_state_ = 0;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_TRACE_DAT_EVENTS_H_
