#include "analysis/import/timehist_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analysis/import/event_collector.h"
#include "analysis/import/mail_text.h"
#include "analysis/import/prev_state.h"
#include "analysis/import/seen_stints.h"
#include "analysis/import/text_scan.h"
#include "analysis/import/timehist_row.h"

namespace whylate {
namespace {

constexpr size_t kSniffedBytes = 256 * 1024;
// Times are microseconds, and each row's are rounded by themselves.
constexpr int64_t kRoundingNs = 2000;
constexpr size_t kMostOtherQueues = 8;

double Ms(int64_t ns) { return static_cast<double>(ns) / 1e6; }

struct Stay {
  const TimehistRow* row = nullptr;
  int64_t start_ns = 0;
  int64_t queued_ns = 0;
  bool follows = false;          // the stay before it on this CPU ends where it begins
  const Stay* next = nullptr;    // on this CPU, where that follows
  const Stay* before = nullptr;  // of this task
  SwitchOut out = SwitchOut::kUnknown;
  uint32_t state = 1;  // asleep where nothing tells: that makes up no wait
};

class TimehistReader {
 public:
  explicit TimehistReader(const ImportLimits& limits)
      : most_rows_(limits.events / 4),
        collector_("perf sched timehist", limits),
        stints_(&collector_) {}

  absl::StatusOr<ImportedTrace> Read(absl::string_view text) {
    if (DropCutLine(&text)) collector_.Note(kCutNote);
    TakeRows(text);
    if (stays_.empty()) {
      return absl::InvalidArgumentError(
          "perf sched timehist text without a row of a stay on a CPU in it");
    }
    OrderOnCpus();
    OrderOfTasks();
    AddNotes();
    Place();
    return collector_.Finish();
  }

 private:
  // What is done at one time: who leaves a CPU does so before he is queued again, and is queued
  // before he comes onto one; without a delay he is before both.
  enum class Step : uint8_t { kBegin, kQueuedAtOnce, kEnd, kOther, kQueued, kFound };
  struct Action {
    int64_t time_ns = 0;
    Step step = Step::kBegin;
    const Stay* stay = nullptr;
    const TimehistRow* row = nullptr;
  };

  void TakeRows(absl::string_view text);
  void OrderOnCpus();
  void OrderOfTasks();
  void Place();
  void Queue(const Stay& stay);
  void Act(const Action& action);
  void AddNotes();

  // A CPU of the trace that is not `cpu`.
  CpuId AnotherCpu(CpuId cpu) const {
    for (const auto& [id, stays] : cpus_) {
      if (id != cpu) return id;
    }
    return CpuId{cpu.value == 0 ? 1 : 0};
  }

