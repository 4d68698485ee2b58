#include "analysis/import/ftrace_text.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "analysis/import/text_events.h"
#include "analysis/import/text_scan.h"
#include "analysis/import/trace_line.h"
#include "analysis/model/cpu_set.h"

namespace whylate {
namespace {

// A page has its viewer, some 3 MB of it, before the trace.
constexpr size_t kSniffedBytes = 256 * 1024;

bool IsPage(absl::string_view text) {
  const absl::string_view head = text.substr(0, 4096);
  return absl::StrContains(head, "<!DOCTYPE html") || absl::StrContains(head, "<html");
}

// The contents of a page's trace-data elements; of a text, the text.
std::vector<absl::string_view> Sections(absl::string_view text) {
  if (!IsPage(text)) return {text};
  constexpr absl::string_view kOpen = "<script class=\"trace-data\"";
  std::vector<absl::string_view> sections;
  for (size_t at = text.find(kOpen); at != absl::string_view::npos; at = text.find(kOpen, at)) {
    const size_t begin = text.find('>', at);
    if (begin == absl::string_view::npos) break;
    const size_t end = std::min(text.find("</script>", begin), text.size());
    sections.push_back(text.substr(begin + 1, end - begin - 1));
    at = end;
  }
  return sections;
}

std::optional<CpuId> TakeCpu(absl::string_view* text) {
  SkipBlanks(text);
  const std::optional<int32_t> cpu = TakeInt32(text);
  if (!cpu.has_value() || *cpu < 0 || *cpu >= CpuSet::kMaxCpus) return std::nullopt;
  return CpuId{*cpu};
}

// Lines that are no events: losses, and what a header tells.
class HeaderLines {
 public:
  explicit HeaderLines(TextEvents* events) : events_(events) {}

  void Line(absl::string_view line) {
    line = TrimBlanks(line);
    if (TakePrefix(&line, "CPU:")) {
      Loss(line);
    } else if (TakePrefix(&line, "#")) {
      Comment(line);
    }
  }

 private:
  // "CPU:2 [LOST 123 EVENTS]", of trace-cmd "CPU:2 [123 EVENTS DROPPED]"; the number may be missing.
  void Loss(absl::string_view line) {
    const std::optional<CpuId> cpu = TakeCpu(&line);
    SkipBlanks(&line);
    if (!cpu.has_value() || !TakePrefix(&line, "[")) return;
    const bool is_loss = absl::StrContains(line, "LOST") || absl::StrContains(line, "DROPPED");
    if (!is_loss || !absl::StrContains(line, "EVENTS")) return;
    TakePrefix(&line, "LOST ");
    events_->LostBeforeNext(*cpu, static_cast<uint64_t>(TakeNumber(&line).value_or(0)));
  }

  void Comment(absl::string_view line) {
    while (TakePrefix(&line, "#")) {
    }
    SkipBlanks(&line);
    constexpr absl::string_view kTracer = "latency trace v";
    if (TakePrefix(&line, "entries-in-buffer/entries-written:")) {
      SkipBlanks(&line);
      const std::optional<int64_t> kept = TakeNumber(&line);
      if (!kept.has_value() || !TakePrefix(&line, "/")) return;
      const int64_t written = TakeNumber(&line).value_or(*kept);
      overwritten_ = written > *kept;
      if (overwritten_) {
        events_->collector().Note(absl::StrCat("the buffer was too small: the oldest ",
                                               written - *kept, " entries were overwritten"));
      }
    } else if (const size_t at = line.find(kTracer); at != absl::string_view::npos) {
      line.remove_prefix(at + kTracer.size());
      TakeToken(&line);
      SkipBlanks(&line);
      if (TakePrefix(&line, "on ")) events_->Kernel(TakeToken(&line));
    } else if (TakePrefix(&line, "CPU") && overwritten_) {
      // "CPU 2 buffer started": what it had before was overwritten, as on the other CPUs.
      const std::optional<CpuId> cpu = TakeCpu(&line);
      if (cpu.has_value() && absl::StrContains(line, "buffer started")) {
        events_->LostBeforeNext(*cpu, 0);
      }
    }
  }

  TextEvents* events_;
  bool overwritten_ = false;
};

}  // namespace

bool LooksLikeFtraceText(absl::string_view text) {
  if (IsPage(text)) return true;
  absl::string_view rest = text.substr(0, kSniffedBytes);
  while (!rest.empty()) {
    const std::optional<TraceLine> line = SplitFtraceLine(TakeLine(&rest));
    if (line.has_value() && !line->event.empty()) return true;
  }
  return false;
}

absl::StatusOr<ImportedTrace> ImportFtraceText(absl::string_view text, const ImportLimits& limits) {
  const std::vector<absl::string_view> sections = Sections(text);
  if (sections.empty()) {
    return absl::InvalidArgumentError("a web page without the trace-data of systrace");
  }
  TextEvents events(IsPage(text) ? "systrace HTML" : "ftrace text", limits, text);
  HeaderLines headers(&events);
  for (absl::string_view section : sections) {
    const bool is_last = section.data() + section.size() == text.data() + text.size();
    if (is_last && DropCutLine(&section)) events.collector().Note(kCutNote);
    while (!section.empty()) {
      const absl::string_view line = TakeLine(&section);
      const std::optional<TraceLine> split = SplitFtraceLine(line);
      if (split.has_value()) {
        events.Line(*split);
      } else {
        headers.Line(line);
      }
    }
  }
  return events.Finish();
}

}  // namespace whylate
