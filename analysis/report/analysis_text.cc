#include "analysis/report/analysis_text.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analysis/report/escape.h"
#include "analysis/report/explain_text.h"
#include "analysis/report/words.h"

namespace whylate {
namespace {

// Of tasks and of subjects, and of the segments of one activation; the JSON has all.
constexpr size_t kMostRows = 10;
constexpr size_t kMostSegments = 24;

double Ms(int64_t ns) { return static_cast<double>(ns) / 1e6; }

std::string Count(int64_t count, const char* noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

// `text` escaped, and filled up to `columns`.
std::string Padded(const std::string& text, size_t columns) {
  std::string padded = EscapeForTerminal(text);
  const size_t width = DisplayWidth(padded);
  if (width < columns) padded.append(columns - width, ' ');
  return padded;
}

std::string Head(const TraceAnalysis& trace) {
  std::string text = absl::StrFormat("%s: %d events in %.6f s\n", EscapeForTerminal(trace.format),
                                     trace.events, Ms(trace.end_ns - trace.begin_ns) / 1000);
  if (trace.notes.empty()) return text;
  absl::StrAppend(&text, "\nwhat this trace cannot tell:\n");
  for (const std::string& note : trace.notes) {
    absl::StrAppend(&text, "  - ", EscapeForTerminal(note), "\n");
  }
  return text;
}

// What the counts are of, and which of them are shown.
std::string Summary(const TraceAnalysis& trace) {
  const Analysis& analysis = trace.analysis;
  if (analysis.total == 0) {
    if (trace.options.task.empty()) return "\nno task ran or was woken in it\n";
    return absl::StrCat("\nno activation of '", EscapeForTerminal(trace.options.task), "' in it\n");
  }
  std::string text;
  if (analysis.of_frames) {
    text = absl::StrCat("\n", Count(analysis.total, "frame"), ", ", analysis.late, " late");
  } else {
    text = absl::StrCat("\n", Count(analysis.total, "activation"), " of ",
                        Count(static_cast<int64_t>(analysis.tasks.size()), "task"));
    if (trace.options.deadline_ns) {
      absl::StrAppendFormat(&text, ", %d later than %.3f ms after their waking", analysis.late,
                            Ms(*trace.options.deadline_ns));
    }
  }
  const size_t shown = analysis.activations.size();
  if (shown == 0) return text + "\n";
  const bool late_ones = analysis.of_frames || trace.options.deadline_ns.has_value();
  return absl::StrCat(text, "; the ", shown == 1 ? "one" : absl::StrCat(shown),
                      late_ones ? " that waited longest, late ones first" : " that waited longest",
                      ":\n");
}

std::string Table(const TraceAnalysis& trace) {
  if (trace.analysis.activations.empty()) return "";
  std::string text = "\n   #  task                  tid    trace time s   wait ms   took ms  why\n";
  size_t row = 0;
  for (const Activation& activation : trace.analysis.activations) {
    std::string why = "-";
    if (activation.verdict) {
      why = EscapeForTerminal(activation.verdict->subject);
      if (activation.verdict->decision) {
        absl::StrAppend(&why, " (", ToString(*activation.verdict->decision), ")");
      }
    }
    absl::StrAppendFormat(&text, "%4d  %s %8d  %14.6f  %8.3f  %8.3f  %s\n", ++row,
                          Padded(activation.task, 16), activation.tid.value,
                          Ms(activation.start_ns) / 1000, Ms(activation.wait_ns),
                          Ms(activation.end_ns - activation.start_ns), why);
  }
  return text;
}

std::string TaskRows(const Analysis& analysis) {
  if (analysis.tasks.size() < 2) return "";
  std::string text = "\ntask                  tid  activations   late  wait ms  longest wait ms\n";
  for (size_t i = 0; i < std::min(analysis.tasks.size(), kMostRows); ++i) {
    const ActivationRow& row = analysis.tasks[i];
    absl::StrAppendFormat(&text, "%s %8d  %11d  %5d  %7.3f  %15.3f\n", Padded(row.task, 16),
                          row.tid.value, row.activations, row.late, Ms(row.wait_ns),
                          Ms(row.longest_wait_ns));
  }
  if (analysis.tasks.size() > kMostRows) {
    absl::StrAppendFormat(&text, "and %d more\n", analysis.tasks.size() - kMostRows);
  }
  return text;
}

std::string SubjectRows(const Analysis& analysis) {
  if (analysis.subjects.empty()) return "";
  std::string text = analysis.of_frames ? "\nwhose the delay of all late frames was, ms:\n"
                                        : "\nwhose the waits above were, ms:\n";
  for (size_t i = 0; i < std::min(analysis.subjects.size(), kMostRows); ++i) {
    absl::StrAppendFormat(&text, "%10.3f  %s\n", Ms(analysis.subjects[i].ns),
                          EscapeForTerminal(analysis.subjects[i].subject));
  }
  return text;
}

// Of a question without a deadline: how much of the wait was whose.
std::string WaitVerdict(const Activation& activation) {
  const Verdict& verdict = *activation.verdict;
  int64_t ran_ns = 0;
  for (const Segment& segment : activation.segments) {
    if (segment.kind == SegmentKind::kRunning) ran_ns += segment.end_ns - segment.start_ns;
  }
  const int64_t saving_ns = verdict.margin_ns + (activation.end_ns - activation.start_ns - ran_ns);
  std::string text = absl::StrFormat("%s, for %.3f of its %.3f ms of wait.",
                                     CauseInWords(verdict.subject, verdict.kind, verdict.decision),
                                     Ms(saving_ns), Ms(activation.wait_ns));
  if (verdict.confidence == Confidence::kIncomplete) {
    absl::StrAppend(&text, " Incomplete: the trace leaves room for another cause.");
  }
  return text;
}

std::string VerdictLine(const Activation& activation) {
  if (activation.verdict) {
    return activation.deadline_ns ? VerdictInWords(*activation.verdict) : WaitVerdict(activation);
  }
  if (activation.wait_ns == 0) {
    return activation.wait_known ? "it did not wait: nothing for the scheduler to explain."
                                 : "whether it waited before it ran is not known.";
  }
  if (activation.late) return "in time.";
  return "its end is not in the trace: whether it was late is not known.";
}

// All of them where they are few, else the longest waits, and how many are left out.
std::string Timeline(const Activation& activation) {
  const std::vector<Segment>& segments = activation.segments;
  if (segments.size() <= kMostSegments) return TimelineText(segments, activation.start_ns);
  std::vector<const Segment*> shown;
  for (const Segment& segment : segments) shown.push_back(&segment);
  const auto wait_ns = [](const Segment* segment) {
    return segment->kind == SegmentKind::kRunning ? 0 : segment->end_ns - segment->start_ns;
  };
  std::stable_sort(shown.begin(), shown.end(),
                   [&](const Segment* a, const Segment* b) { return wait_ns(a) > wait_ns(b); });
  shown.resize(kMostSegments);
  std::sort(shown.begin(), shown.end());  // in order of time
  std::vector<Segment> copies;
  for (const Segment* segment : shown) copies.push_back(*segment);
  return absl::StrFormat("%sthe longest of its waits; %d shorter segments are left out\n",
                         TimelineText(copies, activation.start_ns),
                         segments.size() - kMostSegments);
}

std::string Story(const TraceAnalysis& trace, const Activation& activation, size_t number) {
  std::string text =
      absl::StrFormat("\n#%d  %s (tid %d): %s at %.6f s", number,
                      EscapeForTerminal(activation.task), activation.tid.value,
                      trace.analysis.of_frames ? "released"
                      : activation.waking_ns   ? "woken"
                                               : "seen running (no waking is recorded)",
                      Ms(activation.start_ns) / 1000);
  if (activation.running_ns && activation.waking_ns) {
    absl::StrAppendFormat(&text, ", ran after %.3f ms",
                          Ms(*activation.running_ns - activation.start_ns));
  }
  absl::StrAppendFormat(&text, ",\n    %s after %.3f ms, of which it waited %.3f\n",
                        activation.finished ? "done" : "lost from sight",
                        Ms(activation.end_ns - activation.start_ns), Ms(activation.wait_ns));
  return absl::StrCat(text, Timeline(activation), "verdict: ", VerdictLine(activation), "\n");
}

}  // namespace

std::string AnalysisToText(const TraceAnalysis& trace) {
  std::string text = absl::StrCat(Head(trace), Summary(trace), Table(trace),
                                  SubjectRows(trace.analysis), TaskRows(trace.analysis));
  size_t number = 0;
  for (const Activation& activation : trace.analysis.activations) {
    absl::StrAppend(&text, Story(trace, activation, ++number));
  }
  return text;
}

}  // namespace whylate
