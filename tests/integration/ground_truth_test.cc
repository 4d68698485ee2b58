// A cause is believed only when it is provoked on purpose and named right. On the real machine, as
// root.
//
// Environment: WHYLATE_RUNS of each scenario (5), WHYLATE_SECONDS of each run (2), and
// WHYLATE_EXACT=1 for a quiet machine: then shares are as promised, not just plausible.
#include "tests/support/ground_truth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "tests/support/injectors.h"
#include "tests/support/scenario.h"
#include "tests/support/status_matchers.h"
#include "userspace/platform/clock.h"
#include "userspace/trace/bpf_source.h"
#include "userspace/workload/workload.h"

namespace whylate {
namespace {

using ::testing::AnyOf;

constexpr CpuId kCpu{0};

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  int64_t value = 0;
  return text != nullptr && absl::SimpleAtoi(text, &value) && value > 0 ? value : otherwise;
}

int64_t Runs() { return FromEnvironment("WHYLATE_RUNS", 5); }
int64_t Seconds() { return FromEnvironment("WHYLATE_SECONDS", 2); }
bool Exact() { return FromEnvironment("WHYLATE_EXACT", 0) != 0; }

CpuSet Both() { return *CpuSet::Parse("0-1"); }

// 60 Hz; video's own demand unless another is given.
ScenarioPlan VideoPlan(const CpuSet& cpus, int64_t demand_ns = 0) {
  ScenarioPlan plan;
  plan.workload = *MakeWorkload("video", {});
  if (demand_ns > 0) plan.workload.demand_ns = demand_ns;
  plan.workload_settings.cpus = cpus;
  plan.duration_ns = Seconds() * kNsPerSecond;
  return plan;
}

class GroundTruthTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    if (const absl::Status usable = BpfUsable(); !usable.ok()) GTEST_SKIP() << usable;
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "needs two CPUs";
    const double busy = BusyShare(300 * kNsPerMs);
    quiet_ = Exact() || busy < 0.15;
    if (!quiet_) {
      std::cout << "this machine is busy to " << 100 * busy
                << " % with other things: idle CPUs and lone causes are not asserted\n";
    }
  }

  // Each run is held against the truth; none may be wrong. Prints the scenario's line, and the runs
  // that had fewer late frames than expected.
  Score RunAll(const std::string& name, const ScenarioPlan& plan, const std::string& subject,
               int64_t late_per_10s = 1) {
    Score score;
    for (int64_t i = 0; i < Runs(); ++i) {
      absl::StatusOr<ScenarioRun> run = RunScenario(plan);
      EXPECT_THAT(run, IsOk());
      if (!run.ok()) return score;
      if (run->witness) NarrowToHome(*run);
      const int64_t late_before = score.late;
      score.Add(*run, subject);
      if (score.late - late_before < late_per_10s * Seconds() / 10) {
        std::cout << name << " run " << i << ": only " << score.late - late_before
                  << " late frames\n";
      }
    }
    std::cout << "ground-truth scenario=" << name << " " << score.ToString() << "\n";
    ExpectNothingWrong(score);
    EXPECT_EQ(score.lost, 0U);
    return score;
  }

  // What is done on the workload's first CPU delays it only while it is there.
  static void NarrowToHome(ScenarioRun& run) {
    EXPECT_EQ(run.witness->lost_buffers, 0);
    for (Injection& injection : run.injections) {
      injection.busy = WhileAtHome(injection.busy, *run.witness, kCpu, run.recording.watched);
      injection.shares_cpu = true;
    }
  }

  // How busy all CPUs are, from /proc/stat.
  static double BusyShare(int64_t duration_ns) {
    const auto [busy_before, all_before] = Jiffies();
    SleepUntilNs(MonotonicNs() + duration_ns);
    const auto [busy_after, all_after] = Jiffies();
    return static_cast<double>(busy_after - busy_before) /
           static_cast<double>(std::max<int64_t>(1, all_after - all_before));
  }

  static std::pair<int64_t, int64_t> Jiffies() {
    std::ifstream stat("/proc/stat");
    std::string cpu;
    stat >> cpu;
    int64_t all = 0;
    int64_t idle = 0;
    for (int field = 0; field < 8; ++field) {
      int64_t jiffies = 0;
      stat >> jiffies;
      all += jiffies;
      if (field == 3 || field == 4) idle += jiffies;  // idle, iowait
    }
    return {all - idle, all};
  }

  // That other CPUs were idle meanwhile, and it is known.
  void ExpectAvoidable(const Score& score) const {
    if (quiet_) {
      EXPECT_GT(score.avoidable_ns, 0);
    }
  }

  static void ExpectNothingWrong(const Score& score) {
    for (const std::string& line : score.wrong) ADD_FAILURE() << "wrong: " << line;
    for (const std::string& line : score.broken) ADD_FAILURE() << "broken: " << line;
  }

  // That the injected subject was found, and what it did charged to it.
  void ExpectNamed(const Score& score) const {
    if (quiet_) {
      EXPECT_GT(score.caused, 0);
    }
    EXPECT_GE(score.recalled * 10, score.caused * (Exact() ? 9 : 7));
    EXPECT_GT(score.blamed, 0);
    // A free workload may wait elsewhere meanwhile, for whatever else there is.
    EXPECT_GE(score.NamedShare(), quiet_ ? 0.9 : 0.7);
    if (!Exact()) return;
    for (const std::string& line : score.short_named) ADD_FAILURE() << "short: " << line;
    EXPECT_GE(score.CompleteShare(), 0.9);
  }

  bool quiet_ = false;
};

