#include "analysis/import/text_events.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "analysis/import/sched_payload.h"
#include "analysis/import/text_scan.h"

namespace whylate {
namespace {

constexpr int64_t kNsPerUs = 1000;
constexpr size_t kLongestName = 64;

// The largest number that any sched_switch of `text` has as its state. O(length).
uint32_t LargestState(absl::string_view text) {
  constexpr absl::string_view kKey = " prev_state=";
  uint32_t largest = 0;
  for (size_t at = text.find(kKey); at != absl::string_view::npos;
       at = text.find(kKey, at + kKey.size())) {
    absl::string_view state = text.substr(at + kKey.size());
    largest = std::max(largest, TakeState(&state).value_or(0));
  }
  return largest;
}

// `decimals` = 7: a digit too many. The first time after `after_ns` that dropping one gives.
std::optional<int64_t> WithoutOneDigit(int64_t time_ns, int64_t after_ns) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  const int64_t second_ns = time_ns / kNsPerSecond * kNsPerSecond;
  const int64_t fraction = time_ns % kNsPerSecond / 100;  // of 7 digits
  std::optional<int64_t> best;
  for (int64_t unit = 1; unit <= 1'000'000; unit *= 10) {
    const int64_t dropped = fraction / (unit * 10) * unit + fraction % unit;
    const int64_t read_ns = second_ns + dropped * kNsPerUs;
    if (read_ns >= after_ns) best = std::min(best.value_or(read_ns), read_ns);
  }
  return best;
}

}  // namespace

TextEvents::TextEvents(std::string format, const ImportLimits& limits, absl::string_view text)
    : collector_(std::move(format), limits), most_names_(limits.names), text_(text) {}

void TextEvents::Kernel(absl::string_view release) {
  const std::optional<StateLayout> layout = LayoutOfKernel(release);
  if (!layout.has_value()) return;
  layout_ = layout;
  if (layout == StateLayout::kIndices) collector_.Note("states of a 4.14 kernel are indices");
}

StateLayout TextEvents::Layout() {
  if (!layout_.has_value()) layout_ = LayoutOfLargest(LargestState(text_));
  return *layout_;
}

int64_t TextEvents::TimeOf(const TraceLine& line) {
  int64_t time_ns = line.time.time_ns;
  if (line.time.decimals == 7 && time_ns < last_time_ns_) {
    const std::optional<int64_t> read_ns = WithoutOneDigit(time_ns, last_time_ns_);
    if (read_ns.has_value()) {
      time_ns = *read_ns;
      collector_.Note("times of 7 decimals, out of order: read with one digit less");
    }
  }
  if (time_ns != last_time_ns_) {
    shift_ns_ = 0;
  } else if (line.cpu < last_cpu_ && line.time.decimals <= 6 && shift_ns_ < kNsPerUs - 1) {
    ++shift_ns_;
  }
  last_time_ns_ = time_ns;
  last_cpu_ = line.cpu;
  return time_ns + shift_ns_;
}

void TextEvents::LostBeforeNext(CpuId cpu, uint64_t count) {
  uint64_t& lost = lost_[cpu];
  lost += std::min(count, std::numeric_limits<uint64_t>::max() - lost);
}

void TextEvents::CloseLoss(CpuId cpu, int64_t time_ns) {
  auto last = last_ns_.find(cpu);
  if (auto lost = lost_.find(cpu); lost != lost_.end()) {
    std::optional<int64_t> begin_ns;
    if (last != last_ns_.end()) begin_ns = std::min(last->second, time_ns);
    collector_.Lost(cpu, begin_ns, time_ns, lost->second);
    lost_.erase(lost);
    contexts_.Reset(cpu);
  }
  if (last == last_ns_.end()) {
    last_ns_.emplace(cpu, time_ns);
  } else {
    last->second = time_ns;
  }
}

TextEvents::Task* TextEvents::FindTask(Tid tid, const TraceLine& line, int64_t time_ns) {
  if (tid.value <= 0) return nullptr;
  auto found = tasks_.find(tid);
  if (found != tasks_.end()) return &found->second;
  if (tasks_.size() >= most_names_) return nullptr;
  Task& task = tasks_[tid];
  task.first_ns = time_ns;
  task.cpu = line.cpu;
  return &task;
}

void TextEvents::Named(const TracedTask& task, const TraceLine& line, int64_t time_ns) {
  Task* known = FindTask(task.tid, line, time_ns);
  if (known == nullptr || !known->field_name.empty() || task.name == "<...>") return;
  known->field_name = std::string(task.name.substr(0, kLongestName));
}

void TextEvents::Line(const TraceLine& line) {
  ++lines_;
  const int64_t time_ns = TimeOf(line);
  CloseLoss(line.cpu, time_ns);
  if (line.tid.has_value()) {
    Task* task = FindTask(*line.tid, line, time_ns);
    if (task != nullptr) {
      if (line.tgid.has_value()) task->tgid = line.tgid;
      if (task->column_name.empty()) {
        task->column_name = std::string(line.comm.substr(0, kLongestName));
      }
    }
  }
  bool is_read = true;
  if (absl::StartsWith(line.event, "sched_")) {
    is_read = SchedEvent(line, time_ns);
  } else if (line.event == "task_rename") {
    const std::optional<TracedTask> task = ParseRename(line.payload);
    is_read = task.has_value();
    if (is_read) {
      collector_.Name(time_ns, line.cpu, *task, std::nullopt, false);
      Named(*task, line, time_ns);
    }
  } else {
    is_read = IrqEvent(line);
  }
  if (!is_read) ++unreadable_;
  // Events that are not kept tell until when the trace goes.
  if (!is_read || !absl::StartsWith(line.event, "sched_")) collector_.Seen(time_ns, line.cpu);
}

