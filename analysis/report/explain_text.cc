#include "analysis/report/explain_text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "analysis/attribution/stolen.h"
#include "analysis/report/escape.h"
#include "analysis/report/words.h"

namespace whylate {
namespace {

double Ms(int64_t ns) { return static_cast<double>(ns) / 1e6; }

std::string PartsText(const std::vector<Part>& parts) {
  std::vector<std::string> texts;
  for (const Part& part : parts) {
    texts.push_back(absl::StrFormat("%s%s %s", part.prorated ? "about " : "", Milliseconds(part.ns),
                                    EscapeForTerminal(SubjectOf(part))));
  }
  return texts.empty() ? "" : absl::StrCat("  (of it ", absl::StrJoin(texts, ", "), ")");
}

// ", RT 50"; "" for what is no news: the fair class at nice 0, idle, not known.
std::string StandingText(const TaskStanding& standing) {
  switch (standing.sched_class) {
    case SchedClass::kRealTime:
      return standing.rt_priority ? absl::StrCat(", RT ", *standing.rt_priority) : ", RT";
    case SchedClass::kFair:
      return standing.nice.value_or(0) == 0 ? "" : absl::StrCat(", nice ", *standing.nice);
    case SchedClass::kIdlePolicy:
      return ", SCHED_IDLE";
    case SchedClass::kStop:
    case SchedClass::kDeadline:
    case SchedClass::kExt:
      return absl::StrCat(", class ", ToString(standing.sched_class));
    case SchedClass::kIdle:
    case SchedClass::kUnknown:
      break;
  }
  return "";
}

std::string SegmentFacts(const Segment& segment) {
  std::string text;
  if (segment.stage) text = absl::StrCat(EscapeForTerminal(segment.stage->name), ": ");
  absl::StrAppend(&text, ToString(segment.kind), StandingText(segment.standing));
  if (segment.cpu) absl::StrAppend(&text, " on CPU ", segment.cpu->value);
  if (segment.decision) absl::StrAppend(&text, ": ", ToString(*segment.decision));
  if (segment.avoidable_ns > 0) {
    absl::StrAppend(&text, ", avoidable ", Milliseconds(segment.avoidable_ns));
  }
  if (segment.possibly_avoidable_ns > 0) {
    absl::StrAppend(&text, ", possibly avoidable ", Milliseconds(segment.possibly_avoidable_ns));
  }
  for (const Migration& migration : segment.migrations) {
    absl::StrAppend(&text, ", moved to CPU ", migration.to.value);
  }
  if (segment.repaired) absl::StrAppend(&text, ", repaired");
  if (segment.kind == SegmentKind::kBlocked && segment.block_kind != BlockKind::kUnknown) {
    absl::StrAppend(&text, " (", ToString(segment.block_kind), ")");
  }
  if (segment.timer_expires_ns && segment.timer_fired_ns) {
    absl::StrAppend(&text, ", its timer fired ",
                    Milliseconds(*segment.timer_fired_ns - *segment.timer_expires_ns), " late");
  }
  if (!segment.stack.empty()) {
    absl::StrAppend(&text, " in ", EscapeForTerminal(segment.stack.front()));
  }
  if (segment.quota_ns && segment.period_ns) {
    absl::StrAppend(&text, ": ", EscapeForTerminal(segment.group), " may run ",
                    Milliseconds(*segment.quota_ns), " of each ", Milliseconds(*segment.period_ns));
  }
  if (!segment.waker.empty()) {
    const bool displaced = segment.kind == SegmentKind::kPreempted;
    absl::StrAppend(&text, displaced ? ", by " : ", woken by ", EscapeForTerminal(segment.waker));
  }
  if (!segment.reason.empty()) {
    absl::StrAppend(&text, ": ", EscapeForTerminal(segment.reason));
  }
  return absl::StrCat(text, PartsText(segment.parts));
}

std::string OccupantFacts(const Occupant& occupant) {
  std::string text = EscapeForTerminal(occupant.task);
  if (occupant.tid && occupant.tid->value != 0) {
    absl::StrAppend(&text, " (tid ", occupant.tid->value, ")");
  }
  absl::StrAppend(&text, ", ", EscapeForTerminal(occupant.role.ToString()),
                  StandingText(occupant.standing),
                  occupant.cpu ? absl::StrCat(" on CPU ", occupant.cpu->value) : "", ": ",
                  ToString(occupant.decision), PartsText(occupant.parts));
  return text;
}

// Stretches of the same task by the same decision, added up.
struct OccupantGroup {
  const Occupant* first;
  int64_t ns = 0;
  int64_t stretches = 0;
};

std::vector<OccupantGroup> GroupOccupants(const std::vector<Occupant>& occupants) {
  std::vector<OccupantGroup> groups;
  std::map<std::tuple<std::optional<Tid>, absl::string_view, std::optional<CpuId>, Decision>,
           size_t>
      index;
  for (const Occupant& occupant : occupants) {
    const auto [found, is_new] = index.try_emplace(
        {occupant.tid, occupant.task, occupant.cpu, occupant.decision}, groups.size());
    if (is_new) groups.push_back({&occupant});
    OccupantGroup& group = groups[found->second];
    group.ns += occupant.end_ns - occupant.start_ns;
    ++group.stretches;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const OccupantGroup& a, const OccupantGroup& b) { return a.ns > b.ns; });
  return groups;
}

// In order of time where they are few; else added up by task, most time first.
std::string OccupantRows(const std::vector<Occupant>& occupants) {
  constexpr size_t kMostStretches = 12;
  std::string text;
  if (occupants.size() <= kMostStretches) {
    for (const Occupant& occupant : occupants) {
      absl::StrAppendFormat(&text, "          %8.3f    %s\n",
                            Ms(occupant.end_ns - occupant.start_ns), OccupantFacts(occupant));
    }
    return text;
  }
  for (const OccupantGroup& group : GroupOccupants(occupants)) {
    Occupant shown = *group.first;
    shown.parts.clear();
    absl::StrAppendFormat(&text, "          %8.3f    %s, in %d stretches\n", Ms(group.ns),
                          OccupantFacts(shown), group.stretches);
  }
  return text;
}

// The links of a chain, each indented by how many sleeps lie between, with who had the CPU meanwhile.
std::string ChainRows(const std::vector<ChainLink>& chain) {
  std::string text;
  for (const ChainLink& link : chain) {
    std::string facts = absl::StrCat(EscapeForTerminal(link.task), " ", ToString(link.kind));
    if (link.kind == SegmentKind::kBlocked && link.block_kind != BlockKind::kUnknown) {
      absl::StrAppend(&facts, " (", ToString(link.block_kind), ")");
    }
    if (link.cpu) absl::StrAppend(&facts, " on CPU ", link.cpu->value);
    if (link.decision) absl::StrAppend(&facts, ": ", ToString(*link.decision));
    if (link.kind == SegmentKind::kBlocked && !link.waker.empty()) {
      absl::StrAppend(&facts, ", woken by ", EscapeForTerminal(link.waker));
    }
    if (!link.reason.empty()) absl::StrAppend(&facts, ": ", EscapeForTerminal(link.reason));
    absl::StrAppendFormat(&text, "          %8.3f    %s%s%s\n", Ms(link.end_ns - link.start_ns),
                          std::string(2 * static_cast<size_t>(link.depth - 1), ' '), facts,
                          PartsText(link.parts));
    absl::StrAppend(&text, OccupantRows(link.occupants));
  }
  return text;
}

}  // namespace