TEST_F(GroundTruthTest, FifoHogOnThePinnedWorkloadsCpu) {
  ScenarioPlan plan = VideoPlan(OneCpu(kCpu));
  plan.injectors.push_back(MakeHog(kCpu, 14 * kNsPerMs, 187 * kNsPerMs));
  const Score score = RunAll("hog_pinned", plan, "hog", /*late_per_10s=*/15);
  ExpectNamed(score);
  EXPECT_EQ(score.MainDecision(), "higher_class");
  EXPECT_EQ(score.avoidable_ns, 0);
}

// The application of a chain is alone on the other CPU with the hog; where it may run is its own.
TEST_F(GroundTruthTest, FifoHogOnTheCpuOfAChainsMiddleStage) {
  constexpr size_t kMiddle = 1;
  ScenarioPlan plan = VideoPlan(OneCpu(kCpu));
  plan.workload = *MakeWorkload("desktop", {});
  plan.injectors.push_back(MakeStageHog(kMiddle, CpuId{1}, 14 * kNsPerMs, 187 * kNsPerMs));
  Score score;
  for (int64_t i = 0; i < Runs(); ++i) {
    absl::StatusOr<ScenarioRun> run = RunScenario(plan);
    ASSERT_THAT(run, IsOk());
    Injection& hog = run->injections.front();
    hog.busy = WhileStageHolds(hog.busy, run->recording.frames, kMiddle);
    score.Add(*run, "hog");
    for (const Miss& miss : run->explanation.misses) {
      if (miss.verdict->subject == "hog") {
        EXPECT_EQ(miss.verdict->stage, "desktop-app") << "frame " << miss.frame.index;
      }
    }
  }
  std::cout << "ground-truth scenario=chain " << score.ToString() << "\n";
  ExpectNothingWrong(score);
  EXPECT_EQ(score.lost, 0U);
  ExpectNamed(score);
  EXPECT_EQ(score.MainDecision(), "higher_class");
  EXPECT_EQ(score.avoidable_ns, 0);
}

TEST_F(GroundTruthTest, BurnPinnedWithTheWorkload) {
  ScenarioPlan plan = VideoPlan(OneCpu(kCpu));
  plan.injectors.push_back(MakeBurn(kCpu));
  plan.injectors.push_back(MakeBurn(kCpu));
  const Score score = RunAll("burn_pinned", plan, "burn");
  ExpectNamed(score);
  EXPECT_THAT(score.MainDecision(), AnyOf("displaced", "slice", "no_preempt"));
  EXPECT_EQ(score.avoidable_ns, 0);
}

