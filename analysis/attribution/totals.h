// The rows of a cell: late frames and time by cause, and by subject.
//
//   Totals totals;
//   totals.AddFrame(verdict, dropped, delay);  // each late frame
//   totals.Causes();
#ifndef WHYLATE_ANALYSIS_ATTRIBUTION_TOTALS_H_
#define WHYLATE_ANALYSIS_ATTRIBUTION_TOTALS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/attribution/delay.h"
#include "analysis/attribution/explanation.h"

namespace whylate {

// Of all late frames of a cell, or of several.
struct DelayTotals {
  int64_t late_ns = 0;       // from release to completion
  int64_t unknown_ns = 0;    // of it: unknown segments, and waits with an unknown occupant
  int64_t wait_ns = 0;       // of it: on a runqueue
  int64_t avoidable_ns = 0;  // of that: another CPU that could have been used was idle
  int64_t possibly_avoidable_ns = 0;

  DelayTotals& operator+=(const DelayTotals& other);
  // In cells that took `duration_ns` in all (more than 0).
  double AvoidableMsPerMinute(int64_t duration_ns) const;
  double UnknownPercent() const;  // of the late time; 0 where there is none
};

DelayTotals TotalDelay(const Miss& miss);
DelayTotals TotalDelay(const std::vector<Miss>& misses);

class Totals {
 public:
  // A late frame counts once, with the releases it skipped, in the row of its verdict; a joint one
  // in a row of its own ("A & B"). Its time is in the rows of its causes.
  void AddFrame(const Verdict& verdict, int64_t dropped, const FrameDelay& delay);
  void AddSaved(const std::string& subject, int64_t frames_saved);
  // All rows of a cell: for the totals of several.
  void AddCell(const Explanation& cell);

  // Most frames first, then time, then name.
  std::vector<CauseRow> Causes() const;
  std::vector<SubjectRow> Subjects() const;

 private:
  using CauseKey = std::tuple<std::string, std::string, std::optional<Decision>>;
  std::map<CauseKey, CauseRow> causes_;
  std::map<std::string, SubjectRow> subjects_;
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_ATTRIBUTION_TOTALS_H_
