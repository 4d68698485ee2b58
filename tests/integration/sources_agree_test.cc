// The same run, captured by both sources: per late frame the same subject and the same decision, wherever
// neither hangs on less than the two stamps of one event may lie apart.
//
// Environment: WHYLATE_RUNS of each scenario (2), WHYLATE_SECONDS of each run (2).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analysis/attribution/explain.h"
#include "analysis/attribution/wait.h"
#include "analysis/model/status_macros.h"
#include "tests/support/stage.h"
#include "tests/support/status_matchers.h"
#include "userspace/platform/clock.h"
#include "userspace/selftest/injectors.h"
#include "userspace/selftest/scenario.h"
#include "userspace/selftest/scenario_plans.h"
#include "userspace/selftest/scenarios.h"
#include "userspace/session/cell_trace.h"
#include "userspace/trace/tracefs_instance.h"

namespace whylate {
namespace {

constexpr int64_t kLeadNs = 100'000;

std::string Words(const Verdict& verdict) {
  return absl::StrCat(verdict.subject, " (",
                      verdict.decision ? ToString(*verdict.decision) : verdict.kind, ")");
}

// What the hypervisor took is known to eBPF alone; to ftrace it is time of whoever had the CPU.
int64_t StolenNs(const std::vector<CauseRow>& causes) {
  int64_t stolen_ns = 0;
  for (const CauseRow& row : causes) stolen_ns += row.subject == "steal" ? row.ns : 0;
  return stolen_ns;
}

int64_t PossiblyAvoidableNs(const Miss& miss) {
  int64_t ns = 0;
  for (const Segment& segment : miss.segments) ns += segment.possibly_avoidable_ns;
  return ns;
}

// Whether its facts leave the decision open, and say so: none is named, or where the affinity is not
// known those that rest on an idle CPU cannot be (analysis/README.md: possibly avoidable).
bool IsLeftOpen(const Miss& miss) {
  return miss.verdict->decision == Decision::kUndetermined ||
         PossiblyAvoidableNs(miss) >= kAvoidableFloorNs;
}

// How far one frame's verdict is from another one: its margin, and the lead of its subjects over the
// others, and of their decision over their other ones.
int64_t LeadNs(const Verdict& verdict, const std::vector<CauseRow>& causes) {
  std::map<std::string, int64_t> by_subject;
  std::map<std::string, int64_t> by_decision;  // of the first subject
  for (const CauseRow& row : causes) {
    by_subject[row.subject] += row.ns;
    if (row.subject != verdict.subjects.front()) continue;
    by_decision[row.decision ? ToString(*row.decision) : row.kind] += row.ns;
  }
  int64_t lead_ns = std::abs(verdict.margin_ns);
  int64_t least_named_ns = INT64_MAX;
  int64_t most_other_ns = 0;
  for (const auto& [subject, ns] : by_subject) {
    const bool is_named = std::find(verdict.subjects.begin(), verdict.subjects.end(), subject) !=
                          verdict.subjects.end();
    if (is_named) {
      least_named_ns = std::min(least_named_ns, ns);
    } else {
      most_other_ns = std::max(most_other_ns, ns);
    }
  }
  lead_ns = std::min(lead_ns, least_named_ns - most_other_ns);
  std::vector<int64_t> decisions;
  for (const auto& [decision, ns] : by_decision) decisions.push_back(ns);
  std::sort(decisions.rbegin(), decisions.rend());
  if (decisions.size() > 1) lead_ns = std::min(lead_ns, decisions[0] - decisions[1]);
  return lead_ns;
}

struct Lead {
  int64_t ns = 0;
  int64_t stolen_ns = 0;  // in the same frame
};

// The causes of each late frame alone.
class Leads {
 public:
  explicit Leads(Recording* recording) : recording_(recording), all_(recording->frames.frames) {}
  ~Leads() { recording_->frames.frames = all_; }

  Lead Of(const Miss& miss) {
    recording_->frames.frames = {miss.frame};
    const std::vector<CauseRow> causes = Explain(*recording_).causes;
    return {LeadNs(*miss.verdict, causes), StolenNs(causes)};
  }

 private:
  Recording* recording_;
  std::vector<Frame> all_;
};

// The same run, captured and explained by the source tracefs.
class TracefsCapture : public ScenarioWatcher {
 public:
  Recording recording;
  Explanation explanation;

  absl::Status OnBegin(Tgid workload) override {
    SessionOptions options;
    options.source = "tracefs";
    ASSIGN_OR_RETURN(CellTrace trace, CellTrace::Start(options, workload));
    trace_.emplace(std::move(trace));
    return absl::OkStatus();
  }
  absl::Status OnEnd() override { return absl::OkStatus(); }
  absl::Status OnFrames(const Recording& frames) override {
    recording = frames;
    RETURN_IF_ERROR(trace_->Finish(recording).status());
    explanation = Explain(recording);
    return absl::OkStatus();
  }

 private:
  std::optional<CellTrace> trace_;
};

struct Agreement {
  int64_t late = 0;
  int64_t incomplete = 0;  // by either source
  int64_t agreed = 0;
  int64_t close = 0;         // a verdict of either leads by too little to be compared
  int64_t close_agreed = 0;  // of those, the same all the same
  int64_t stolen = 0;        // differ, and the hypervisor took as much as the lead
  int64_t coarser = 0;       // the same subject, whose decision ftrace's facts do not determine
  std::vector<std::string> differ;

