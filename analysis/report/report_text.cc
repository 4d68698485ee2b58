#include "analysis/report/report_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "analysis/report/causes_text.h"
#include "analysis/report/escape.h"

namespace whylate {
namespace {

constexpr size_t kNameWidth = 30;

std::string PadRight(const std::string& text, size_t width) {
  const size_t columns = DisplayWidth(text);
  return columns >= width ? text : text + std::string(width - columns, ' ');
}

// Three significant digits where the value is small, none past the point where it is large.
std::string Compact(double value) {
  const double magnitude = std::fabs(value);
  if (magnitude < 9.995) return absl::StrFormat("%.2f", value);
  if (magnitude < 99.95) return absl::StrFormat("%.1f", value);
  return absl::StrFormat("%.0f", value);
}

std::string MillisecondsOfUs(double us) { return Compact(us / 1000); }

// 100 only for exactly all of it: 99.99 % is not 100 %.
std::string CompactPercent(const std::optional<double>& percent) {
  if (!percent) return "-";
  if (*percent >= 100 || *percent <= 0) return absl::StrFormat("%.0f", *percent);
  return absl::StrFormat("%.1f", std::min(*percent, 99.9));
}

// "41.2 MB/s"; a unit that is a word stands apart from the prefix: "1.50 M messages/s".
std::string ScaledRate(double per_second, absl::string_view unit) {
  constexpr std::array<const char*, 5> kPrefixes = {"", "k", "M", "G", "T"};
  size_t prefix = 0;
  while (per_second >= 999.5 && prefix + 1 < kPrefixes.size()) {
    per_second /= 1000;
    ++prefix;
  }
  const bool word = unit.size() > 1;
  return absl::StrCat(Compact(per_second), " ", kPrefixes[prefix], word && prefix > 0 ? " " : "",
                      EscapeForTerminal(unit), "/s");
}

std::string DescribePart(const ProgressPart& part, double seconds, int64_t loops_per_ms) {
  const auto total = static_cast<double>(part.total);
  if (seconds <= 0) return "nothing";
  if (part.unit == "loops" && loops_per_ms > 0) {
    return absl::StrFormat("%.2f CPUs", total / static_cast<double>(loops_per_ms) / 1000 / seconds);
  }
  if (part.unit == "cpu_ms") return absl::StrFormat("%.2f CPUs", total / 1000 / seconds);
  if (part.unit != "bytes") return ScaledRate(total / seconds, part.unit);
  std::string text = ScaledRate(total / seconds, "B");
  if (part.disk_bytes) {
    absl::StrAppend(&text, " (disk ",
                    ScaledRate(static_cast<double>(*part.disk_bytes) / seconds, "B"), ")");
  }
  return text;
}

std::string CellName(const Cell& cell, int32_t repeat) {
  return repeat > 1 ? absl::StrCat(EscapeForTerminal(cell.load), " #", cell.run + 1)
                    : EscapeForTerminal(cell.load);
}

std::string CellRow(const Cell& cell, const Report& report) {
  std::string row = PadRight(CellName(cell, report.options.repeat), kNameWidth);
  const std::optional<Distribution>& latency = cell.classic.latency_us;
  const auto ms = [&](double us) { return latency ? MillisecondsOfUs(us) : std::string("-"); };
  absl::StrAppendFormat(
      &row, " %7s +/- %-6s %6s %6s  %5s %5s %7s  ", ms(latency ? latency->mean : 0),
      latency && latency->sd ? MillisecondsOfUs(*latency->sd) : "-", ms(latency ? latency->p99 : 0),
      ms(latency ? latency->max : 0), CompactPercent(cell.classic.desired_cpu_pct),
      CompactPercent(cell.classic.deadlines_met_pct),
      cell.frames.pacing == Pacing::kBackToBack ? "-" : absl::StrCat(cell.counts.dropped));
  absl::StrAppend(&row,
                  DescribeProgress(cell.load_progress, cell.frames.end_ns - cell.frames.origin_ns,
                                   report.loops_per_ms));
  return row;
}

std::string CellRemarks(const Cell& cell) {
  std::string text;
  for (const std::string& reason : cell.invalid) {
    absl::StrAppend(&text, "   NOT VALID: ", EscapeForTerminal(reason), "\n");
  }
  for (const std::string& note : cell.notes) {
    absl::StrAppend(&text, "   note: ", EscapeForTerminal(note), "\n");
  }
  if (cell.counts.censored > 0) {
    absl::StrAppendFormat(&text, "   %d frames censored: unfinished when the cell ended\n",
                          cell.counts.censored);
  }
  return text;
}

// One line for the session: what watching cost the machine, as a share of one CPU.
std::string ObserverRow(const Report& report) {
  ObserverCost sum;
  sum.bpf_run_ns = 0;
  uint64_t events = 0;
  uint64_t lost = 0;
  uint64_t breaks = 0;
  bool has_steal_clock = true;
  bool measured = true;
  for (const Cell& cell : report.cells) {
    if (!cell.observer || !cell.explanation.trace) continue;
    sum.wall_ns += cell.observer->wall_ns;
    measured = measured && cell.observer->bpf_run_ns.has_value();
    *sum.bpf_run_ns += cell.observer->bpf_run_ns.value_or(0);
    sum.reader_cpu_ns += cell.observer->reader_cpu_ns;
    sum.process_cpu_ns += cell.observer->process_cpu_ns;
    events += cell.explanation.trace->events;
    lost += cell.explanation.trace->lost;
    breaks += cell.explanation.trace->breaks;
    // Where nothing was late no switch was kept that could show it.
    const bool asked = !cell.explanation.misses.empty();
    has_steal_clock = has_steal_clock && (!asked || cell.explanation.trace->has_steal_clock);
  }
  if (sum.wall_ns == 0) return "";
  const auto share = [&](int64_t ns) {
    return 100 * static_cast<double>(ns) / static_cast<double>(sum.wall_ns);
  };
  const std::string ebpf =
      measured ? absl::StrFormat("%.2f %%", share(*sum.bpf_run_ns)) : "not measured";
  return absl::StrFormat(
      "\nobserver: eBPF %s, reader %.2f %%, whylate in all %.2f %% of one CPU; %d events, %d "
      "lost,\n%d breaks by hidden switches%s\n",
      ebpf, share(sum.reader_cpu_ns), share(sum.process_cpu_ns), events, lost, breaks,
      has_steal_clock ? "" : "; what a hypervisor takes is not measurable here");
}

std::string Heading(const std::string& title) {
  return absl::StrCat(PadRight(absl::StrCat(EscapeForTerminal(title), " under"), kNameWidth),
                      " latency ms mean +/- SD    p99    max   %CPU  %met dropped  load did\n");
}

std::string FactOr(const Report& report, absl::string_view key, const std::string& otherwise) {
  for (const HostFact& fact : report.host) {
    if (fact.key == key) return EscapeForTerminal(fact.value.value_or(otherwise));
  }
  return otherwise;
}

// It was made from a recording, which says nothing of the session that it is of.
bool IsOfRecording(const Report& report) { return report.run_id.empty(); }

std::string Preamble(const Report& report) {
  if (IsOfRecording(report)) {
    return absl::StrFormat("recording %s, %g s, trace source: %s\n",
                           EscapeForTerminal(report.label),
                           static_cast<double>(report.options.duration_ns) / 1e9,
                           EscapeForTerminal(report.options.source));
  }
  std::string text = absl::StrFormat(
      "whylate %s, %s: kernel %s, %s CPUs (%s; virtualization: %s)\n",
      EscapeForTerminal(report.version), EscapeForTerminal(report.started),
      FactOr(report, "kernel", "unknown"), FactOr(report, "cpus", "?"),
      FactOr(report, "cpu_model", "unknown CPU"), FactOr(report, "virtualization", "unknown"));
  const auto seconds = static_cast<double>(report.options.duration_ns) / 1e9;
  absl::StrAppendFormat(&text, "label %s, cells of %g s, trace source: %s\n",
                        EscapeForTerminal(report.label), seconds,
                        EscapeForTerminal(report.options.source));
  if (!report.options.comment.empty()) {
    absl::StrAppend(&text, "comment: ", EscapeForTerminal(report.options.comment), "\n");
  }
  return text;
}

// The values of a cell's `name`, in the order in which they first appear.
std::vector<std::string> Distinct(const Report& report, std::string Cell::*name) {
  std::vector<std::string> values;
  for (const Cell& cell : report.cells) {
    if (std::find(values.begin(), values.end(), cell.*name) == values.end()) {
      values.push_back(cell.*name);
    }
  }
  return values;
}

// The cells of a workload; the runs of one load stand together.
std::vector<const Cell*> CellsOf(const Report& report, const std::string& workload) {
  std::vector<const Cell*> cells;
  for (const std::string& load : Distinct(report, &Cell::load)) {
    for (const Cell& cell : report.cells) {
      if (cell.workload == workload && cell.load == load) cells.push_back(&cell);
    }
  }
  return cells;
}

}  // namespace

std::string DescribeProgress(const std::optional<LoadProgress>& progress, int64_t duration_ns,
                             int64_t loops_per_ms) {
  if (!progress) return "-";
  std::vector<std::string> parts;
  for (const ProgressPart& part : progress->parts) {
    parts.push_back(DescribePart(part, static_cast<double>(duration_ns) / 1e9, loops_per_ms));
  }
  return absl::StrJoin(parts, ", ");
}

std::string ReportToText(const Report& report) {
  std::string text = Preamble(report);
  for (const std::string& workload : Distinct(report, &Cell::workload)) {
    bool first = true;
    for (const Cell* cell_pointer : CellsOf(report, workload)) {
      const Cell& cell = *cell_pointer;
      if (first) absl::StrAppend(&text, "\n", Heading(cell.title));
      first = false;
      absl::StrAppend(&text, CellRow(cell, report), "\n", CausesText(cell), CellRemarks(cell));
    }
  }
  if (report.cells.empty()) absl::StrAppend(&text, "\nno cell is finished\n");
  if (report.finished.empty() && !report.cells.empty() && !IsOfRecording(report)) {
    absl::StrAppend(&text, "\nthe session is not finished: whylate run --resume DIR goes on\n");
  }
  absl::StrAppend(&text, SessionCausesText(report), ObserverRow(report));
  for (const std::string& warning : report.warnings) {
    absl::StrAppend(&text, "\n", EscapeForTerminal(warning), "\n");
  }
  return text;
}

}  // namespace whylate