TEST_F(GroundTruthTest, WidenedMaskIsAMissedPull) {
  ScenarioPlan plan = VideoPlan(OneCpu(kCpu), 13 * kNsPerMs);
  plan.injectors.push_back(MakeBurn(kCpu));
  plan.injectors.back().shares_cpu = false;  // the workload may get away, as a witness sees
  plan.with_witness = true;
  plan.injectors.push_back(MakeMaskHelper(kCpu, Both()));
  const Score score = RunAll("widened_mask", plan, "burn");
  ExpectNamed(score);
  ExpectAvoidable(score);
  if (Exact()) {
    EXPECT_EQ(score.MainDecision(), "missed_pull");
  }
}

TEST_F(GroundTruthTest, FifoHogOnTheFreeWorkloadsCpu) {
  ScenarioPlan plan = VideoPlan(Both(), 12 * kNsPerMs);
  plan.injectors.push_back(MakeFollowingHog(14 * kNsPerMs, 187 * kNsPerMs));
  const Score score = RunAll("hog_free", plan, "hog");
  ExpectNamed(score);
  ExpectAvoidable(score);
  EXPECT_THAT(score.MainDecision(), AnyOf("higher_class", "missed_pull"));
}

TEST_F(GroundTruthTest, FifoWorkloadAboveItsBandwidth) {
  ScenarioPlan plan = VideoPlan(OneCpu(kCpu));
  plan.workload.period = {50 * kNsPerMs, 1};
  plan.workload.demand_ns = 48'500'000;
  plan.workload_settings.fifo_priority = 10;
  plan.injectors.push_back(MakeBurn(kCpu));
  const Score score = RunAll("rt_bandwidth", plan, "burn");
  ExpectNamed(score);
  EXPECT_EQ(score.MainDecision(), "rt_bandwidth");
}

TEST_F(GroundTruthTest, NobodyThatSleepsIsNamed) {
  ScenarioPlan plan = VideoPlan(Both());
  plan.injectors.push_back(MakeSleeper("hog"));
  plan.injectors.push_back(MakeSleeper("burn"));
  const Score score = RunAll("nothing", plan, "", /*late_per_10s=*/0);
  for (const auto& [subject, count] : score.verdicts) {
    EXPECT_THAT(subject, testing::Not(testing::ContainsRegex("hog|burn"))) << count;
  }
}

// Of the windows that a loss touches: a verdict may be complete only if what was lost would not
// have been enough to change it.
void CheckLosses(const ScenarioRun& run, int64_t* touched) {
  for (const Miss& miss : run.explanation.misses) {
    int64_t lost_ns = 0;
    for (const LossInterval& loss : run.recording.losses) {
      lost_ns = std::max(lost_ns, OverlapNs({{loss.begin_ns, loss.end_ns}}, miss.frame.release_ns,
                                            miss.frame.completion_ns));
    }
    if (lost_ns == 0) continue;
    ++*touched;
    if (miss.verdict->confidence == Confidence::kIncomplete) continue;
    EXPECT_LE(lost_ns, miss.verdict->margin_ns) << "frame " << miss.frame.index;
  }
}

TEST_F(GroundTruthTest, StormInATinyBufferIsIncompleteAndNeverWrong) {
  ScenarioPlan plan = VideoPlan(OneCpu(kCpu), 10 * kNsPerMs);
  plan.injectors.push_back(MakeStorm(20));
  plan.with_witness = true;
  Score score;
  int64_t touched = 0;
  for (int64_t i = 0; i < Runs(); ++i) {
    // Most is lost, or some windows stay whole.
    plan.buffer_bytes = i % 2 == 0 ? 64 << 10 : 1 << 20;
    absl::StatusOr<ScenarioRun> run = RunScenario(plan);
    ASSERT_THAT(run, IsOk());
    ASSERT_EQ(run->witness->lost_buffers, 0);
    Injection& storm = run->injections.front();
    storm.has_stamps = true;
    storm.busy = RunTimes(*run->witness, kCpu, {storm.threads.begin(), storm.threads.end()});
    score.Add(*run, "hack");
    CheckLosses(*run, &touched);
  }
  std::cout << "ground-truth scenario=storm touched=" << touched << " " << score.ToString() << "\n";
  EXPECT_GT(score.lost, 0U);
  EXPECT_GT(touched, 0);
  ExpectNothingWrong(score);
}

}  // namespace
}  // namespace whylate
