// report.json: the whole session. This is the schema "whylate.report/1":
//
//   schema, label, version, run_id, started, finished (null while cells are missing), warnings[],
//   host {name: text or null}, loops_per_ms,
//   options {preset, workloads[], loads[], duration_ns, repeat, cpu_percent, interval_us,
//     load_threads, load_command, bench_nice, load_nice, cpus, source, buffer_bytes, record,
//     workdir, comment},
//   totals        of the cells with a trace: misses, delay, causes[], subjects[] as of a cell; null
//                 where there is none
//   cells[]:
//     workload, load, run (repeat index from 0), title,
//     origin_ns   CLOCK_MONOTONIC of release 0, a string: it does not fit a double.
//                 Every other *_ns of the cell is relative to it.
//     duration_ns, pacing ("skip", "carry", "back_to_back"), period {numerator_ns, denominator}
//     valid, invalid[] (reasons), notes[]
//     frames {due, met, late, dropped, censored}; due = met + late + dropped
//     latency_us {mean, sd, p50, p95, p99, p999, max}: each null where it cannot be computed
//     desired_cpu_pct, deadlines_met_pct (null for back_to_back), cpu_per_demand
//     load_progress null under load none, else {unit, total, per_second[], parts[] {load, unit,
//       total, per_second[], disk_bytes, thread_count}}: the first three are those of parts[0]
//     samples {frame[], release_ns[], start_ns[], completion_ns[], cpu_ns[], demand_ns[]}: columns
//       of equal length, one row per completed frame
//     stages[]    of a chain alone: {name, tid, demand_ns, passed_ns[], cpu_ns[]}, in the order in
//       which frames go through them; two columns more, but that the last stage passes nothing on
//     observer {wall_ns, bpf_run_ns, reader_cpu_ns, process_cpu_ns, captured_bytes}: what the trace
//       cost while the cell ran; null without one
//     recording   file in the session directory that holds its events, or null
//     trace, misses[], causes[], subjects[]: see explanation_json.h
//
// A new key may appear at any time; one that is here keeps its meaning as long as the schema does.
#ifndef WHYLATE_ANALYSIS_REPORT_REPORT_JSON_H_
#define WHYLATE_ANALYSIS_REPORT_REPORT_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/report/report.h"

namespace whylate {

inline constexpr char kReportSchema[] = "whylate.report/1";

// One line, newline at the end. Invalid UTF-8 in names becomes U+FFFD.
std::string ReportToJson(const Report& report);

// One late frame as a JSON object: `cell` ("video/burn"), `run` and the keys of `misses[]`.
std::string MissToJson(const Cell& cell, const Miss& miss);

// InvalidArgument, with what was expected, for anything that is not such a report.
absl::StatusOr<Report> ReportFromJson(absl::string_view text);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_REPORT_JSON_H_
