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

class Totals {
 public:
  // A late frame counts once, with the releases it skipped, in the row of its verdict; a joint one
  // in a row of its own ("A & B"). Its time is in the rows of its causes.
  void AddFrame(const Verdict& verdict, int64_t dropped, const FrameDelay& delay);
  void AddSaved(const std::string& subject, int64_t frames_saved);

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
