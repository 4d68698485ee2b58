#include "analysis/import/timehist_row.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "analysis/import/text_scan.h"
#include "analysis/model/cpu_set.h"

namespace whylate {
namespace {

constexpr int64_t kNsPerUs = 1000;
constexpr size_t kLongestName = 64;

// "60.237", in milliseconds: at most 11 days of them.
std::optional<int64_t> TakeMs(absl::string_view* text) {
  SkipBlanks(text);
  absl::string_view rest = *text;
  const std::optional<TextTime> time = TakeTime(&rest);
  if (!time.has_value() || time->decimals != 3) return std::nullopt;
  if (!rest.empty() && !IsBlank(rest[0])) return std::nullopt;
  *text = rest;
  return time->time_ns / kNsPerUs;
}

std::optional<CpuId> CpuOf(const std::optional<int32_t>& number) {
  if (!number.has_value() || *number < 0 || *number >= CpuSet::kMaxCpus) return std::nullopt;
  return CpuId{*number};
}

// "[28773/28574]" or "[18]".
bool TakeIds(absl::string_view* text, Tid* tid, std::optional<Tgid>* tgid) {
  if (!TakePrefix(text, "[")) return false;
  const std::optional<int32_t> first = TakeInt32(text);
  if (!first.has_value() || *first < 0) return false;
  *tid = Tid{*first};
  if (TakePrefix(text, "/")) {
    const std::optional<int32_t> second = TakeInt32(text);
    if (!second.has_value() || *second < 0) return false;
    *tgid = Tgid{*second};
  }
  return TakePrefix(text, "]");
}

// What comes next tells the task's own brackets from those in a name.
bool IsAfterTask(absl::string_view text) {
  if (text.empty()) return true;
  if (!IsBlank(text[0])) return false;
  SkipBlanks(&text);
  return text.empty() || IsDigit(text[0]) || absl::StartsWith(text, "awakened:") ||
         absl::StartsWith(text, "migrated:") || absl::StartsWith(text, "cpu ");
}

// A name may have blanks and brackets; a mark of -V stands before it, apart.
bool TakeTask(absl::string_view* text, bool has_cpus, TracedTask* task, std::optional<Tgid>* tgid) {
  SkipBlanks(text);
  absl::string_view idle = *text;
  if (has_cpus && TakePrefix(&idle, "i")) SkipBlanks(&idle);
  if (TakePrefix(&idle, "<idle>")) {
    task->name = "swapper";
    task->tid = Tid{0};
    *text = idle;
    return true;
  }
  for (size_t at = text->find('['); at != absl::string_view::npos; at = text->find('[', at + 1)) {
    absl::string_view rest = text->substr(at);
    if (at == 0 || !TakeIds(&rest, &task->tid, tgid)) continue;
    if (!IsAfterTask(rest)) continue;
    absl::string_view name = text->substr(0, at);
    const bool is_marked =
        name.size() > 1 && IsBlank(name[1]) && (name[0] == 's' || name[0] == 'm' || name[0] == 'i');
    if (has_cpus && is_marked) name.remove_prefix(1);
    task->name = TrimBlanks(name).substr(0, kLongestName);
    *text = rest;
    return true;
  }
  return false;
}

bool SplitOther(absl::string_view text, TimehistRow* row) {
  if (TakePrefix(&text, "awakened:")) {
    row->kind = TimehistRow::Kind::kAwakened;
  } else if (TakePrefix(&text, "migrated:")) {
    row->kind = TimehistRow::Kind::kMigrated;
  } else {
    return false;
  }
  std::optional<Tgid> tgid;
  if (!TakeTask(&text, false, &row->other, &tgid)) return false;
  if (row->kind == TimehistRow::Kind::kAwakened) return true;
  SkipBlanks(&text);
  if (!TakePrefix(&text, "cpu ")) return false;
  const std::optional<CpuId> from = CpuOf(TakeInt32(&text));
  SkipBlanks(&text);
  if (!TakePrefix(&text, "=>")) return false;
  SkipBlanks(&text);
  const std::optional<CpuId> to = CpuOf(TakeInt32(&text));
  if (!from.has_value() || !to.has_value()) return false;
  row->from = *from;
  row->to = *to;
  return true;
}

bool IsState(absl::string_view word) {
  constexpr absl::string_view kStates = "RSDTtXZPIW";
  return word.size() == 1 && kStates.find(word[0]) != absl::string_view::npos;
}

}  // namespace

std::optional<TimehistColumns> TimehistHead(absl::string_view line) {
  SkipBlanks(&line);
  if (TakeToken(&line) != "time") return std::nullopt;
  SkipBlanks(&line);
  if (TakeToken(&line) != "cpu") return std::nullopt;
  SkipBlanks(&line);
  TimehistColumns columns;
  columns.has_cpus = !line.empty() && absl::ascii_isxdigit(static_cast<unsigned char>(line[0]));
  columns.has_other_queue = absl::StrContains(line, "pre-mig time");
  return columns;
}

std::optional<TimehistRow> SplitTimehistRow(absl::string_view text,
                                            const TimehistColumns& columns) {
  TimehistRow row;
  SkipBlanks(&text);
  const std::optional<TextTime> time = TakeTime(&text);
  if (!time.has_value()) return std::nullopt;
  row.time_ns = time->time_ns;
  SkipBlanks(&text);
  if (!TakePrefix(&text, "[")) return std::nullopt;
  const std::optional<CpuId> cpu = CpuOf(TakeInt32(&text));
  if (!cpu.has_value() || !TakePrefix(&text, "]")) return std::nullopt;
  row.cpu = *cpu;
  if (!TakeTask(&text, columns.has_cpus, &row.task, &row.tgid)) return std::nullopt;
  SkipBlanks(&text);
  if (SplitOther(text, &row)) return row;
  const std::optional<int64_t> wait_ns = TakeMs(&text);
  const std::optional<int64_t> delay_ns = TakeMs(&text);
  const std::optional<int64_t> run_ns = TakeMs(&text);
  if (!wait_ns.has_value() || !delay_ns.has_value() || !run_ns.has_value()) return std::nullopt;
  row.wait_ns = *wait_ns;
  row.delay_ns = *delay_ns;
  row.run_ns = *run_ns;
  if (columns.has_other_queue)
    row.other_queue_ns = std::min(TakeMs(&text).value_or(0), row.delay_ns);
  SkipBlanks(&text);
  const absl::string_view word = TakeToken(&text);
  if (IsState(word)) row.state = word;
  return row;
}

}  // namespace whylate
