#include "analysis/import/trace_line.h"

#include <algorithm>

#include "analysis/model/cpu_set.h"

namespace whylate {
namespace {

// Of anything between blanks that is looked at before the time.
constexpr size_t kLongestToken = 32;
constexpr size_t kLongestEventName = 64;

// "[CPU] FLAGS TIME:" off the front of `text`.
bool TakeCpuAndTime(absl::string_view* text, TraceLine* line) {
  absl::string_view rest = *text;
  if (!TakePrefix(&rest, "[")) return false;
  const std::optional<int32_t> cpu = TakeInt32(&rest);
  if (!cpu.has_value() || *cpu < 0 || *cpu >= CpuSet::kMaxCpus || !TakePrefix(&rest, "]")) {
    return false;
  }
  line->cpu = CpuId{*cpu};
  line->flags = "";
  for (int tokens = 0; tokens < 2; ++tokens) {
    // A long run of blanks is no column either.
    absl::string_view columns = rest.substr(0, kLongestToken);
    const size_t before = columns.size();
    SkipBlanks(&columns);
    rest.remove_prefix(before - columns.size());
    absl::string_view after_time = rest;
    const std::optional<TextTime> time = TakeTime(&after_time);
    if (time.has_value() && TakePrefix(&after_time, ":")) {
      line->time = *time;
      *text = after_time;
      return true;
    }
    columns = rest.substr(0, kLongestToken);
    const absl::string_view token = TakeToken(&columns);
    if (token.empty() || token.size() == kLongestToken) return false;
    line->flags = token;
    rest.remove_prefix(token.size());
  }
  return false;
}

void SplitEvent(absl::string_view text, TraceLine* line) {
  SkipBlanks(&text);
  // perf writes the event's period before its name.
  absl::string_view after_period = text;
  if (TakeNumber(&after_period).has_value() && !after_period.empty() &&
      IsBlank(after_period.front())) {
    text = after_period;
    SkipBlanks(&text);
  }
  size_t end = 0;
  // "sched:sched_switch:" has a colon in it, as "sched_switch:" has not.
  while (end < text.size() && end < kLongestEventName && !IsBlank(text[end])) ++end;
  absl::string_view name = text.substr(0, end);
  if (name.size() < 2 || name.back() != ':') return;
  name.remove_suffix(1);
  const size_t colon = name.rfind(':');
  if (colon != absl::string_view::npos) name.remove_prefix(colon + 1);
  line->event = name;
  line->payload = text.substr(end);
  SkipBlanks(&line->payload);
}

// A mail's marks of a quotation, which no task's name begins with.
absl::string_view WithoutQuotation(absl::string_view text) {
  size_t count = 0;
  while (count < text.size() &&
         (IsBlank(text[count]) || text[count] == '>' || text[count] == '|')) {
    ++count;
  }
  return text.substr(count);
}

// The digits at the end of `text`, off it.
std::optional<int32_t> TakeNumberAtEnd(absl::string_view* text) {
  size_t count = 0;
  while (count < 10 && count < text->size() && IsDigit((*text)[text->size() - 1 - count])) ++count;
  absl::string_view digits = text->substr(text->size() - count);
  const std::optional<int32_t> value = TakeInt32(&digits);
  if (value.has_value()) text->remove_suffix(count);
  return value;
}

bool SplitFtraceTask(absl::string_view column, TraceLine* line) {
  column = TrimBlanks(column);
  if (!column.empty() && column.back() == ')') {
    const size_t searched = std::min(column.size(), kLongestToken);
    const absl::string_view tail = column.substr(column.size() - searched);
    const size_t in_tail = tail.rfind('(');
    if (in_tail == absl::string_view::npos) return false;
    const size_t open = column.size() - searched + in_tail;
    absl::string_view inside = TrimBlanks(column.substr(open + 1, column.size() - open - 2));
    if (const std::optional<int32_t> tgid = TakeInt32(&inside); tgid.has_value() && *tgid >= 0) {
      line->tgid = Tgid{*tgid};
    }
    column = TrimBlanks(column.substr(0, open));
  }
  const std::optional<int32_t> tid = TakeNumberAtEnd(&column);
  if (!tid.has_value() || column.empty() || column.back() != '-') return false;
  column.remove_suffix(1);
  line->tid = Tid{*tid};
  line->comm = WithoutQuotation(column);
  // "<...>" and "<1234>": not known.
  if (line->comm.size() > 2 && line->comm.front() == '<' &&
      (line->comm[1] == '.' || IsDigit(line->comm[1]))) {
    line->comm = "";
  }
  return true;
}

bool SplitPerfTask(absl::string_view column, TraceLine* line) {
  column = TrimBlanks(column);
  absl::string_view rest = column;
  if (const std::optional<int32_t> last = TakeNumberAtEnd(&rest); last.has_value()) {
    if (!rest.empty() && rest.back() == '/') {
      rest.remove_suffix(1);
      const std::optional<int32_t> first = TakeNumberAtEnd(&rest);
      if (first.has_value() && (rest.empty() || IsBlank(rest.back()))) {
        line->tgid = Tgid{*first};
        line->tid = Tid{*last};
        column = rest;
      }
    } else if (rest.empty() || IsBlank(rest.back())) {
      line->tid = Tid{*last};
      column = rest;
    }
  }
  line->comm = WithoutQuotation(TrimBlanks(column));
  if (!line->comm.empty() && line->comm.front() == ':') line->comm = "";  // ":1234": not known
  return true;
}

using SplitTask = bool (*)(absl::string_view column, TraceLine* line);

// The first "[CPU] .. TIME:" with a task before it: a name may have brackets as well.
std::optional<TraceLine> Split(absl::string_view text, SplitTask split_task) {
  SkipBlanks(&text);  // here, so that no bracket looks at them again
  for (size_t at = text.find('['); at != absl::string_view::npos; at = text.find('[', at + 1)) {
    TraceLine line;
    absl::string_view rest = text.substr(at);
    if (!TakeCpuAndTime(&rest, &line)) continue;
    if (!split_task(text.substr(0, at), &line)) continue;
    SplitEvent(rest, &line);
    return line;
  }
  return std::nullopt;
}

}  // namespace

std::optional<TraceLine> SplitFtraceLine(absl::string_view line) {
  return Split(line, SplitFtraceTask);
}

std::optional<TraceLine> SplitPerfLine(absl::string_view line) {
  return Split(line, SplitPerfTask);
}

}  // namespace whylate
