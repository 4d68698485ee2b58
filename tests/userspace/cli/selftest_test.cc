#include "userspace/cli/selftest.h"

#include <string>

#include "absl/strings/str_split.h"
#include "analysis/report/json_fields.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/json_shape.h"

namespace whylate {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ScenarioResult Result(const char* name) {
  ScenarioResult result;
  result.row = FindScenario(name);
  Score& score = result.score;
  score.runs = 2;
  score.late = 30;
  score.dropped = 3;
  score.injections = 31;
  score.injected_ns = 400'000'000;
  score.named_ns = 399'000'000;
  score.confusion = {{"hog", 30}, {"\x1b[31mred", 1}};
  score.incomplete_frames = 2;
  score.decision_ns = {{"hog", {{"higher_class", 399'000'000}}}};
  return result;
}

SelftestResult AllOfThem() {
  SelftestResult result;
  for (const ScenarioRow& row : ScenarioRows()) {
    result.scenarios.push_back(Result(std::string(row.name).c_str()));
  }
  return result;
}

TEST(SelftestTextTest, IsNoWiderThanAMail) {
  SelftestResult result = AllOfThem();
  result.scenarios.back().prediction = Prediction{{10, 12, 14}, {9, 12, 15}};
  result.scenarios.front().skipped = "needs two CPUs";
  const std::string text = SelftestText(result, SelftestOptions());
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST(SelftestTextTest, SaysWhatWasDoneAndNamed) {
  SelftestResult result;
  result.scenarios = {Result("hog_pinned")};
  const std::string text = SelftestText(result, SelftestOptions());
  EXPECT_THAT(text, AllOf(HasSubstr("400.0       399.0   99.75     0  ok"),
                          HasSubstr("hog 30, \\x1b[31mred 1 (+2 incomplete)"),
                          HasSubstr("0 wrong verdicts: causes are named right here\n")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(SelftestTextTest, SaysWhatIsWrongAndWhatWasSkipped) {
  SelftestResult result;
  result.scenarios = {Result("hog_pinned"), Result("hog_free"), Result("storm")};
  result.scenarios[0].score.wrong = {"frame 7, named burn: it had 0 us"};
  result.scenarios[1].score = Score();
  result.scenarios[1].skipped = "needs two CPUs";
  result.scenarios[2].unproven = {"no event was lost"};
  const std::string text = SelftestText(result, SelftestOptions());
  EXPECT_THAT(text,
              AllOf(HasSubstr("    1  WRONG\n"), HasSubstr("hog_free              skipped\n"),
                    HasSubstr("hog_free: skipped: needs two CPUs\n"),
                    HasSubstr("hog_pinned: wrong: frame 7, named burn: it had 0 us\n"),
                    HasSubstr("storm: not proven: no event was lost\n"),
                    HasSubstr("3 scenarios, 1 skipped, 1 not proven, 1 wrong verdicts: not")));
}

TEST(SelftestResultTest, IsOkWhereNothingIsWrongOrUnproven) {
  SelftestResult result;
  result.scenarios = {Result("hog_pinned"), Result("hog_free")};
  result.scenarios[1].skipped = "needs two CPUs";
  EXPECT_TRUE(result.Ok());
  result.scenarios[0].unproven = {"too little is named in 1 windows"};
  EXPECT_FALSE(result.Ok());
  result.scenarios[0].unproven.clear();
  result.scenarios[0].score.wrong = {"x"};
  EXPECT_FALSE(result.Ok());
}

TEST(SelftestJsonTest, HasTheSchemasKeys) {
  SelftestResult result = AllOfThem();
  result.scenarios.back().prediction = Prediction{{10, 12, 14}, {9, 12, 15}};
  result.scenarios.front().skipped = "needs two CPUs";
  const Json document = Json::parse(SelftestJson(result, SelftestOptions()));
  ExpectShape(document, {{"schema", "string"},
                         {"runs", "integer"},
                         {"seconds", "float"},
                         {"ok", "boolean"},
                         {"scenarios", "array"}});
  EXPECT_EQ(document["schema"], "whylate.selftest/1");
  ASSERT_EQ(document["scenarios"].size(), ScenarioRows().size());
  for (const Json& scenario : document["scenarios"]) {
    ExpectShape(scenario, {{"name", "string"},
                           {"row", "integer"},
                           {"runs", "integer"},
                           {"wrong", "integer"},
                           {"wrong_verdicts", "array"},
                           {"skipped", "string|null"},
                           {"injections", "integer"},
                           {"injected_ns", "integer"},
                           {"named_ns", "integer"},
                           {"confusion", "object"},
                           {"incomplete", "integer"},
                           {"late", "integer"},
                           {"dropped", "integer"},
                           {"decisions", "object"},
                           {"unproven", "array"},
                           {"prediction", "object|null"}});
  }
  const Json& first = document["scenarios"][0];
  EXPECT_EQ(first["skipped"], "needs two CPUs");
  EXPECT_EQ(first["confusion"]["hog"], 30);
  EXPECT_EQ(first["decisions"]["hog"]["higher_class"], 399'000'000);
  EXPECT_EQ(document["scenarios"].back()["prediction"]["pairs"], 3);
}

TEST(SelftestListTest, NamesEveryScenario) {
  for (const ScenarioRow& row : ScenarioRows()) {
    EXPECT_THAT(SelftestList(), HasSubstr(std::string(row.name)));
  }
}

}  // namespace
}  // namespace whylate