  Agreement& operator+=(const Agreement& other) {
    late += other.late;
    incomplete += other.incomplete;
    agreed += other.agreed;
    close += other.close;
    close_agreed += other.close_agreed;
    stolen += other.stolen;
    coarser += other.coarser;
    differ.insert(differ.end(), other.differ.begin(), other.differ.end());
    return *this;
  }

  std::string ToString() const {
    return absl::StrCat("late=", late, " incomplete=", incomplete, " agreed=", agreed,
                        " close=", close, " close_agreed=", close_agreed, " stolen=", stolen,
                        " coarser=", coarser, " differ=", differ.size());
  }

  void Add(ScenarioRun* run, TracefsCapture* other) {
    Leads bpf_leads(&run->recording);
    Leads tracefs_leads(&other->recording);
    const std::vector<Miss>& bpf = run->explanation.misses;
    const std::vector<Miss>& tracefs = other->explanation.misses;
    ASSERT_EQ(bpf.size(), tracefs.size());
    for (size_t i = 0; i < bpf.size(); ++i) {
      ASSERT_EQ(bpf[i].frame.index, tracefs[i].frame.index);
      ++late;
      const Verdict& a = *bpf[i].verdict;
      const Verdict& b = *tracefs[i].verdict;
      if (a.confidence != Confidence::kComplete || b.confidence != Confidence::kComplete) {
        ++incomplete;
        continue;
      }
      const bool same = a.subject == b.subject && a.decision == b.decision && a.kind == b.kind;
      const Lead bpf_lead = bpf_leads.Of(bpf[i]);
      const int64_t lead_ns = std::min(bpf_lead.ns, tracefs_leads.Of(tracefs[i]).ns);
      if (lead_ns <= kLeadNs) {
        ++close;
        close_agreed += same ? 1 : 0;
      } else if (same) {
        ++agreed;
      } else if (lead_ns - bpf_lead.stolen_ns <= kLeadNs) {
        ++stolen;
      } else if (a.subject == b.subject && IsLeftOpen(tracefs[i])) {
        ++coarser;
      } else {
        differ.push_back(absl::StrCat("frame ", bpf[i].frame.index, ": bpf ", Words(a),
                                      ", tracefs ", Words(b), ", lead ", lead_ns, " ns",
                                      ", possibly avoidable ", PossiblyAvoidableNs(tracefs[i])));
      }
    }
  }
};

class SourcesAgreeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = WhyNoStage(); !why.empty()) GTEST_SKIP() << why;
    if (const absl::Status usable = TracefsUsable(); !usable.ok()) GTEST_SKIP() << usable;
    stage_ = MakeStage();
  }

  // Each scenario's line, and their sum.
  Agreement Compare(const std::string& name, const ScenarioPlan& plan) const {
    Agreement sum;
    const int64_t runs = NumberFromEnvironment("WHYLATE_RUNS", 2);
    uint64_t bpf_lost = 0;
    uint64_t tracefs_lost = 0;
    for (int64_t i = 0; i < runs; ++i) {
      TracefsCapture tracefs;
      absl::StatusOr<ScenarioRun> run = RunScenario(plan, stage_, &tracefs);
      EXPECT_THAT(run, IsOk());
      if (!run.ok()) return sum;
      EXPECT_EQ(tracefs.recording.trace->source, "tracefs");
      bpf_lost += run->recording.trace->lost;
      tracefs_lost += tracefs.recording.trace->lost;
      sum.Add(&*run, &tracefs);
    }
    std::cout << "sources-agree scenario=" << name << " runs=" << runs << " " << sum.ToString()
              << " bpf_lost=" << bpf_lost << " tracefs_lost=" << tracefs_lost << "\n";
    for (const std::string& line : sum.differ) ADD_FAILURE() << name << ": " << line;
    EXPECT_EQ(bpf_lost, 0U);
    EXPECT_EQ(tracefs_lost, 0U);
    return sum;
  }

  ScenarioStage stage_;
};

TEST_F(SourcesAgreeTest, TheSameRunHasTheSameVerdicts) {
  std::map<std::string, ScenarioPlan> plans;
  for (const char* name :
       {"hog_pinned", "burn_pinned", "widened_mask", "hog_free", "rt_bandwidth"}) {
    const absl::StatusOr<ScenarioPlan> plan = FindScenario(name)->build(stage_);
    ASSERT_THAT(plan, IsOk());
    plans[name] = *plan;
  }
  plans["burn_storm_free"] = PlanVideo(stage_, BothCpus(stage_), 10 * kNsPerMs);
  plans["burn_storm_free"].injectors = {MakeBurn(stage_.home), MakeStorm(1)};

  Agreement all;
  for (const auto& [name, plan] : plans) all += Compare(name, plan);
  std::cout << "sources-agree scenario=all " << all.ToString() << "\n";
  EXPECT_GT(all.agreed, 0);
  EXPECT_LE((all.close + all.coarser) * 20, all.late - all.incomplete);
}

}  // namespace
}  // namespace whylate