std::string TimelineText(const std::vector<Segment>& segments, int64_t zero_ns) {
  std::string text = "\n   at ms    for ms  what\n";
  for (const Segment& segment : segments) {
    absl::StrAppendFormat(&text, "%8.3f  %8.3f  %s\n", Ms(segment.start_ns - zero_ns),
                          Ms(segment.end_ns - segment.start_ns), SegmentFacts(segment));
    absl::StrAppend(&text, OccupantRows(segment.occupants), ChainRows(segment.chain));
  }
  return text;
}

std::string ExplainMiss(const Cell& cell, const Miss& miss) {
  const int64_t release_ns = miss.frame.release_ns;
  std::string text = absl::StrFormat(
      "%s/%s%s frame %d: released %.3f s into the cell, done %s after its release,\n"
      "%s past its deadline; %d %s skipped\n",
      EscapeForTerminal(cell.workload), EscapeForTerminal(cell.load),
      cell.run == 0 ? "" : absl::StrCat(" #", cell.run + 1), miss.frame.index,
      Ms(release_ns - cell.frames.origin_ns) / 1000,
      Milliseconds(miss.frame.completion_ns - release_ns),
      Milliseconds(miss.frame.completion_ns - miss.deadline_ns), miss.dropped,
      miss.dropped == 1 ? "release" : "releases");
  if (miss.segments.empty()) {
    return absl::StrCat(text, "  no scheduler trace was recorded: the reason is not known\n");
  }
  absl::StrAppend(&text, TimelineText(miss.segments, release_ns));
  if (miss.verdict) {
    absl::StrAppend(&text, "\nverdict: ", VerdictInWords(*miss.verdict), "\n");
  }
  return text;
}

}  // namespace whylate
