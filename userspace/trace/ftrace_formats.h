// Which events of ftrace are recorded, and where their fields are: by the formats that the running
// kernel publishes, parsed by libtraceevent.
//
//   ASSIGN_OR_RETURN(const FtraceFormats formats, FtraceFormats::Parse(texts));
//   const FtraceFormat* format = formats.Find(record.bytes);
//   std::optional<int64_t> tid = format->Number(FtraceField::kTid, record.bytes);
//
// Immutable; safe to share between threads.
#ifndef WHYLATE_USERSPACE_TRACE_FTRACE_FORMATS_H_
#define WHYLATE_USERSPACE_TRACE_FTRACE_FORMATS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

struct tep_format_field;
struct tep_handle;

namespace whylate {

enum class FtraceKind : uint8_t {
  kSwitch,
  kWaking,
  kWakeup,
  kWakeupNew,
  kMigrate,
  kNewTask,
  kFork,
  kExec,
  kExit,
  kRename,
  kCgroup,
  kStop,
  kHardEntry,    // a device's interrupt
  kVectorEntry,  // an interrupt that is the kernel's own: FtraceEventRow::source names it
  kHardExit,     // of either
  kSoftEntry,
  kSoftExit,
  kTimerSetup,
  kTimerStart,
  kTimerExpire,
  kCallEnter,
  kCallExit,
};

// A field by its meaning; what the kernel calls it depends on the event.
enum class FtraceField : uint8_t {
  kTid,  // of prev, of the wakee, of the parent, of the task itself
  kName,
  kPriority,
  kState,
  kNextTid,  // or the child's
  kNextName,
  kNextPriority,
  kCpu,  // where the task is queued, or moved to
  kFromCpu,
  kOldTid,
  kCloneFlags,
  kHierarchy,
  kIrq,
  kVector,
  kTimer,
  kExpires,
  kNow,
  kMode,
  kClock,
  kCallNumber,
  kCallArguments,
  kCallResult,
  kFieldCount,
};

struct FtraceEventRow {
  const char* system;
  const char* name;
  FtraceKind kind;
  bool is_required;
  const char* source;  // the name of the interrupt vector, or ""
  struct Field {
    FtraceField field = FtraceField::kFieldCount;
    const char* name = nullptr;
  };
  std::array<Field, 7> fields;
};

// What the scheduler, interrupts and timers do.
absl::Span<const FtraceEventRow> FtraceSchedEvents();
// System calls, of which a filter takes a few: recorded in a buffer of their own.
absl::Span<const FtraceEventRow> FtraceCallEvents();

class FtraceFormat {
 public:
  const FtraceEventRow& row() const { return *row_; }
  std::optional<int64_t> Number(FtraceField field, absl::Span<const uint8_t> record) const;
  absl::string_view Text(FtraceField field, absl::Span<const uint8_t> record) const;
  // The task that was on the CPU, and the context that it was in (common_flags).
  std::optional<int64_t> CurrentTid(absl::Span<const uint8_t> record) const;
  std::optional<int64_t> Flags(absl::Span<const uint8_t> record) const;
  // Of the system call, in the kernel's order.
  std::optional<int64_t> CallArgument(size_t index, absl::Span<const uint8_t> record) const;

 private:
  friend class FtraceFormats;
  const FtraceEventRow* row_ = nullptr;
  const tep_format_field* current_ = nullptr;
  const tep_format_field* flags_ = nullptr;
  std::array<const tep_format_field*, static_cast<size_t>(FtraceField::kFieldCount)> fields_ = {};
};

class FtraceFormats {
 public:
  struct Text {
    const FtraceEventRow* row = nullptr;
    std::string format;  // of events/SYSTEM/NAME/format
  };
  // FailedPrecondition where a format cannot be parsed, or lacks a field that its row has.
  static absl::StatusOr<FtraceFormats> Parse(absl::Span<const Text> texts);

  FtraceFormats(FtraceFormats&&) noexcept;
  FtraceFormats& operator=(FtraceFormats&&) noexcept;
  ~FtraceFormats();

  // The format of a record, by its first field; nullptr for a record of none that was parsed.
  const FtraceFormat* Find(absl::Span<const uint8_t> record) const;

 private:
  struct TepDeleter {
    void operator()(tep_handle* tep) const;
  };
  FtraceFormats();
  absl::Status Add(const Text& text);

  std::unique_ptr<tep_handle, TepDeleter> tep_;  // owns what the formats point to
  const tep_format_field* type_ = nullptr;
  absl::flat_hash_map<int64_t, FtraceFormat> formats_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_TRACE_FTRACE_FORMATS_H_