  const size_t most_rows_;
  EventCollector collector_;
  SeenStints stints_;
  std::vector<TimehistRow> rows_;
  std::vector<Stay> stays_;
  std::map<CpuId, std::vector<Stay*>> cpus_;
  std::vector<Action> actions_;
  uint64_t left_out_ = 0;
};

void TimehistReader::TakeRows(absl::string_view text) {
  TimehistColumns columns;
  while (!text.empty()) {
    const absl::string_view line = WithoutQuoteMarks(TakeLine(&text));
    if (const auto head = TimehistHead(line); head.has_value()) columns = *head;
    const std::optional<TimehistRow> row = SplitTimehistRow(line, columns);
    if (!row.has_value()) continue;
    if (rows_.size() >= most_rows_) {
      ++left_out_;
    } else {
      rows_.push_back(*row);
    }
  }
  for (const TimehistRow& row : rows_) {
    if (row.kind != TimehistRow::Kind::kStay) continue;
    Stay stay;
    stay.row = &row;
    stay.start_ns = std::max<int64_t>(row.time_ns - row.run_ns, 0);
    stay.queued_ns = std::max<int64_t>(stay.start_ns - row.delay_ns, 0);
    stays_.push_back(stay);
  }
}

void TimehistReader::OrderOnCpus() {
  for (Stay& stay : stays_) cpus_[stay.row->cpu].push_back(&stay);
  for (auto& [cpu, stays] : cpus_) {
    std::stable_sort(stays.begin(), stays.end(), [](const Stay* a, const Stay* b) {
      return a->row->time_ns < b->row->time_ns;
    });
    Stay* before = nullptr;
    for (Stay* stay : stays) {
      stay->follows = before != nullptr && stay->start_ns <= before->row->time_ns + kRoundingNs;
      // Idle rows of which not all are there would make unknown time idle.
      if (stay->row->task.tid == Tid{0} && !stay->follows) {
        before = nullptr;
        stay->row = nullptr;
        continue;
      }
      if (!stay->follows) {
        // Found before it leaves.
        stay->start_ns = std::min(stay->start_ns, std::max<int64_t>(stay->row->time_ns - 1, 0));
      } else {
        stay->start_ns = before->row->time_ns;
        before->next = stay;
      }
      stay->queued_ns = std::min(stay->queued_ns, stay->start_ns);
      before = stay;
    }
    stays.erase(std::remove_if(stays.begin(), stays.end(),
                               [](const Stay* stay) { return stay->row == nullptr; }),
                stays.end());
  }
}

void TimehistReader::OrderOfTasks() {
  absl::flat_hash_map<Tid, Stay*> last;
  std::vector<Stay*> all;
  for (auto& [cpu, stays] : cpus_) all.insert(all.end(), stays.begin(), stays.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const Stay* a, const Stay* b) { return a->row->time_ns < b->row->time_ns; });
  for (Stay* stay : all) {
    const auto state = PrevStateOfLetters(stay->row->state);
    if (!stay->row->state.empty() && state.has_value()) {
      stay->out = state->out;
      stay->state = state->flags;
    }
    auto [found, is_first] = last.try_emplace(stay->row->task.tid, stay);
    if (is_first) continue;
    Stay* before = std::exchange(found->second, stay);
    stay->before = before;
    if (!before->row->state.empty() || stay->row->wait_ns == 0) continue;
    const bool preempted = stay->row->wait_ns - stay->row->delay_ns <= kRoundingNs / 2;
    before->out = preempted ? SwitchOut::kRunnable : SwitchOut::kBlocked;
    before->state = preempted ? 0 : 1;
  }
}

void TimehistReader::Queue(const Stay& stay) {
  const TimehistRow& row = *stay.row;
  if (row.task.tid == Tid{0}) return;
  if (stay.before == nullptr && row.delay_ns == 0 && row.wait_ns == 0) return;
  const bool preempted = stay.before != nullptr && stay.before->out == SwitchOut::kRunnable &&
                         stay.before->next != nullptr && stay.before->next->row->task.tid != Tid{0};
  if (preempted) return;  // queued when it left
  const bool at_once = stay.queued_ns == stay.start_ns;
  actions_.push_back({stay.queued_ns, at_once ? Step::kQueuedAtOnce : Step::kQueued, &stay, &row});
}

void TimehistReader::Place() {
  int64_t begin_ns = stays_.front().queued_ns;
  for (const Stay& stay : stays_) begin_ns = std::min(begin_ns, stay.queued_ns);
  for (const auto& [cpu, stays] : cpus_) {
    for (const Stay* stay : stays) {
      if (stay == stays.front()) actions_.push_back({begin_ns, Step::kBegin, stay, stay->row});
      Queue(*stay);
      if (!stay->follows) actions_.push_back({stay->start_ns, Step::kFound, stay, stay->row});
      actions_.push_back({stay->row->time_ns, Step::kEnd, stay, stay->row});
    }
  }
  for (const TimehistRow& row : rows_) {
    if (row.kind == TimehistRow::Kind::kMigrated) {
      actions_.push_back({row.time_ns, Step::kOther, nullptr, &row});
    }
  }
  std::stable_sort(actions_.begin(), actions_.end(), [](const Action& a, const Action& b) {
    return std::tuple(a.time_ns, a.step) < std::tuple(b.time_ns, b.step);
  });
  for (const Action& action : actions_) Act(action);
  for (const auto& [cpu, stays] : cpus_) {
    if (!stays.empty()) collector_.Unseen(cpu, stays.back()->row->time_ns, std::nullopt);
  }
}

void TimehistReader::Act(const Action& action) {
  const TimehistRow& row = *action.row;
  switch (action.step) {
    case Step::kBegin:
      stints_.Begin(action.time_ns, row.cpu);
      break;
    case Step::kQueued:
    case Step::kQueuedAtOnce:
      // Queued on another CPU, and moved at a time of which no event tells: no row names that CPU,
      // and any other than this one says so.
      collector_.Wakeup(action.time_ns, row.cpu, row.task,
                        row.other_queue_ns > 0 ? AnotherCpu(row.cpu) : row.cpu, false);
      break;
    case Step::kFound:
      stints_.Found(action.time_ns, row.cpu, row.task);
      break;
    case Step::kEnd:
      if (action.stay->next == nullptr) {
        stints_.Left(action.time_ns, row.cpu, row.task, action.stay->out);
      } else {
        collector_.Switch(action.time_ns, row.cpu, row.task, action.stay->out, action.stay->state,
                          action.stay->next->row->task);
      }
      break;
    case Step::kOther:
      collector_.Migrate(action.time_ns, row.cpu, row.other, row.from, row.to);
      break;
  }
}

void TimehistReader::AddNotes() {
  const auto count = [&](TimehistRow::Kind kind) {
    return std::count_if(rows_.begin(), rows_.end(),
                         [&](const TimehistRow& row) { return row.kind == kind; });
  };
  collector_.Note(absl::StrCat(rows_.size(), " rows: ", count(TimehistRow::Kind::kStay),
                               " stays on a CPU, ", count(TimehistRow::Kind::kAwakened),
                               " wake-ups, ", count(TimehistRow::Kind::kMigrated), " migrations"));
  collector_.Note(
      "occupants follow from other rows of the same CPU; where no row covers it, who had it is not "
      "known");
  collector_.Note("a preempted task's wait is known where perf counts it as sch delay");
  std::vector<const TimehistRow*> moved;
  for (const TimehistRow& row : rows_) {
    if (row.other_queue_ns > 0) moved.push_back(&row);
  }
  std::stable_sort(moved.begin(), moved.end(), [](const TimehistRow* a, const TimehistRow* b) {
    return a->other_queue_ns > b->other_queue_ns;
  });
  for (size_t i = 0; i < std::min(moved.size(), kMostOtherQueues); ++i) {
    const TimehistRow& row = *moved[i];
    collector_.Note(absl::StrFormat(
        "%s (tid %d) that left CPU %d at %d.%06d s had waited %.3f ms, %.3f of them on the queue "
        "of another CPU",
        row.task.name, row.task.tid.value, row.cpu.value, row.time_ns / 1'000'000'000,
        row.time_ns % 1'000'000'000 / 1000, Ms(row.delay_ns), Ms(row.other_queue_ns)));
  }
  if (moved.size() > kMostOtherQueues) {
    collector_.Note(absl::StrCat("and ", moved.size() - kMostOtherQueues,
                                 " more waits began on the queue of another CPU"));
  }
  if (left_out_ > 0) {
    collector_.Note(absl::StrCat("too many rows: the first ", rows_.size(), " are read, ",
                                 left_out_, " are not"));
  }
}

}  // namespace

bool LooksLikeTimehistText(absl::string_view text) {
  absl::string_view rest = text.substr(0, kSniffedBytes);
  TimehistColumns columns;
  while (!rest.empty()) {
    const absl::string_view line = WithoutQuoteMarks(TakeLine(&rest));
    if (const auto head = TimehistHead(line); head.has_value()) columns = *head;
    const std::optional<TimehistRow> row = SplitTimehistRow(line, columns);
    if (row.has_value() && row->kind == TimehistRow::Kind::kStay) return true;
  }
  return false;
}

absl::StatusOr<ImportedTrace> ImportTimehistText(absl::string_view text,
                                                 const ImportLimits& limits) {
  const std::optional<std::string> decoded = FromQuotedPrintable(text);
  return TimehistReader(limits).Read(decoded.has_value() ? absl::string_view(*decoded) : text);
}

}  // namespace whylate
