// What the readers of text traces share: the lines of a trace become events.
//
//   TextEvents events("ftrace text", limits, text);
//   events.Line(*SplitFtraceLine(line));
//   return events.Finish();
//
// Times of a microsecond's resolution tell less than the order of the lines does: events of one
// microsecond are set apart by nanoseconds, so that they keep it.
#ifndef WHYLATE_ANALYSIS_IMPORT_TEXT_EVENTS_H_
#define WHYLATE_ANALYSIS_IMPORT_TEXT_EVENTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/import/event_collector.h"
#include "analysis/import/imported_trace.h"
#include "analysis/import/irq_context.h"
#include "analysis/import/prev_state.h"
#include "analysis/import/trace_line.h"
#include "analysis/model/ids.h"

namespace whylate {

class TextEvents {
 public:
  // `text`, all of the trace, must outlive the object.
  TextEvents(std::string format, const ImportLimits& limits, absl::string_view text);

  void Line(const TraceLine& line);
  // Events of `cpu` are missing before its next line; `count` 0: how many is not known.
  void LostBeforeNext(CpuId cpu, uint64_t count);
  // Of the trace's header: "6.10.14".
  void Kernel(absl::string_view release);
  EventCollector& collector() { return collector_; }
  uint64_t lines() const { return lines_; }

  absl::StatusOr<ImportedTrace> Finish();

 private:
  // What column 1 tells of a task, for what no event's fields tell.
  struct Task {
    int64_t first_ns = 0;
    CpuId cpu;
    std::string column_name;
    std::string field_name;
    std::optional<Tgid> tgid;
    bool is_forked = false;
  };

  int64_t TimeOf(const TraceLine& line);
  void CloseLoss(CpuId cpu, int64_t time_ns);
  bool SchedEvent(const TraceLine& line, int64_t time_ns);
  bool TaskEvent(const TraceLine& line, int64_t time_ns);
  bool IrqEvent(const TraceLine& line);
  bool SwitchLine(const TraceLine& line, int64_t time_ns);
  bool WakeLine(const TraceLine& line, int64_t time_ns);
  std::optional<PrevState> StateOf(absl::string_view text, const TracedTask& prev);
  StateLayout Layout();
  void Named(const TracedTask& task, const TraceLine& line, int64_t time_ns);
  Task* FindTask(Tid tid, const TraceLine& line, int64_t time_ns);

  EventCollector collector_;
  size_t most_names_;
  absl::string_view text_;
  IrqContexts contexts_;
  std::optional<StateLayout> layout_;
  uint64_t lines_ = 0;
  uint64_t unreadable_ = 0;
  int64_t last_time_ns_ = -1;  // as written
  CpuId last_cpu_;
  int64_t shift_ns_ = 0;
  std::map<CpuId, int64_t> last_ns_;
  std::map<CpuId, uint64_t> lost_;
  absl::flat_hash_map<Tid, Task> tasks_;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_TEXT_EVENTS_H_