bool TextEvents::SchedEvent(const TraceLine& line, int64_t time_ns) {
  const absl::string_view event = line.event.substr(sizeof("sched_") - 1);
  if (event == "switch") return SwitchLine(line, time_ns);
  if (event == "waking" || event == "wakeup" || event == "wakeup_new") {
    return WakeLine(line, time_ns);
  }
  return TaskEvent(line, time_ns);
}

bool TextEvents::TaskEvent(const TraceLine& line, int64_t time_ns) {
  if (line.event == "sched_migrate_task") {
    const std::optional<MigrateFields> fields = ParseMigrate(line.payload);
    if (!fields.has_value()) return false;
    collector_.Migrate(time_ns, line.cpu, fields->task, fields->from, fields->to);
    Named(fields->task, line, time_ns);
  } else if (line.event == "sched_process_fork") {
    const std::optional<ForkFields> fields = ParseFork(line.payload);
    if (!fields.has_value()) return false;
    collector_.Fork(time_ns, line.cpu, fields->parent, fields->child);
    Named(fields->parent, line, time_ns);
    Named(fields->child, line, time_ns);
    Task* child = FindTask(fields->child.tid, line, time_ns);
    if (child != nullptr) child->is_forked = true;
  } else if (line.event == "sched_process_exit") {
    const std::optional<TracedTask> task = ParseExit(line.payload);
    if (!task.has_value()) return false;
    collector_.Exit(time_ns, line.cpu, *task);
    Named(*task, line, time_ns);
  } else {
    collector_.Seen(time_ns, line.cpu);
  }
  return true;
}

std::optional<PrevState> TextEvents::StateOf(absl::string_view text, const TracedTask& prev) {
  absl::string_view rest = text;
  std::optional<PrevState> state;
  if (const std::optional<uint32_t> number = TakeState(&rest); number.has_value()) {
    if (rest.empty()) state = PrevStateOfNumber(*number, Layout());
  } else {
    state = PrevStateOfLetters(text);
  }
  // Nobody traces a kernel's thread.
  const bool is_odd = text == "t" && absl::StartsWith(prev.name, "kworker/");
  if (is_odd || (state.has_value() && state->is_index)) {
    collector_.Note("states of a 4.14 kernel are indices");
  }
  return state;
}

bool TextEvents::SwitchLine(const TraceLine& line, int64_t time_ns) {
  const std::optional<SwitchFields> fields = ParseSwitch(line.payload);
  if (!fields.has_value()) return false;
  const std::optional<PrevState> state = StateOf(fields->prev_state, fields->prev);
  if (!state.has_value() && fields->prev.tid != Tid{0}) {
    collector_.Note("some switches do not tell in which state a task left its CPU");
  }
  const PrevState known = state.value_or(PrevState());
  collector_.Switch(time_ns, line.cpu, fields->prev, known.out, known.flags, fields->next);
  contexts_.Reset(line.cpu);
  Named(fields->prev, line, time_ns);
  Named(fields->next, line, time_ns);
  return true;
}

bool TextEvents::WakeLine(const TraceLine& line, int64_t time_ns) {
  const std::optional<WakeFields> fields = ParseWake(line.payload);
  if (!fields.has_value()) return false;
  if (line.event == "sched_waking") {
    if (!line.tid.has_value()) collector_.Note("lines without a tid: who woke a task is not known");
    collector_.Waking(
        time_ns, line.cpu, fields->wakee,
        contexts_.Waker(line.cpu, line.tid.value_or(Tid{0}), ContextOfFlags(line.flags)));
  } else if (fields->success) {
    collector_.Wakeup(time_ns, line.cpu, fields->wakee, fields->target,
                      line.event == "sched_wakeup_new");
  } else {
    collector_.Seen(time_ns, line.cpu);
  }
  Named(fields->wakee, line, time_ns);
  return true;
}

bool TextEvents::IrqEvent(const TraceLine& line) {
  if (line.event == "irq_handler_exit") {
    contexts_.HardExit(line.cpu);
  } else if (line.event == "softirq_exit") {
    contexts_.SoftExit(line.cpu);
  } else if (line.event == "irq_handler_entry" || line.event == "softirq_entry") {
    const std::optional<IrqFields> fields = ParseIrq(line.payload);
    if (!fields.has_value()) return false;
    if (line.event == "softirq_entry") {
      contexts_.SoftEntry(line.cpu, fields->name);
    } else {
      contexts_.HardEntry(line.cpu, fields->number, fields->name);
    }
  }
  return true;
}

absl::StatusOr<ImportedTrace> TextEvents::Finish() {
  for (const auto& [cpu, count] : lost_) {
    auto last = last_ns_.find(cpu);
    std::optional<int64_t> begin_ns;
    if (last != last_ns_.end()) begin_ns = last->second;
    collector_.Lost(cpu, begin_ns, std::nullopt, count);
  }
  std::vector<Tid> tids;
  for (const auto& [tid, task] : tasks_) tids.push_back(tid);
  std::sort(tids.begin(), tids.end());
  for (const Tid tid : tids) {
    const Task& task = tasks_.find(tid)->second;
    if (task.is_forked && task.tgid.has_value()) collector_.ForkedInto(tid, *task.tgid);
    const bool is_unnamed = task.field_name.empty() && !task.column_name.empty();
    if (task.is_forked || (!is_unnamed && !task.tgid.has_value())) continue;
    collector_.Name(task.first_ns, task.cpu,
                    {.tid = tid, .name = is_unnamed ? task.column_name : task.field_name},
                    task.tgid, false);
  }
  if (unreadable_ > 0) {
    collector_.Note(absl::StrCat(unreadable_, " lines of known events could not be read"));
  }
  return collector_.Finish();
}

}  // namespace whylate
