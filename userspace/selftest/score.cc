#include "userspace/selftest/score.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "analysis/attribution/explain.h"
#include "analysis/attribution/totals.h"
#include "analysis/report/explain_text.h"
#include "userspace/selftest/stamps.h"

namespace whylate {
namespace {

constexpr char kSteal[] = "steal";
// The kernel's account ends within an interrupt, and that is longer where the host takes the CPU.
constexpr int64_t kSplitsPerBadOne = 20;

double Share(int64_t part, int64_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

bool Names(const Verdict& verdict, const Injection& injection) {
  return std::any_of(verdict.subjects.begin(), verdict.subjects.end(),
                     [&](const std::string& subject) { return injection.IsCalled(subject); });
}

// One late frame, by the accounts of the frame log and of the injectors alone.
class Window {
 public:
  Window(const ScenarioRun& run, const Miss& miss) : run_(run), frame_(miss.frame) {}

  int64_t DelayNs() const {
    return frame_.completion_ns - frame_.release_ns - std::min(frame_.cpu_ns, frame_.demand_ns);
  }

  // How long the injection kept the frame waiting, as far as its account is sure.
  int64_t InjectedNs(const Injection& injection) const {
    return Clamp(BusyNs(injection) + AmountOf(injection).ns);
  }
  // How long all of that name can have at most.
  int64_t MostNs(const std::string& name) const {
    int64_t total_ns = 0;
    for (const Injection& injection : run_.injections) {
      if (injection.name != name) continue;
      const Amount amount = AmountOf(injection);
      total_ns += BusyNs(injection) + UnseenNs(injection) + amount.ns + amount.unsure_ns;
    }
    return Clamp(total_ns);
  }
  // All of that name.
  int64_t InjectedNs(const std::string& name) const {
    int64_t total_ns = 0;
    for (const Injection& injection : run_.injections) {
      if (injection.name == name) total_ns += InjectedNs(injection);
    }
    return std::min(total_ns, DelayNs());
  }

  // How often those of that name struck.
  int64_t Count(const std::string& name) const {
    int64_t count = 0;
    for (const Injection& injection : run_.injections) {
      if (injection.name != name) continue;
      count += std::count_if(injection.busy.begin(), injection.busy.end(), [&](const auto& busy) {
        return busy.begin_ns < frame_.completion_ns && busy.end_ns > frame_.release_ns;
      });
      count += AmountOf(injection).count;
    }
    return count;
  }

  // One with an account of its own that is called so; null for none.
  const Injection* Called(const std::string& subject) const {
    for (const Injection& injection : run_.injections) {
      if (injection.has_stamps && injection.IsCalled(subject)) return &injection;
    }
    return nullptr;
  }

  // How long those that a verdict names can have kept the frame waiting: those with an account by
  // that, and whoever has none at most for the time in which nobody exclusive was busy.
  int64_t AvailableNs(const Verdict& verdict) const {
    std::vector<std::string> counted;
    int64_t total_ns = 0;
    bool others = false;
    for (const std::string& subject : verdict.subjects) {
      const Injection* injection = Called(subject);
      if (injection == nullptr) {
        others = true;
      } else if (std::find(counted.begin(), counted.end(), injection->name) == counted.end()) {
        counted.push_back(injection->name);
        total_ns += MostNs(injection->name);
      }
    }
    if (!others) return Clamp(total_ns);
    int64_t rest_ns = DelayNs();
    for (const Injection& injection : run_.injections) {
      if (injection.is_exclusive) rest_ns -= InjectedNs(injection);
    }
    // While the host has the CPU of somebody who watches the clock, that looks like his own time.
    const std::vector<std::string>& named = verdict.subjects;
    if (std::find(named.begin(), named.end(), kSteal) != named.end()) rest_ns += run_.host_ns;
    return total_ns + std::max<int64_t>(0, rest_ns);
  }

 private:
  int64_t Clamp(int64_t ns) const {
    return std::clamp<int64_t>(ns, 0, std::max<int64_t>(0, DelayNs()));
  }

  int64_t BusyNs(const Injection& injection) const {
    return OverlapNs(injection.busy, frame_.release_ns, frame_.completion_ns);
  }

  // What its own clock did not see of the CPU time that it had.
  int64_t UnseenNs(const Injection& injection) const {
    int64_t total_ns = 0;
    int64_t last_end_ns = std::numeric_limits<int64_t>::min();
    for (const Stamp& stamp : injection.stamps) {
      const TimeWindow gap{last_end_ns, stamp.time.begin_ns};
      total_ns +=
          std::min(stamp.unseen_ns, OverlapNs({gap}, frame_.release_ns, frame_.completion_ns));
      last_end_ns = stamp.time.end_ns;
    }
    return total_ns;
  }

  Amount AmountOf(const Injection& injection) const {
    const auto amount = injection.amounts.find(frame_.index);
    return amount == injection.amounts.end() ? Amount() : amount->second;
  }

  const ScenarioRun& run_;
  const Frame& frame_;
};

std::string Describe(const Miss& miss, const std::string& what) {
  const Verdict& verdict = *miss.verdict;
  return absl::StrFormat("frame %d, late by %d us, named %s (%s%s%s): %s\n%s", miss.frame.index,
                         (miss.frame.completion_ns - miss.deadline_ns) / 1000, verdict.subject,
                         verdict.kind, verdict.decision ? ", " : "",
                         verdict.decision ? ToString(*verdict.decision) : "", what,
                         TimelineText(miss.segments, miss.frame.release_ns));
}

// What was lost of all CPUs in a window, at its worst place.
int64_t LostNs(const Recording& recording, const Frame& frame) {
  int64_t lost_ns = 0;
  for (const LossInterval& loss : recording.losses) {
    lost_ns = std::max(
        lost_ns, OverlapNs({{loss.begin_ns, loss.end_ns}}, frame.release_ns, frame.completion_ns));
  }
  return lost_ns;
}

// Whether the proof lets a verdict of this kind, and of this stage, name those that it names.
bool IsOfExpectedKind(const ScenarioRun& run, const Proof& proof, const Verdict& verdict) {
  if (!proof.only_kind.empty() && verdict.kind != proof.only_kind) return false;
  for (const Expectation& expectation : proof.expected) {
    // The kind of a joint verdict is that of one of its subjects.
    if (verdict.subjects.size() > 1) continue;
    for (const Injection& injection : run.injections) {
      if (injection.name != expectation.injection || !Names(verdict, injection)) continue;
      const std::vector<std::string>& kinds = expectation.kinds;
      const bool is_kind =
          kinds.empty() || std::find(kinds.begin(), kinds.end(), verdict.kind) != kinds.end();
      if (!is_kind || verdict.stage != expectation.stage) return false;
    }
  }
  return true;
}

// Why a complete verdict is wrong, if it is.
std::optional<std::string> WhyWrong(const ScenarioRun& run, const Proof& proof, const Miss& miss,
                                    int64_t floor_ns) {
  const Verdict& verdict = *miss.verdict;
  const Window window(run, miss);
  if (!IsOfExpectedKind(run, proof, verdict)) {
    return Describe(miss, absl::StrCat("not as ", verdict.kind, verdict.stage.empty() ? "" : " of ",
                                       verdict.stage));
  }
  // "overload" has no saving that a loss could touch.
  if (verdict.kind == "overload") {
    const int64_t needed_ns = miss.frame.demand_ns + floor_ns;
    if (needed_ns > miss.deadline_ns - miss.frame.release_ns) return std::nullopt;
    return Describe(miss, "the demand is below the period");
  }
  for (const std::string& subject : verdict.subjects) {
    const Injection* injection = window.Called(subject);
    if (injection != nullptr && window.MostNs(injection->name) == 0) {
      return Describe(miss, absl::StrCat(subject, " was not there"));
    }
  }
  const int64_t overrun_ns = miss.frame.completion_ns - miss.deadline_ns;
  const int64_t available_ns = window.AvailableNs(verdict);
  if (available_ns < overrun_ns) {
    return Describe(miss, absl::StrCat("it had ", available_ns / 1000, " us"));
  }
  const int64_t lost_ns = LostNs(run.recording, miss.frame);
  if (lost_ns > 0 && lost_ns > verdict.margin_ns) {
    return Describe(miss, absl::StrFormat("with a margin of %d us, and %d us of events lost",
                                          verdict.margin_ns / 1000, lost_ns / 1000));
  }
  return std::nullopt;
}

int64_t ChargedNs(const Explanation& explanation, const std::string& subject) {
  int64_t total_ns = 0;
  for (const CauseRow& cause : explanation.causes) {
    if (cause.subject == subject) total_ns += cause.ns;
  }
  return total_ns;
}

int64_t LengthNs(const auto& piece) { return piece.end_ns - piece.start_ns; }

bool IsLoad(const Role& role, const std::string& load) {
  return role.kind == RoleKind::kLoad && role.load == load;
}

int64_t OccupantNs(const std::vector<Occupant>& occupants, const std::string& load) {
  int64_t total_ns = 0;
  for (const Occupant& occupant : occupants) {
    if (IsLoad(occupant.role, load)) total_ns += LengthNs(occupant);
  }
  return total_ns;
}

// Time that occupants of the injection's role had, in waits of the workload or of whom it waited for.
int64_t OccupantNs(const Miss& miss, const std::string& load) {
  int64_t total_ns = 0;
  for (const Segment& segment : miss.segments) {
    total_ns += OccupantNs(segment.occupants, load);
    for (const ChainLink& link : segment.chain) total_ns += OccupantNs(link.occupants, load);
  }
  return total_ns;
}

// What was taken without a switch, by the host too: its clock does not tell the workload by whom.
int64_t InterruptNs(const Miss& miss) {
  int64_t total_ns = 0;
  const auto add = [&](const std::vector<Part>& parts) {
    for (const Part& part : parts) {
      if (part.kind != PartKind::kSlow) total_ns += part.ns;
    }
  };
  for (const Segment& segment : miss.segments) {
    add(segment.parts);
    for (const Occupant& occupant : segment.occupants) add(occupant.parts);
  }
  return total_ns;
}

bool IsDisk(BlockKind kind) { return kind == BlockKind::kIo || kind == BlockKind::kFault; }

// Of a sleep: all of it where a disk, or who stopped the workload, is asked for; of one that a chain of
// tasks ended, what the injection's tasks did in it.
int64_t BlockedNs(const Segment& segment, const Injection& injection) {
  if (IsDisk(segment.block_kind)) return injection.IsCalled("io") ? LengthNs(segment) : 0;
  if (segment.chain.empty()) return segment.waker == injection.name ? LengthNs(segment) : 0;
  int64_t total_ns = 0;
  for (const ChainLink& link : segment.chain) {
    const bool is_own = link.kind == SegmentKind::kRunning || link.kind == SegmentKind::kBlocked;
    if (is_own && !IsDisk(link.block_kind) && IsLoad(link.role, injection.name)) {
      total_ns += LengthNs(link);
    }
  }
  return total_ns;
}

int64_t BlockedNs(const Miss& miss, const Injection& injection) {
  int64_t total_ns = 0;
  for (const Segment& segment : miss.segments) {
    if (segment.kind == SegmentKind::kBlocked) total_ns += BlockedNs(segment, injection);
  }
  return total_ns;
}

int64_t ThrottledNs(const Miss& miss) {
  int64_t total_ns = 0;
  for (const Segment& segment : miss.segments) {
    if (segment.kind == SegmentKind::kThrottled) total_ns += LengthNs(segment);
  }
  return total_ns;
}

}  // namespace

int64_t NamedNs(const Miss& miss, const Injection& injection) {
  switch (injection.means) {
    case Means::kTakesCpu:
      return OccupantNs(miss, injection.name);
    case Means::kThrottles:
      return ThrottledNs(miss);
    case Means::kBlocks:
      return BlockedNs(miss, injection);
    case Means::kInterrupts:
      return InterruptNs(miss);
  }
  return 0;
}

namespace {

// One late frame's part in the score.
class Judge {
 public:
  Judge(const ScenarioRun& run, const Proof& proof, Score& score)
      : run_(run), proof_(proof), score_(score), floor_ns_(OverheadFloorNs(run.recording.frames)) {}

