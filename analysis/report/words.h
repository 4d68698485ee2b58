// Causes and verdicts in words, the same ones in the report and in `whylate explain`.
#ifndef WHYLATE_ANALYSIS_REPORT_WORDS_H_
#define WHYLATE_ANALYSIS_REPORT_WORDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "analysis/attribution/explanation.h"

namespace whylate {

// "burn kept the CPU (no_preempt)". Hostile bytes of the subject are escaped.
std::string CauseInWords(absl::string_view subject, absl::string_view kind,
                         const std::optional<Decision>& decision);

// Two or three sentences: who, by which decision, and what would have been without.
std::string VerdictInWords(const Verdict& verdict);

// "3.21 ms", always two decimals below a second.
std::string Milliseconds(int64_t ns);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_WORDS_H_
