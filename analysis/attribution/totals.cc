#include "analysis/attribution/totals.h"

#include <algorithm>

namespace whylate {
namespace {

// Rows come in the order of their names, which a stable sort keeps among equals.
template <typename Row>
void SortRows(std::vector<Row>* rows) {
  std::stable_sort(rows->begin(), rows->end(), [](const Row& a, const Row& b) {
    const int64_t frames_a = a.frames + a.frames_incomplete;
    const int64_t frames_b = b.frames + b.frames_incomplete;
    if (frames_a != frames_b) return frames_a > frames_b;
    return a.ns > b.ns;
  });
}

int64_t UnknownNs(const std::vector<Occupant>& occupants) {
  int64_t ns = 0;
  for (const Occupant& occupant : occupants) {
    if (occupant.role.kind == RoleKind::kUnknown) ns += occupant.end_ns - occupant.start_ns;
  }
  return ns;
}

}  // namespace

DelayTotals& DelayTotals::operator+=(const DelayTotals& other) {
  late_ns += other.late_ns;
  unknown_ns += other.unknown_ns;
  wait_ns += other.wait_ns;
  avoidable_ns += other.avoidable_ns;
  possibly_avoidable_ns += other.possibly_avoidable_ns;
  return *this;
}

double DelayTotals::AvoidableMsPerMinute(int64_t duration_ns) const {
  return 60'000 * static_cast<double>(avoidable_ns) / static_cast<double>(duration_ns);
}

double DelayTotals::UnknownPercent() const {
  if (late_ns == 0) return 0;
  return 100 * static_cast<double>(unknown_ns) / static_cast<double>(late_ns);
}

DelayTotals TotalDelay(const Miss& miss) {
  DelayTotals total;
  for (const Segment& segment : miss.segments) {
    const int64_t length_ns = segment.end_ns - segment.start_ns;
    total.late_ns += length_ns;
    if (segment.kind == SegmentKind::kUnknown) total.unknown_ns += length_ns;
    for (const ChainLink& link : segment.chain) {
      if (link.kind == SegmentKind::kUnknown) total.unknown_ns += link.end_ns - link.start_ns;
      total.unknown_ns += UnknownNs(link.occupants);
    }
    if (!IsWait(segment)) continue;
    total.wait_ns += length_ns;
    total.avoidable_ns += segment.avoidable_ns;
    total.possibly_avoidable_ns += segment.possibly_avoidable_ns;
    total.unknown_ns += UnknownNs(segment.occupants);
  }
  return total;
}

DelayTotals TotalDelay(const std::vector<Miss>& misses) {
  DelayTotals total;
  for (const Miss& miss : misses) total += TotalDelay(miss);
  return total;
}

void Totals::AddFrame(const Verdict& verdict, int64_t dropped, const FrameDelay& delay) {
  const bool complete = verdict.confidence == Confidence::kComplete;
  const int64_t frames = 1 + dropped;
  CauseRow& cause = causes_[{verdict.subject, verdict.kind, verdict.decision}];
  (complete ? cause.frames : cause.frames_incomplete) += frames;
  SubjectRow& subject = subjects_[verdict.subject];
  (complete ? subject.frames : subject.frames_incomplete) += frames;
  for (const Charge& charge : delay.charges) {
    causes_[{charge.subject, ToString(charge.kind), charge.decision}].ns += charge.ns;
    subjects_[charge.subject].ns += charge.ns;
  }
}

void Totals::AddSaved(const std::string& subject, int64_t frames_saved) {
  subjects_[subject].frames_saved += frames_saved;
}

void Totals::AddCell(const Explanation& cell) {
  for (const CauseRow& row : cell.causes) {
    CauseRow& cause = causes_[{row.subject, row.kind, row.decision}];
    cause.frames += row.frames;
    cause.frames_incomplete += row.frames_incomplete;
    cause.ns += row.ns;
  }
  for (const SubjectRow& row : cell.subjects) {
    SubjectRow& subject = subjects_[row.subject];
    subject.frames += row.frames;
    subject.frames_incomplete += row.frames_incomplete;
    subject.frames_saved += row.frames_saved;
    subject.ns += row.ns;
  }
}

std::vector<CauseRow> Totals::Causes() const {
  std::vector<CauseRow> rows;
  for (const auto& [key, row] : causes_) {
    rows.push_back(row);
    std::tie(rows.back().subject, rows.back().kind, rows.back().decision) = key;
  }
  SortRows(&rows);
  return rows;
}

std::vector<SubjectRow> Totals::Subjects() const {
  std::vector<SubjectRow> rows;
  for (const auto& [subject, row] : subjects_) {
    rows.push_back(row);
    rows.back().subject = subject;
  }
  SortRows(&rows);
  return rows;
}

}  // namespace whylate
