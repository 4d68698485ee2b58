#include "tests/support/trace_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace whylate {

std::string SegmentText(const Segment& segment, int64_t unit_ns) {
  std::string text = segment.stage ? absl::StrCat(segment.stage->name, ": ") : "";
  absl::StrAppend(&text, ToString(segment.kind), " ", segment.start_ns / unit_ns, "-",
                  segment.end_ns / unit_ns);
  if (segment.cpu.has_value()) absl::StrAppend(&text, " cpu", segment.cpu->value);
  if (segment.decision.has_value()) absl::StrAppend(&text, " ", ToString(*segment.decision));
  if (!segment.reason.empty()) absl::StrAppend(&text, " (", segment.reason, ")");
  for (const Part& part : segment.parts) {
    absl::StrAppend(&text, " +", ToString(part.kind), " ", part.ns / unit_ns);
  }
  for (const Occupant& occupant : segment.occupants) {
    absl::StrAppend(&text, " [", occupant.task, " ", occupant.start_ns / unit_ns, "-",
                    occupant.end_ns / unit_ns, " ", ToString(occupant.decision), "]");
  }
  return text;
}

std::vector<std::string> SegmentTexts(const Miss& miss, int64_t unit_ns) {
  std::vector<std::string> texts;
  for (const Segment& segment : miss.segments) texts.push_back(SegmentText(segment, unit_ns));
  return texts;
}

std::string VerdictText(const Verdict& verdict, int64_t unit_ns) {
  std::string text = absl::StrCat(verdict.subject, " ", verdict.kind);
  if (verdict.decision.has_value()) absl::StrAppend(&text, " ", ToString(*verdict.decision));
  absl::StrAppend(&text, verdict.sufficient ? " sufficient" : " insufficient", " margin ",
                  verdict.margin_ns / unit_ns, " ", ToString(verdict.confidence));
  if (!verdict.stage.empty()) absl::StrAppend(&text, " in ", verdict.stage);
  return text;
}

std::vector<std::string> CauseTexts(const Explanation& explanation, int64_t unit_ns) {
  std::vector<std::string> texts;
  for (const CauseRow& row : explanation.causes) {
    if (row.ns == 0) continue;
    texts.push_back(absl::StrCat(row.subject, "/", row.kind, "/",
                                 row.decision ? ToString(*row.decision) : "-", " ",
                                 row.ns / unit_ns));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

}  // namespace whylate
