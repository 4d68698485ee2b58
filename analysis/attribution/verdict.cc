#include "analysis/attribution/verdict.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/strings/str_join.h"

namespace whylate {
namespace {

constexpr size_t kKinds = static_cast<size_t>(SegmentKind::kUnknown) + 1;
// One past the decisions: time that no decision of the scheduler explains.
constexpr size_t kNoDecision = static_cast<size_t>(Decision::kUndetermined) + 1;

// A subject's time by decision and kind.
struct Table {
  std::array<std::array<int64_t, kKinds>, kNoDecision + 1> ns{};

  Table(const FrameDelay& delay, absl::string_view subject) {
    for (const Charge& charge : delay.charges) {
      if (charge.subject != subject) continue;
      const size_t decision =
          charge.decision.has_value() ? static_cast<size_t>(*charge.decision) : kNoDecision;
      ns[decision][static_cast<size_t>(charge.kind)] += charge.ns;
    }
  }

  int64_t DecisionNs(size_t decision) const {
    int64_t total = 0;
    for (const int64_t amount : ns[decision]) total += amount;
    return total;
  }
  int64_t KindNs(size_t kind) const {
    int64_t total = 0;
    for (const auto& row : ns) total += row[kind];
    return total;
  }
  // The first one wins a tie.
  size_t MainDecision() const {
    size_t main = 0;
    for (size_t i = 1; i <= kNoDecision; ++i) {
      if (DecisionNs(i) > DecisionNs(main)) main = i;
    }
    return main;
  }
  size_t MainKind(size_t decision) const {
    const auto& row = ns[decision];
    return static_cast<size_t>(std::max_element(row.begin(), row.end()) - row.begin());
  }
};

}  // namespace

MainCause MainCauseOf(const FrameDelay& delay, absl::string_view subject) {
  const Table table(delay, subject);
  const size_t decision = table.MainDecision();
  MainCause cause;
  cause.kind = static_cast<SegmentKind>(table.MainKind(decision));
  if (decision != kNoDecision) cause.decision = static_cast<Decision>(decision);
  return cause;
}

bool KindSurvives(const FrameDelay& delay, absl::string_view subject, int64_t open_ns) {
  const Table table(delay, subject);
  const size_t main = table.MainDecision();
  const size_t kind = table.MainKind(main);
  const int64_t main_ns = table.DecisionNs(main) - open_ns;
  // Time of another kind may be of a decision that the subject has not got yet.
  int64_t rival_ns = 0;
  for (size_t decision = 0; decision <= kNoDecision; ++decision) {
    if (decision == main || table.MainKind(decision) == kind) continue;
    rival_ns = std::max(rival_ns, table.DecisionNs(decision));
  }
  if (main_ns <= rival_ns + open_ns) return false;
  for (size_t other = 0; other < kKinds; ++other) {
    if (other == kind) continue;
    // What is missing may also split the time of this kind between two decisions, or join
    // another's.
    if (table.KindNs(kind) / 2 - open_ns <= table.KindNs(other)) return false;
    if (table.ns[main][kind] - open_ns <= table.ns[main][other] + open_ns) return false;
  }
  return true;
}

std::string JoinSubjects(std::vector<std::string> subjects) {
  std::sort(subjects.begin(), subjects.end());
  return absl::StrJoin(subjects, " & ");
}

}  // namespace whylate