  void Add(const Miss& miss) {
    const Verdict& verdict = *miss.verdict;
    const bool is_complete = verdict.confidence == Confidence::kComplete;
    ++score_.late;
    score_.dropped += miss.dropped;
    if (is_complete) {
      ++score_.complete;
      score_.confusion[verdict.subject] += 1 + miss.dropped;
      if (auto why = WhyWrong(run_, proof_, miss, floor_ns_)) {
        score_.wrong.push_back(*std::move(why));
      }
    } else {
      ++score_.incomplete;
      score_.incomplete_frames += 1 + miss.dropped;
    }
    const DelayTotals delay = TotalDelay(miss);
    score_.delay_ns += delay.late_ns;
    score_.unknown_ns += delay.unknown_ns;
    score_.avoidable_ns += delay.avoidable_ns;
    for (const Expectation& expectation : proof_.expected) AddExpected(miss, expectation.injection);
  }

 private:
  void AddExpected(const Miss& miss, const std::string& name) {
    const Window window(run_, miss);
    const auto found =
        std::find_if(run_.injections.begin(), run_.injections.end(),
                     [&](const Injection& injection) { return injection.name == name; });
    if (found == run_.injections.end()) return;
    const int64_t injected_ns = window.InjectedNs(name);
    const int64_t named_ns = NamedNs(miss, *found);
    const int64_t count = window.Count(name);
    score_.injections += count;
    score_.injected_ns += injected_ns;
    score_.named_ns += std::min(named_ns, injected_ns);
    score_.named_ns_of[name] += std::min(named_ns, injected_ns);
    const std::string amounts = absl::StrFormat("%s had %d us, and was charged %d us", name,
                                                injected_ns / 1000, named_ns / 1000);
    if (named_ns < injected_ns * 97 / 100 && injected_ns - named_ns > kAllButNs * count) {
      score_.short_named.push_back(Describe(miss, amounts));
    }
    if (proof_.split_ns && found->means == Means::kThrottles) {
      ++score_.splits;
      const int64_t off_ns = std::abs(named_ns - injected_ns);
      if (off_ns > kAllButNs) ++score_.far_splits;
      if (off_ns > *proof_.split_ns) {
        score_.badly_split.push_back(Describe(miss, amounts));
      }
    }
    const bool is_named = Names(*miss.verdict, *found);
    if (is_named && miss.verdict->confidence == Confidence::kComplete) ++score_.blamed;
    if (injected_ns < miss.frame.completion_ns - miss.deadline_ns) return;
    ++score_.caused;
    if (is_named) ++score_.recalled;
  }

