#include "analysis/import/sched_payload.h"

#include "analysis/import/text_scan.h"

namespace whylate {
namespace {

constexpr size_t kLongestState = 48;

struct TaskKeys {
  absl::string_view comm;  // "prev_comm="
  absl::string_view pid;   // " prev_pid="
  absl::string_view prio;  // " prev_prio="; "" where the event has none
  absl::string_view next;  // what must follow; "" for anything
};

// "COMM PID PRIO" off the front of `text`, the name ending where the rest matches.
std::optional<TracedTask> TakeTask(absl::string_view* text, const TaskKeys& keys) {
  absl::string_view rest = *text;
  if (!TakePrefix(&rest, keys.comm)) return std::nullopt;
  for (size_t at = rest.find(keys.pid); at != absl::string_view::npos;
       at = rest.find(keys.pid, at + 1)) {
    absl::string_view after = rest.substr(at + keys.pid.size());
    const std::optional<int32_t> tid = TakeInt32(&after);
    if (!tid.has_value()) continue;
    TracedTask task{.tid = Tid{*tid}, .name = rest.substr(0, at)};
    if (!keys.prio.empty()) {
      if (!TakePrefix(&after, keys.prio)) continue;
      task.priority = TakeInt32(&after);
      if (!task.priority.has_value()) continue;
    }
    if (after.substr(0, keys.next.size()) != keys.next) continue;
    *text = after;
    return task;
  }
  return std::nullopt;
}

// "COMM:PID [PRIO]" off the front; the short form.
std::optional<TracedTask> TakeShortTask(absl::string_view* text) {
  for (size_t at = text->find(':'); at != absl::string_view::npos; at = text->find(':', at + 1)) {
    absl::string_view after = text->substr(at + 1);
    const std::optional<int32_t> tid = TakeInt32(&after);
    if (!tid.has_value() || !TakePrefix(&after, " [")) continue;
    const std::optional<int32_t> priority = TakeInt32(&after);
    if (!priority.has_value() || !TakePrefix(&after, "]")) continue;
    TracedTask task{.tid = Tid{*tid}, .name = text->substr(0, at), .priority = priority};
    *text = after;
    return task;
  }
  return std::nullopt;
}

std::optional<SwitchFields> ParseShortSwitch(absl::string_view payload) {
  const std::optional<TracedTask> prev = TakeShortTask(&payload);
  if (!prev.has_value()) return std::nullopt;
  SkipBlanks(&payload);
  const absl::string_view state = TakeToken(&payload);
  SkipBlanks(&payload);
  if (!TakePrefix(&payload, "==>")) return std::nullopt;
  SkipBlanks(&payload);
  const std::optional<TracedTask> next = TakeShortTask(&payload);
  if (!next.has_value()) return std::nullopt;
  return SwitchFields{*prev, state, *next};
}

// The number after `key`, wherever that is.
std::optional<int32_t> NumberOf(absl::string_view text, absl::string_view key) {
  const size_t at = text.find(key);
  if (at == absl::string_view::npos) return std::nullopt;
  absl::string_view after = text.substr(at + key.size());
  return TakeInt32(&after);
}

}  // namespace

std::optional<SwitchFields> ParseSwitch(absl::string_view payload) {
  const std::optional<TracedTask> prev =
      TakeTask(&payload, {"prev_comm=", " prev_pid=", " prev_prio=", " prev_state="});
  if (!prev.has_value()) return ParseShortSwitch(payload);
  TakePrefix(&payload, " prev_state=");
  SwitchFields fields;
  fields.prev = *prev;
  fields.prev_state = TakeToken(&payload);
  // Some kernels print the number after the letters, and trace-cmd no arrow.
  const size_t next = payload.substr(0, kLongestState).find("next_comm=");
  if (next == absl::string_view::npos) return std::nullopt;
  payload.remove_prefix(next);
  const std::optional<TracedTask> task =
      TakeTask(&payload, {"next_comm=", " next_pid=", " next_prio=", ""});
  if (!task.has_value()) return std::nullopt;
  fields.next = *task;
  return fields;
}

std::optional<WakeFields> ParseWake(absl::string_view payload) {
  WakeFields fields;
  absl::string_view rest = payload;
  std::optional<TracedTask> task = TakeTask(&rest, {"comm=", " pid=", " prio=", ""});
  if (!task.has_value()) {
    rest = payload;
    task = TakeShortTask(&rest);
    if (!task.has_value()) return std::nullopt;
  }
  fields.wakee = *task;
  std::optional<int32_t> target = NumberOf(rest, " target_cpu=");
  if (!target.has_value()) target = NumberOf(rest, "CPU:");
  if (target.has_value()) fields.target = CpuId{*target};
  fields.success = NumberOf(rest, "success=") != 0;
  return fields;
}

std::optional<MigrateFields> ParseMigrate(absl::string_view payload) {
  const std::optional<TracedTask> task =
      TakeTask(&payload, {"comm=", " pid=", " prio=", " orig_cpu="});
  if (!task.has_value()) return std::nullopt;
  const std::optional<int32_t> from = NumberOf(payload, " orig_cpu=");
  const std::optional<int32_t> to = NumberOf(payload, " dest_cpu=");
  if (!from.has_value() || !to.has_value()) return std::nullopt;
  return MigrateFields{*task, CpuId{*from}, CpuId{*to}};
}

std::optional<ForkFields> ParseFork(absl::string_view payload) {
  const std::optional<TracedTask> parent =
      TakeTask(&payload, {"comm=", " pid=", "", " child_comm="});
  if (!parent.has_value()) return std::nullopt;
  const std::optional<TracedTask> child =
      TakeTask(&payload, {" child_comm=", " child_pid=", "", ""});
  if (!child.has_value()) return std::nullopt;
  return ForkFields{*parent, *child};
}

std::optional<TracedTask> ParseExit(absl::string_view payload) {
  return TakeTask(&payload, {"comm=", " pid=", " prio=", ""});
}

std::optional<TracedTask> ParseRename(absl::string_view payload) {
  if (!TakePrefix(&payload, "pid=")) return std::nullopt;
  const std::optional<int32_t> tid = TakeInt32(&payload);
  if (!tid.has_value() || !TakePrefix(&payload, " oldcomm=")) return std::nullopt;
  // Both names may hold the other's key; the longer reading of the old one is no likelier.
  constexpr absl::string_view kNewName = " newcomm=";
  const size_t begin = payload.find(kNewName);
  const size_t end = payload.rfind(" oom_score_adj=");
  if (begin == absl::string_view::npos || end == absl::string_view::npos ||
      end < begin + kNewName.size()) {
    return std::nullopt;
  }
  const size_t name = begin + kNewName.size();
  return TracedTask{.tid = Tid{*tid}, .name = payload.substr(name, end - name)};
}

std::optional<IrqFields> ParseIrq(absl::string_view payload) {
  IrqFields fields;
  const bool is_soft = TakePrefix(&payload, "vec=");
  if (!is_soft && !TakePrefix(&payload, "irq=")) return std::nullopt;
  const std::optional<int32_t> number = TakeInt32(&payload);
  if (!number.has_value()) return std::nullopt;
  fields.number = *number;
  SkipBlanks(&payload);
  const bool is_named = is_soft ? TakePrefix(&payload, "[action=")
                                : TakePrefix(&payload, "name=") || TakePrefix(&payload, "handler=");
  if (is_named) fields.name = payload.substr(0, is_soft ? payload.find(']') : payload.size());
  return fields;
}

}  // namespace whylate
