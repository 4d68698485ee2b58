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

}  // namespace

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
