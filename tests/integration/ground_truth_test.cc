// A cause is believed only when it is provoked on purpose and named right. On the real machine, as root:
// the scenarios of `whylate selftest`, one by one, and what of them an independent witness sees.
//
// Environment: WHYLATE_RUNS of each scenario (2), WHYLATE_SECONDS of each run (2), and
// WHYLATE_EXACT=1 for a quiet machine: then shares are as promised, not just plausible.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <set>
#include <string>

#include "analysis/model/status_macros.h"
#include "tests/support/explanation_checks.h"
#include "tests/support/stage.h"
#include "tests/support/status_matchers.h"
#include "tests/support/tracefs_witness.h"
#include "tests/support/witness_times.h"
#include "userspace/selftest/scenarios.h"
#include "userspace/selftest/score.h"
#include "userspace/selftest/stamps.h"

namespace whylate {
namespace {

int64_t Runs() { return NumberFromEnvironment("WHYLATE_RUNS", 2); }
bool Exact() { return NumberFromEnvironment("WHYLATE_EXACT", 0) != 0; }

class GroundTruthTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = WhyNoStage(); !why.empty()) GTEST_SKIP() << why;
    stage_ = MakeStage();
  }

  // One run of a scenario, whose sums are checked.
  ScenarioRun Play(const ScenarioPlan& plan, ScenarioWatcher* watcher = nullptr) const {
    absl::StatusOr<ScenarioRun> run = RunScenario(plan, stage_, watcher);
    EXPECT_THAT(run, IsOk());
    if (!run.ok()) return ScenarioRun();
    for (const std::string& line : BrokenInvariants(run->recording.frames, run->explanation)) {
      ADD_FAILURE() << "broken: " << line;
    }
    return *std::move(run);
  }

  static void ExpectNothingWrong(const Score& score) {
    for (const std::string& line : score.wrong) ADD_FAILURE() << "wrong: " << line;
  }

  ScenarioStage stage_;
};

// Of what happens while it watches.
class Witness : public ScenarioWatcher {
 public:
  absl::Status OnBegin(Tgid) override {
    ASSIGN_OR_RETURN(witness_, TracefsWitness::Create());
    return witness_->Start();
  }
  absl::Status OnEnd() override { return witness_->End(); }
  // Reads the rest only now: beside a storm it would hardly come to an end.
  absl::Status OnFrames(const Recording&) override {
    ASSIGN_OR_RETURN(recording_, witness_->Stop());
    witness_.reset();
    return absl::OkStatus();
  }
  const WitnessRecording& recording() const { return recording_; }

 private:
  std::unique_ptr<TracefsWitness> witness_;
  WitnessRecording recording_;
};

class ScenarioTest : public GroundTruthTest,
                     public testing::WithParamInterface<const ScenarioRow*> {};

// Whatever the machine does besides, no verdict is wrong, and what was done is charged to who did it.
TEST_P(ScenarioTest, IsNamedRight) {
  const ScenarioRow& row = *GetParam();
  const Proof proof = row.proof();
  Score score;
  for (int64_t i = 0; i < Runs(); ++i) {
    const absl::StatusOr<ScenarioPlan> plan = row.build(stage_);
    if (absl::IsFailedPrecondition(plan.status()) || absl::IsNotFound(plan.status())) {
      GTEST_SKIP() << plan.status();
    }
    ASSERT_THAT(plan, IsOk());
    const ScenarioRun run = Play(*plan);
    if (HasFailure()) return;
    score.Add(run, proof);
  }
  std::cout << "ground-truth scenario=" << row.name << " " << score.ToString() << "\n";
  ExpectNothingWrong(score);
  if (proof.needs_losses) {
    EXPECT_GT(score.lost, 0U);
  } else {
    EXPECT_EQ(score.lost, 0U);
  }
  if (proof.expected.empty()) return;
  EXPECT_GT(score.injections, 0);
  EXPECT_GT(score.blamed, 0);
  EXPECT_GE(score.NamedShare(), 0.7);
  if (!Exact()) return;
  EXPECT_GE(score.CompleteShare(), 0.9);
  EXPECT_THAT(score.Unproven(proof, /*quiet=*/true), testing::IsEmpty());
}

