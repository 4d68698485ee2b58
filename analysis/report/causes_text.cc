#include "analysis/report/causes_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analysis/attribution/totals.h"
#include "analysis/report/escape.h"
#include "analysis/report/session_totals.h"
#include "analysis/report/words.h"

namespace whylate {
namespace {

constexpr size_t kMostRows = 6;  // of causes under one cell; the JSON report has all
constexpr size_t kWidth = 100;

std::string Count(int64_t complete, int64_t incomplete) {
  if (incomplete == 0) return absl::StrCat(complete);
  return absl::StrFormat("%d (+%d incomplete)", complete, incomplete);
}

// Appends `part` to the last line of `text`, or to a new one where it would grow past the width.
void AppendWrapped(std::string& text, const std::string& part, const char* separator) {
  const size_t line_start = text.rfind('\n') + 1;  // 0 where there is none
  if (DisplayWidth(text.substr(line_start)) + DisplayWidth(part) + 3 > kWidth) {
    absl::StrAppend(&text, "\n      ", part);
  } else {
    absl::StrAppend(&text, separator, part);
  }
}

// `rows` has most frames first.
std::string CauseRows(std::vector<CauseRow> rows, int64_t misses) {
  std::erase_if(rows, [](const CauseRow& row) { return row.frames + row.frames_incomplete == 0; });
  std::string text = absl::StrFormat("   %d %s:", misses, misses == 1 ? "miss" : "misses");
  const char* separator = " ";
  int64_t more = 0;
  int64_t more_incomplete = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i >= kMostRows) {
      more += rows[i].frames;
      more_incomplete += rows[i].frames_incomplete;
      continue;
    }
    AppendWrapped(text,
                  absl::StrCat(Count(rows[i].frames, rows[i].frames_incomplete), " ",
                               CauseInWords(rows[i].subject, rows[i].kind, rows[i].decision)),
                  separator);
    separator = " · ";
  }
  if (more + more_incomplete > 0) {
    AppendWrapped(text, absl::StrCat(Count(more, more_incomplete), " by other causes"), separator);
  }
  return text + "\n";
}

std::string SavedRow(std::vector<SubjectRow> rows) {
  std::erase_if(rows, [](const SubjectRow& row) { return row.frames_saved == 0; });
  if (rows.empty()) return "";
  std::stable_sort(rows.begin(), rows.end(), [](const SubjectRow& a, const SubjectRow& b) {
    return a.frames_saved > b.frames_saved;
  });
  std::string text = "   saved if gone, each alone:";
  const char* separator = " ";
  for (size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    AppendWrapped(text, absl::StrCat(EscapeForTerminal(rows[i].subject), " ", rows[i].frames_saved),
                  separator);
    separator = " · ";
  }
  return text + "\n";
}

std::string DelayInWords(const DelayTotals& delay, int64_t duration_ns) {
  return absl::StrFormat("avoidable wait %s, %.0f ms a minute · unknown %.2f %% of late time",
                         Milliseconds(delay.avoidable_ns), delay.AvoidableMsPerMinute(duration_ns),
                         delay.UnknownPercent());
}

std::string WorstRow(const Cell& cell) {
  const auto worst = std::max_element(
      cell.explanation.misses.begin(), cell.explanation.misses.end(),
      [](const Miss& a, const Miss& b) {
        return a.frame.completion_ns - a.deadline_ns < b.frame.completion_ns - b.deadline_ns;
      });
  const DelayTotals delay = TotalDelay(cell.explanation.misses);
  return absl::StrFormat("   worst: frame %d, %s late · %s\n", worst->frame.index,
                         Milliseconds(worst->frame.completion_ns - worst->deadline_ns),
                         DelayInWords(delay, cell.frames.end_ns - cell.frames.origin_ns));
}

std::string ChangeRows(const Cell& cell) {
  std::string text;
  for (const Change& change : cell.explanation.changes) {
    absl::StrAppendFormat(
        &text, "   changed at %.3f s: %s of %s%s to %s%s\n",
        static_cast<double>(change.time_ns - cell.frames.origin_ns) / 1e9, change.what,
        EscapeForTerminal(change.task),
        change.from.empty() ? "" : absl::StrCat(" from ", EscapeForTerminal(change.from)),
        EscapeForTerminal(change.to),
        change.by.empty() ? "" : absl::StrCat(", by ", EscapeForTerminal(change.by)));
  }
  return text;
}

std::string LossRow(const TraceTotals& trace) {
  if (trace.lost == 0 && trace.recursion_misses == 0) return "";
  return absl::StrFormat("   trace incomplete: %d events lost, %d more not seen\n", trace.lost,
                         trace.recursion_misses);
}

}  // namespace

std::string CausesText(const Cell& cell) {
  const Explanation& explanation = cell.explanation;
  if (!explanation.trace) return "";
  const std::string notes = ChangeRows(cell) + LossRow(*explanation.trace);
  if (explanation.misses.empty()) return notes;
  int64_t misses = 0;
  for (const Miss& miss : explanation.misses) misses += 1 + miss.dropped;
  return absl::StrCat(CauseRows(explanation.causes, misses), SavedRow(explanation.subjects),
                      WorstRow(cell), notes);
}

std::string SessionCausesText(const Report& report) {
  const SessionTotals totals = TotalsOf(report);
  if (report.cells.size() < 2 || totals.misses == 0) return "";
  return absl::StrCat("\nall cells\n", CauseRows(totals.causes, totals.misses),
                      SavedRow(totals.subjects), "   ",
                      DelayInWords(totals.delay, totals.duration_ns), "\n");
}

}  // namespace whylate