  const ScenarioRun& run_;
  const Proof& proof_;
  Score& score_;
  int64_t floor_ns_;
};

}  // namespace

void Score::Add(const ScenarioRun& run, const Proof& proof) {
  const Explanation& explanation = run.explanation;
  ++runs;
  lost += explanation.trace->lost;
  breaks += explanation.trace->breaks;
  for (const CauseRow& cause : explanation.causes) {
    for (const Expectation& expectation : proof.expected) {
      const auto found = std::find_if(
          run.injections.begin(), run.injections.end(), [&](const Injection& injection) {
            return injection.name == expectation.injection && injection.IsCalled(cause.subject);
          });
      if (found == run.injections.end() || cause.ns == 0) continue;
      const std::string how = cause.decision ? whylate::ToString(*cause.decision) : cause.kind;
      decision_ns[expectation.injection][how] += cause.ns;
    }
  }
  const int64_t steal_ns = ChargedNs(explanation, kSteal);
  if (steal_ns > run.host_ns) {
    wrong.push_back(absl::StrFormat("%d us are charged to %s, and the host took %d us at most",
                                    steal_ns / 1000, kSteal, run.host_ns / 1000));
  }
  for (const SubjectRow& row : explanation.subjects) {
    if (row.subject == proof.saves_nothing) saved_by_nothing += row.frames_saved;
  }
  Judge judge(run, proof, *this);
  for (const Miss& miss : explanation.misses) judge.Add(miss);
}

std::vector<std::string> Score::Unproven(const Proof& proof, bool quiet) const {
  std::vector<std::string> lacks;
  if (proof.needs_late_frames && late == 0) lacks.push_back("no frame was late");
  for (const Expectation& expectation : proof.expected) {
    const std::string& name = expectation.injection;
    const auto named = named_ns_of.find(name);
    if (late > 0 && (named == named_ns_of.end() || named->second == 0)) {
      lacks.push_back(absl::StrCat("nothing is charged to ", name));
    }
    const std::string decision = MainDecision(name);
    const bool as_expected =
        expectation.decisions.empty() ||
        std::any_of(expectation.decisions.begin(), expectation.decisions.end(),
                    [&](Decision one) { return whylate::ToString(one) == decision; });
    if (quiet && !decision.empty() && !as_expected) {
      lacks.push_back(absl::StrCat(name, " is named as ", decision));
    }
  }
  if (!proof.expected.empty() && late > 0 && blamed == 0) lacks.push_back("it is never named");
  if (proof.needs_losses && lost == 0) lacks.push_back("no event was lost");
  // Where others are busy, it may wait for them while the injector is busy elsewhere.
  if (IsShort() && (quiet || !proof.some_avoidable)) {
    lacks.push_back(absl::StrFormat("%.2f %% of it is named", 100 * NamedShare()));
  }
  const auto bad = static_cast<int64_t>(badly_split.size());
  if (quiet && bad * kSplitsPerBadOne > splits) {
    lacks.push_back(absl::StrCat("not split exactly in ", bad, " of ", splits, " windows"));
  }
  if (quiet && far_splits > 0) {
    lacks.push_back(absl::StrCat("split more than 300 us off in ", far_splits, " windows"));
  }
  if (quiet && proof.some_avoidable && avoidable_ns == 0) lacks.push_back("nothing is avoidable");
  if (proof.none_avoidable && avoidable_ns > 0) lacks.push_back("some of it is called avoidable");
  if (quiet && saved_by_nothing > 0) {
    lacks.push_back(absl::StrCat(proof.saves_nothing, " is said to save frames"));
  }
  return lacks;
}

bool Score::IsShort() const {
  return named_ns < injected_ns * 97 / 100 && injected_ns - named_ns > kAllButNs * injections;
}

double Score::NamedShare() const { return Share(named_ns, injected_ns); }
double Score::CompleteShare() const { return Share(complete, late); }
double Score::UnknownShare() const { return late == 0 ? 0 : Share(unknown_ns, delay_ns); }

std::string Score::MainDecision(const std::string& injection) const {
  const auto decisions = decision_ns.find(injection);
  if (decisions == decision_ns.end()) return "";
  return std::max_element(decisions->second.begin(), decisions->second.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

std::string Score::ToString() const {
  std::vector<std::string> decisions;
  for (const auto& [injection, by_decision] : decision_ns) {
    for (const auto& [name, ns] : by_decision) {
      decisions.push_back(
          absl::StrFormat("%s/%s:%.1fms", injection, name, static_cast<double>(ns) / 1e6));
    }
  }
  std::vector<std::string> subjects;
  for (const auto& [name, count] : confusion) {
    // The fields of the line are separated by spaces.
    std::string word = name;
    std::replace(word.begin(), word.end(), ' ', '_');
    subjects.push_back(absl::StrCat(word, ":", count));
  }
  return absl::StrFormat(
      "runs=%d late=%d dropped=%d complete=%d incomplete=%d wrong=%d injected_ms=%.1f "
      "named=%.2f%% short=%d caused=%d recalled=%d avoidable_ms_per_late=%.2f unknown=%.2f%% "
      "lost=%d breaks=%d decisions=%s verdicts=%s",
      runs, late, dropped, complete, incomplete, wrong.size(),
      static_cast<double>(injected_ns) / 1e6, 100 * NamedShare(), short_named.size(), caused,
      recalled,
      static_cast<double>(avoidable_ns) / 1e6 / static_cast<double>(std::max<int64_t>(1, late)),
      100 * UnknownShare(), lost, breaks, absl::StrJoin(decisions, ","),
      absl::StrJoin(subjects, ","));
}

}  // namespace whylate