std::vector<const ScenarioRow*> AllRows() {
  std::vector<const ScenarioRow*> rows;
  for (const ScenarioRow& row : ScenarioRows()) {
    // That is another's plan again, with a prediction: whylate selftest has it.
    if (row.build_without == nullptr) rows.push_back(&row);
  }
  return rows;
}

std::string NameOf(const testing::TestParamInfo<const ScenarioRow*>& parameter) {
  return std::string(parameter.param->name);
}

INSTANTIATE_TEST_SUITE_P(All, ScenarioTest, testing::ValuesIn(AllRows()), NameOf);

// The account that the workload keeps of its waits, with which the injector's is narrowed.
TEST_F(GroundTruthTest, TheWorkloadsClockAndAWitnessSeeTheSameOfAWidenedMask) {
  const ScenarioRow& row = *FindScenario("widened_mask");
  const absl::StatusOr<ScenarioPlan> plan = row.build(stage_);
  ASSERT_THAT(plan, IsOk());
  Witness witness;
  ScenarioRun run = Play(*plan, &witness);
  if (HasFailure()) return;
  ASSERT_EQ(witness.recording().lost_buffers, 0);
  const Injection& burn = run.injection("burn");
  const std::vector<TimeWindow> seen = WhileAtHome(
      RunTimes(witness.recording(), stage_.home, {burn.threads.begin(), burn.threads.end()}),
      witness.recording(), stage_.home, run.recording.watched);
  int64_t least_ns = 0;  // by the clock
  int64_t most_ns = 0;
  int64_t by_witness_ns = 0;
  for (const Miss& miss : run.explanation.misses) {
    const auto amount = burn.amounts.find(miss.frame.index);
    const int64_t sure_ns = OverlapNs(burn.busy, miss.frame.release_ns, miss.frame.completion_ns);
    least_ns += sure_ns;
    most_ns += sure_ns + (amount == burn.amounts.end() ? 0 : amount->second.unsure_ns);
    by_witness_ns += OverlapNs(seen, miss.frame.release_ns, miss.frame.completion_ns);
  }
  std::cout << "burn had " << least_ns << " to " << most_ns << " ns by the clock, " << by_witness_ns
            << " ns by the witness\n";
  EXPECT_GT(by_witness_ns, 0);
  EXPECT_GE(most_ns, by_witness_ns * 9 / 10);
  EXPECT_LE(least_ns, by_witness_ns * 11 / 10);
}

// With an account of the storm's own by a witness that loses nothing.
TEST_F(GroundTruthTest, AStormInATinyBufferIsIncompleteAndNeverWrong) {
  const ScenarioRow& row = *FindScenario("storm");
  const Proof proof = row.proof();
  Score score;
  for (int64_t i = 0; i < Runs(); ++i) {
    absl::StatusOr<ScenarioPlan> plan = row.build(stage_);
    ASSERT_THAT(plan, IsOk());
    // Most is lost, or some windows stay whole.
    if (i % 2 == 1) plan->buffer_bytes = 1 << 20;
    Witness witness;
    ScenarioRun run = Play(*plan, &witness);
    if (HasFailure()) return;
    ASSERT_EQ(witness.recording().lost_buffers, 0);
    Injection& storm = run.injections.front();
    storm.has_stamps = true;
    storm.busy =
        RunTimes(witness.recording(), stage_.home, {storm.threads.begin(), storm.threads.end()});
    score.Add(run, proof);
  }
  std::cout << "ground-truth scenario=storm_witnessed " << score.ToString() << "\n";
  EXPECT_GT(score.lost, 0U);
  ExpectNothingWrong(score);
}

}  // namespace
}  // namespace whylate
