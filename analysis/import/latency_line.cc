#include "analysis/import/latency_line.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "analysis/import/text_scan.h"
#include "analysis/model/cpu_set.h"

namespace whylate {
namespace {

constexpr int64_t kNsPerUs = 1000;
constexpr int64_t kMostUs = 1'000'000'000;
constexpr size_t kLongestFlags = 12;
constexpr size_t kLongestName = 64;

bool IsFlag(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.'; }

// "PID CPU-FLAGS TIMEus MARK:", of which the CPU has no blank to its flags.
bool TakeColumns(absl::string_view* text, LatencyLine* line) {
  const std::optional<int32_t> tid = TakeInt32(text);
  if (!tid.has_value() || *tid < 0 || text->empty() || !IsBlank((*text)[0])) return false;
  SkipBlanks(text);
  const std::optional<int32_t> cpu = TakeInt32(text);
  if (!cpu.has_value() || *cpu < 0 || *cpu >= CpuSet::kMaxCpus) return false;
  const absl::string_view flags = TakeToken(text);
  if (flags.size() < 3 || flags.size() > kLongestFlags) return false;
  if (!std::all_of(flags.begin(), flags.end(), IsFlag)) return false;
  SkipBlanks(text);
  const std::optional<int64_t> us = TakeNumber(text);
  if (!us.has_value() || *us > kMostUs || !TakePrefix(text, "us")) return false;
  const size_t colon = text->substr(0, 3).find(':');
  if (colon == absl::string_view::npos) return false;
  text->remove_prefix(colon + 1);
  line->tid = Tid{*tid};
  line->cpu = CpuId{*cpu};
  line->flags = flags;
  line->time_ns = *us * kNsPerUs;
  return true;
}

// "264:120:R": tid, the kernel's priority, state.
bool TakeTask(absl::string_view* text, TracedTask* task, absl::string_view* state) {
  SkipBlanks(text);
  const std::optional<int32_t> tid = TakeInt32(text);
  if (!tid.has_value() || !TakePrefix(text, ":")) return false;
  SkipBlanks(text);
  const std::optional<int32_t> priority = TakeInt32(text);
  if (!priority.has_value() || !TakePrefix(text, ":")) return false;
  task->tid = Tid{*tid};
  task->priority = *priority;
  *state = TakeToken(text);
  SkipBlanks(text);
  return true;
}

}  // namespace

std::optional<LatencyLine> SplitLatencyLine(absl::string_view text) {
  SkipBlanks(&text);
  for (size_t at = text.find('-'); at != absl::string_view::npos; at = text.find('-', at + 1)) {
    LatencyLine line;
    absl::string_view rest = text.substr(at + 1);
    if (!TakeColumns(&rest, &line)) continue;
    line.comm = text.substr(0, std::min(at, kLongestName));
    line.what = TrimBlanks(rest);
    return line;
  }
  return std::nullopt;
}

std::optional<LatencyEvent> ParseLatencyEvent(absl::string_view what) {
  LatencyEvent event;
  if (!TakeTask(&what, &event.current, &event.state)) return std::nullopt;
  event.is_switch = TakePrefix(&what, "==>");
  if (!event.is_switch && !TakePrefix(&what, "+")) return std::nullopt;
  SkipBlanks(&what);
  if (!TakePrefix(&what, "[")) return std::nullopt;
  const std::optional<int32_t> cpu = TakeInt32(&what);
  if (!cpu.has_value() || !TakePrefix(&what, "]")) return std::nullopt;
  event.cpu = CpuId{*cpu};
  absl::string_view state;
  if (!TakeTask(&what, &event.task, &state)) return std::nullopt;
  event.task.name = TrimBlanks(what).substr(0, kLongestName);
  return event;
}

absl::string_view WithoutOffset(absl::string_view function) {
  return function.substr(0, std::min(function.find_first_of("+ \t"), kLongestName));
}

std::string FunctionInWords(absl::string_view what) {
  const bool is_function =
      !what.empty() && (absl::ascii_isalpha(static_cast<unsigned char>(what[0])) || what[0] == '_');
  if (!is_function) return "";
  const size_t caller = what.find("<-");
  if (caller == absl::string_view::npos) return std::string(WithoutOffset(what));
  return absl::StrCat(WithoutOffset(what), " <- ", WithoutOffset(what.substr(caller + 2)));
}

}  // namespace whylate
