// whylate selftest as a user runs it, and what is left of it when it is killed. On the real machine, as
// root.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "analysis/report/json_fields.h"
#include "tests/support/bpf_objects.h"
#include "tests/support/machine.h"
#include "tests/support/program.h"
#include "userspace/platform/cgroup.h"
#include "userspace/platform/files.h"
#include "userspace/selftest/scenarios.h"
#include "userspace/trace/bpf_source.h"

namespace whylate {
namespace {

using ::testing::HasSubstr;
using ::testing::Values;

constexpr std::chrono::seconds kCleanPatience(5);

void SkipWhereItCannotRun() {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  if (const absl::Status usable = BpfUsable(); !usable.ok()) GTEST_SKIP() << usable;
}

class SelftestTest : public testing::Test {
 protected:
  void SetUp() override { SkipWhereItCannotRun(); }
  const ScratchDirectory scratch_;
};

int64_t SumOf(const Json& confusion) {
  int64_t sum = 0;
  for (const Json& frames : confusion) sum += frames.get<int64_t>();
  return sum;
}

// Every frame that was late or skipped is in the confusion or incomplete; what is injected is named.
void ExpectRight(const Json& scenario) {
  SCOPED_TRACE(scenario.dump());
  EXPECT_EQ(scenario["wrong"], 0);
  EXPECT_EQ(SumOf(scenario["confusion"]) + scenario["incomplete"].get<int64_t>(),
            scenario["late"].get<int64_t>() + scenario["dropped"].get<int64_t>());
  EXPECT_LE(scenario["named_ns"], scenario["injected_ns"]);
  EXPECT_LE(scenario["unknown_ns"], scenario["delay_ns"]);
  const Proof proof = FindScenario(scenario["name"].get<std::string>())->proof();
  if (proof.expected.empty()) return;
  EXPECT_GT(scenario["injections"], 0);
  EXPECT_GE(scenario["named_ns"].get<double>(), 0.7 * scenario["injected_ns"].get<double>());
}

TEST_F(SelftestTest, NamesEveryCauseRight) {
  // Real-time bandwidth is taken once a second: in 1.5 s that may fall where nothing is late.
  const ProgramResult result = RunProgram(
      {"selftest", "--json", "--quiet", "--seconds", "2500ms", "--workdir", scratch_.path()});
  // Of a machine that has other things to do too little may be asked for a proof.
  EXPECT_THAT(result.exit_code, testing::AnyOf(0, 1)) << result.err;
  EXPECT_EQ(result.err, "");
  const Json document = Json::parse(result.out);
  EXPECT_EQ(document["schema"], "whylate.selftest/1");
  std::set<int> rows;
  for (const Json& scenario : document["scenarios"]) {
    rows.insert(scenario["row"].get<int>());
    if (scenario["skipped"].is_string()) {
      std::cout << scenario["name"] << " skipped: " << scenario["skipped"] << "\n";
    } else {
      ExpectRight(scenario);
    }
  }
  EXPECT_EQ(rows.size(), size_t{kGroundTruthRows});
}

TEST_F(SelftestTest, AnUnknownScenarioIsAMistakeInUse) {
  const ProgramResult result = RunProgram({"selftest", "--scenario", "none"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("unknown scenario 'none'; there are: hog_pinned, "));
  EXPECT_EQ(result.out, "");
}

TEST_F(SelftestTest, WithoutRootItSaysSoInOneLine) {
  const ProgramResult result =
      RunProgram({.arguments = {"selftest"}, .before_exec = [] { (void)!setuid(65534); }});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("selftest needs root"));
  EXPECT_EQ(result.err.find('\n'), result.err.size() - 1);
}

// The cgroups of a run, with one of their files.
std::string ReadOfItsCgroup(const std::string& run_id, const std::string& file) {
  std::string text;
  VisitOurCgroups([&](const std::string& path) {
    if (absl::EndsWith(path, run_id)) text += ReadFile(path + "/" + file).value_or("");
  });
  return text;
}

struct KillCase {
  const char* scenario;
  const char* thread;  // that must be there
  int signal;
};

class SelftestKillTest : public testing::TestWithParam<KillCase> {
 protected:
  void SetUp() override { SkipWhereItCannotRun(); }

  // The workload is frozen just now, where it ever is.
  static bool IsWorst(const RunningProgram& program) {
    if (!FindThread(program.pid(), GetParam().thread)) return false;
    if (std::string(GetParam().scenario) != "frozen") return true;
    return absl::StrContains(ReadOfItsCgroup(program.run_id(), "freezer.state"), "FROZEN") ||
           absl::StrContains(ReadOfItsCgroup(program.run_id(), "cgroup.events"), "frozen 1");
  }

  const ScratchDirectory scratch_;
};

TEST_P(SelftestKillTest, LeavesNothing) {
  RunningProgram program({.arguments = {"selftest", "--scenario", GetParam().scenario, "--seconds",
                                        "60", "--workdir", scratch_.path()}});
  bool reached = false;
  ASSERT_TRUE(Eventually([&] {
    reached = reached || IsWorst(program);
    return reached || program.HasEnded();
  }));
  if (!reached) GTEST_SKIP() << program.Wait().out;
  program.Signal(GetParam().signal);
  ASSERT_TRUE(Eventually([&] { return program.HasEnded(); }, kCleanPatience));
  EXPECT_EQ(Leftovers(program.run_id(), scratch_.path(), kCleanPatience), "");
  EXPECT_TRUE(Eventually([] { return CaptureObjects().empty(); }, kCleanPatience))
      << absl::StrJoin(CaptureObjects(), ", ");
  EXPECT_EQ(program.Wait().exit_code, GetParam().signal == SIGKILL ? 128 + SIGKILL : 130);
}

std::string KillName(const testing::TestParamInfo<KillCase>& parameter) {
  return std::string(parameter.param.scenario) +
         (parameter.param.signal == SIGKILL ? "_killed" : "_interrupted");
}

INSTANTIATE_TEST_SUITE_P(
    Scenarios, SelftestKillTest,
    Values(KillCase{"frozen", "freezer", SIGKILL}, KillCase{"frozen", "freezer", SIGINT},
           KillCase{"quota_burn", "burn", SIGKILL}, KillCase{"stopped", "stopper", SIGKILL},
           KillCase{"lock_holder_delayed", "holder", SIGKILL},
           KillCase{"cold_pages", "evictor", SIGKILL}, KillCase{"interrupts", "timers", SIGINT},
           KillCase{"softirqs", "packets", SIGKILL}, KillCase{"storm", "hack", SIGKILL}),
    KillName);

}  // namespace
}  // namespace whylate
