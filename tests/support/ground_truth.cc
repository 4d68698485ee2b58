#include "tests/support/ground_truth.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "analysis/attribution/explain.h"
#include "analysis/attribution/explanation.h"
#include "analysis/attribution/totals.h"
#include "tests/support/explanation_checks.h"
#include "tests/support/trace_text.h"

namespace whylate {
namespace {

constexpr int64_t kAllButNs = 300'000;

double Share(int64_t part, int64_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

bool Names(const Verdict& verdict, const std::string& subject) {
  return std::find(verdict.subjects.begin(), verdict.subjects.end(), subject) !=
         verdict.subjects.end();
}

// One late frame, by the accounts of the frame log and of the injectors alone.
class Window {
 public:
  Window(const ScenarioRun& run, const Miss& miss) : run_(run), frame_(miss.frame) {}

  int64_t DelayNs() const {
    return frame_.completion_ns - frame_.release_ns - std::min(frame_.cpu_ns, frame_.demand_ns);
  }

  // How long the injectors of this name can have kept the frame waiting.
  int64_t InjectedNs(const std::string& name) const {
    int64_t total_ns = 0;
    for (const Injection& injection : run_.injections) {
      if (injection.name == name) total_ns += InjectedNs(injection);
    }
    return std::min(total_ns, DelayNs());
  }

  // How often.
  int64_t Count(const std::string& name) const {
    int64_t count = 0;
    for (const Injection& injection : run_.injections) {
      if (injection.name != name) continue;
      count += std::count_if(injection.busy.begin(), injection.busy.end(), [&](const auto& busy) {
        return busy.begin_ns < frame_.completion_ns && busy.end_ns > frame_.release_ns;
      });
    }
    return count;
  }

  // One with an account of its own.
  bool IsInjector(const std::string& name) const {
    return std::any_of(
        run_.injections.begin(), run_.injections.end(),
        [&](const Injection& injection) { return injection.name == name && injection.has_stamps; });
  }

  // How long those that a verdict names can have kept the frame waiting: the injectors by their
  // stamps, and whoever has none at most for the time in which no injector was busy there.
  int64_t AvailableNs(const Verdict& verdict) const {
    int64_t total_ns = 0;
    bool others = false;
    for (const std::string& subject : verdict.subjects) {
      if (IsInjector(subject)) {
        total_ns += InjectedNs(subject);
      } else {
        others = true;
      }
    }
    if (!others) return total_ns;
    int64_t rest_ns = DelayNs();
    for (const Injection& injection : run_.injections) {
      if (injection.shares_cpu) rest_ns -= InjectedNs(injection);
    }
    return total_ns + std::max<int64_t>(0, rest_ns);
  }

 private:
  int64_t InjectedNs(const Injection& injection) const {
    return OverlapNs(injection.busy, frame_.release_ns, frame_.completion_ns);
  }

  const ScenarioRun& run_;
  const Frame& frame_;
};

// The frame with its segments, in microseconds from its release.
std::string Describe(const Miss& miss, const std::string& what) {
  const int64_t release_ns = miss.frame.release_ns;
  std::string text = absl::StrFormat("frame %d, late by %d us, %s: %s", miss.frame.index,
                                     (miss.frame.completion_ns - miss.deadline_ns) / 1000,
                                     VerdictText(*miss.verdict, 1000), what);
  for (Segment segment : miss.segments) {
    segment.start_ns -= release_ns;
    segment.end_ns -= release_ns;
    for (Occupant& occupant : segment.occupants) {
      occupant.start_ns -= release_ns;
      occupant.end_ns -= release_ns;
    }
    absl::StrAppend(&text, "\n  ", SegmentText(segment, 1000));
  }
  return text;
}

// Why a verdict is wrong, if it is.
std::optional<std::string> WhyWrong(const Window& window, const Miss& miss, int64_t floor_ns) {
  const Verdict& verdict = *miss.verdict;
  const int64_t overrun_ns = miss.frame.completion_ns - miss.deadline_ns;
  if (verdict.kind == "overload") {
    const int64_t needed_ns = miss.frame.demand_ns + floor_ns;
    if (needed_ns > miss.deadline_ns - miss.frame.release_ns) return std::nullopt;
    return Describe(miss, "the demand is below the period");
  }
  for (const std::string& subject : verdict.subjects) {
    if (window.IsInjector(subject) && window.InjectedNs(subject) == 0) {
      return Describe(miss, absl::StrCat(subject, " was not running"));
    }
  }
  const int64_t available_ns = window.AvailableNs(verdict);
  if (available_ns >= overrun_ns) return std::nullopt;
  return Describe(miss, absl::StrCat("it had ", available_ns / 1000, " us"));
}

}  // namespace

void Score::Add(const ScenarioRun& run, const std::string& subject) {
  const Explanation& explanation = run.explanation;
  ++runs;
  lost += explanation.trace->lost;
  breaks += explanation.trace->breaks;
  for (std::string& line : BrokenInvariants(run.recording.frames, explanation)) {
    broken.push_back(std::move(line));
  }
  for (const CauseRow& cause : explanation.causes) {
    if (cause.subject != subject || cause.ns == 0) continue;
    decision_ns[cause.decision ? whylate::ToString(*cause.decision) : cause.kind] += cause.ns;
  }
  const int64_t floor_ns = OverheadFloorNs(run.recording.frames);
  for (const Miss& miss : explanation.misses) {
    const Window window(run, miss);
    const Verdict& verdict = *miss.verdict;
    const bool is_complete = verdict.confidence == Confidence::kComplete;
    ++late;
    dropped += miss.dropped;
    ++(is_complete ? complete : incomplete);
    ++verdicts[verdict.subject];
    delay_ns += miss.frame.completion_ns - miss.frame.release_ns;
    const DelayTotals delay = TotalDelay(miss);
    unknown_ns += delay.unknown_ns;
    avoidable_ns += delay.avoidable_ns;
    if (is_complete) {
      if (const auto why = WhyWrong(window, miss, floor_ns)) wrong.push_back(*why);
    }
    if (subject.empty()) continue;
    const int64_t injected = window.InjectedNs(subject);
    const int64_t named = OccupantNs(miss, absl::StrCat("load:", subject));
    injected_ns += injected;
    named_ns += std::min(named, injected);
    const bool enough =
        named >= injected * 97 / 100 || injected - named <= kAllButNs * window.Count(subject);
    if (!enough) {
      short_named.push_back(
          Describe(miss, absl::StrFormat("%s had %d us, and was charged %d us", subject,
                                         injected / 1000, named / 1000)));
    }
    if (is_complete && Names(verdict, subject)) ++blamed;
    if (injected < miss.frame.completion_ns - miss.deadline_ns) continue;
    ++caused;
    if (Names(verdict, subject)) ++recalled;
  }
}

double Score::NamedShare() const { return Share(named_ns, injected_ns); }
double Score::CompleteShare() const { return Share(complete, late); }
double Score::UnknownShare() const { return late == 0 ? 0 : Share(unknown_ns, delay_ns); }

std::string Score::MainDecision() const {
  const auto main =
      std::max_element(decision_ns.begin(), decision_ns.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return main == decision_ns.end() ? "" : main->first;
}

std::string Score::ToString() const {
  std::vector<std::string> decisions;
  for (const auto& [name, ns] : decision_ns) {
    decisions.push_back(absl::StrFormat("%s:%.1fms", name, static_cast<double>(ns) / 1e6));
  }
  std::vector<std::string> subjects;
  for (const auto& [name, count] : verdicts) {
    // The fields of the line are separated by spaces.
    std::string word = name;
    std::replace(word.begin(), word.end(), ' ', '_');
    subjects.push_back(absl::StrCat(word, ":", count));
  }
  return absl::StrFormat(
      "runs=%d late=%d dropped=%d complete=%d incomplete=%d wrong=%d named=%.2f%% short=%d "
      "caused=%d recalled=%d avoidable_ms_per_late=%.2f unknown=%.2f%% lost=%d breaks=%d "
      "decisions=%s verdicts=%s",
      runs, late, dropped, complete, incomplete, wrong.size(), 100 * NamedShare(),
      short_named.size(), caused, recalled,
      static_cast<double>(avoidable_ns) / 1e6 / static_cast<double>(std::max<int64_t>(1, late)),
      100 * UnknownShare(), lost, breaks, absl::StrJoin(decisions, ","),
      absl::StrJoin(subjects, ","));
}

std::vector<TimeWindow> RunTimes(const WitnessRecording& witness, CpuId cpu,
                                 const std::set<Tid>& threads) {
  std::vector<TimeWindow> times;
  const auto events = witness.events.find(cpu);
  if (events == witness.events.end()) return times;
  std::optional<int64_t> since_ns;
  for (const WitnessEvent& event : events->second) {
    if (event.kind != WitnessKind::kSwitch) continue;
    if (since_ns) times.push_back({*since_ns, event.time_ns});
    since_ns.reset();
    if (threads.count(event.next) > 0) since_ns = event.time_ns;
  }
  return times;
}

std::vector<TimeWindow> WhileAtHome(const std::vector<TimeWindow>& times,
                                    const WitnessRecording& witness, CpuId home, Tid workload) {
  std::map<int64_t, bool> is_home;  // from then on
  for (const auto& [cpu, events] : witness.events) {
    for (const WitnessEvent& event : events) {
      const bool comes_on = event.kind == WitnessKind::kSwitch && event.next == workload;
      const bool is_woken = event.kind == WitnessKind::kWaking && event.task == workload;
      if (comes_on || is_woken) is_home[event.time_ns] = is_woken || cpu == home;
    }
  }
  for (const WitnessMigration& migration : witness.migrations) {
    if (migration.task == workload) is_home[migration.time_ns] = migration.to == home;
  }
  std::vector<TimeWindow> result;
  for (const TimeWindow& time : times) {
    auto change = is_home.upper_bound(time.begin_ns);
    bool home_now = change == is_home.begin() || std::prev(change)->second;
    int64_t at_ns = time.begin_ns;
    while (at_ns < time.end_ns) {
      const bool ends_first = change == is_home.end() || change->first >= time.end_ns;
      const int64_t end_ns = ends_first ? time.end_ns : change->first;
      if (home_now && at_ns < end_ns) result.push_back({at_ns, end_ns});
      at_ns = end_ns;
      if (!ends_first) home_now = (change++)->second;
    }
  }
  return result;
}

std::vector<TimeWindow> WhileStageHolds(const std::vector<TimeWindow>& times,
                                        const CellFrames& frames, size_t stage) {
  std::vector<TimeWindow> held;
  for (size_t i = 0; i < frames.frames.size(); ++i) {
    const std::span<const int64_t> passed_ns = frames.PassedNs(i);
    const int64_t begin_ns = passed_ns[stage - 1];
    const int64_t end_ns =
        stage < passed_ns.size() ? passed_ns[stage] : frames.frames[i].completion_ns;
    for (const TimeWindow& time : times) {
      const TimeWindow both{std::max(time.begin_ns, begin_ns), std::min(time.end_ns, end_ns)};
      if (both.begin_ns < both.end_ns) held.push_back(both);
    }
  }
  return held;
}

int64_t OverlapNs(const std::vector<TimeWindow>& intervals, int64_t begin_ns, int64_t end_ns) {
  int64_t total_ns = 0;
  for (const TimeWindow& interval : intervals) {
    total_ns += std::max<int64_t>(
        0, std::min(interval.end_ns, end_ns) - std::max(interval.begin_ns, begin_ns));
  }
  return total_ns;
}

}  // namespace whylate
