#include "analysis/report/words.h"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "analysis/report/escape.h"

namespace whylate {
namespace {

// What a decision let the subject ($) do.
struct DecisionWords {
  Decision decision;
  const char* words;
};

constexpr std::array kDecisionWords = {
    DecisionWords{Decision::kRtBandwidth, "the real-time bandwidth limit gave the CPU to $"},
    DecisionWords{Decision::kIdleExit, "its own idle CPU was slow to switch to it"},
    DecisionWords{Decision::kNotPreemptible,
                  "$ kept the CPU although it has the lower class or priority"},
    DecisionWords{Decision::kHigherClass, "$ has the higher scheduling class or priority"},
    DecisionWords{Decision::kPlacement, "it was placed behind $ while another CPU was idle"},
    DecisionWords{Decision::kMissedPull, "it stayed behind $ while another CPU was idle"},
    DecisionWords{Decision::kDisplaced, "$ displaced it"},
    DecisionWords{Decision::kSlice, "$ had its slice of the CPU"},
    DecisionWords{Decision::kNoPreempt, "$ kept the CPU"},
    DecisionWords{Decision::kUndetermined, "it waited behind $"},
};

constexpr char kBlocked[] = "blocked";

// Where there is no decision, the kind of the segment says it.
struct KindWords {
  absl::string_view kind;
  const char* words;
};

constexpr std::array kKindWords = {
    KindWords{"overload", "the frame's own work is longer than its period allows"},
    KindWords{"late_release", "the release timer fired late"},
    KindWords{"wakeup_dispatch", "the wake-up took long to reach its runqueue"},
    KindWords{"running", "running took longer than the demand, by $"},
    KindWords{kBlocked, "it slept, because of $"},
    KindWords{"throttled", "its CPU quota was used up"},
    KindWords{"carry_over", "the frame before it was late, by $"},
    KindWords{"unknown", "unknown"},
};

// Between the subjects of a joint cause.
constexpr char kJoint[] = " & ";

// The first names of a joint subject that has many.
std::string FewOf(absl::string_view subject) {
  constexpr size_t kMost = 4;
  std::vector<absl::string_view> names = absl::StrSplit(subject, kJoint);
  if (names.size() <= kMost) return std::string(subject);
  const size_t more = names.size() - (kMost - 1);
  names.resize(kMost - 1);
  return absl::StrCat(absl::StrJoin(names, kJoint), kJoint, more, " more");
}

std::string Fill(const char* words, absl::string_view subject) {
  return absl::StrReplaceAll(words, {{"$", EscapeForTerminal(subject)}});
}

}  // namespace

std::string CauseInWords(absl::string_view subject, absl::string_view kind,
                         const std::optional<Decision>& decision) {
  if (absl::StrContains(subject, kJoint)) {
    return absl::StrCat(EscapeForTerminal(FewOf(subject)), " together (",
                        decision ? ToString(*decision) : std::string(kind), ")");
  }
  if (decision && kind == kBlocked) {
    return absl::StrCat("whom it slept for was kept off a CPU by ", EscapeForTerminal(subject),
                        " (", ToString(*decision), ")");
  }
  if (decision) {
    for (const DecisionWords& row : kDecisionWords) {
      if (row.decision != *decision) continue;
      return absl::StrCat(Fill(row.words, subject), " (", ToString(*decision), ")");
    }
  }
  for (const KindWords& row : kKindWords) {
    if (row.kind == kind) return Fill(row.words, subject);
  }
  return absl::StrCat(EscapeForTerminal(subject), " (", EscapeForTerminal(kind), ")");
}

std::string Milliseconds(int64_t ns) {
  return absl::StrFormat("%.2f ms", static_cast<double>(ns) / 1e6);
}

std::string VerdictInWords(const Verdict& verdict) {
  const bool joint = verdict.subjects.size() > 1;
  const char* without = joint ? ". Without them" : ". Without it";
  std::string text;
  if (joint) {
    text = absl::StrCat(EscapeForTerminal(absl::StrJoin(verdict.subjects, " and ")),
                        " together: none of them alone made it late");
  } else {
    text = CauseInWords(verdict.subject, verdict.kind, verdict.decision);
  }
  if (!verdict.stage.empty()) {
    absl::StrAppend(&text, ", mostly while ", EscapeForTerminal(verdict.stage), " held the frame");
  }
  if (verdict.kind == "overload") {
    absl::StrAppend(&text, ".");
  } else if (verdict.sufficient) {
    absl::StrAppend(&text, without, " the frame would have met its deadline by ",
                    Milliseconds(verdict.margin_ns), ".");
  } else {
    absl::StrAppend(&text, without, " the frame would still have been late, by ",
                    Milliseconds(-verdict.margin_ns), ".");
  }
  if (verdict.confidence == Confidence::kIncomplete) {
    absl::StrAppend(&text, " Incomplete: what was not seen could make it another cause.");
  }
  if (verdict.repaired_ns > 0) {
    absl::StrAppend(&text, " ", Milliseconds(verdict.repaired_ns),
                    " of the timeline were repaired after hidden events.");
  }
  return text;
}

}  // namespace whylate
