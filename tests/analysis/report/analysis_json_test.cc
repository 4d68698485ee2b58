#include "analysis/report/analysis_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/made_analysis.h"

namespace whylate {
namespace {

using ::testing::ElementsAre;
using Json = nlohmann::ordered_json;

std::vector<std::string> Keys(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  return keys;
}

TEST(AnalysisJsonTest, TheSchema) {
  const Json root = Json::parse(AnalysisToJson(MadeAnalysis()));
  EXPECT_THAT(Keys(root),
              ElementsAre("schema", "format", "notes", "events", "lost", "origin_ns", "span_ns",
                          "of", "totals", "activations", "tasks", "subjects"));
  EXPECT_EQ(root["schema"], "whylate.analysis/1");
  EXPECT_EQ(root["format"], "ftrace text");
  EXPECT_EQ(root["notes"], Json::array({"no affinity: waits are possibly avoidable"}));
  EXPECT_EQ(root["of"], "activations");
  EXPECT_EQ(root["totals"], Json::parse(R"({"activations": 3, "late": 1, "shown": 2})"));
  ASSERT_EQ(root["activations"].size(), 2u);
  EXPECT_THAT(
      Keys(root["activations"][0]),
      ElementsAre("task", "tid", "start_ns", "waking_ns", "running_ns", "end_ns", "finished",
                  "deadline_ns", "late", "wait_ns", "wait_known", "segments", "verdict"));
  EXPECT_EQ(root["tasks"][0]["longest_wait_ns"], 12'000'000);
  EXPECT_EQ(root["subjects"][0], Json::parse(R"({"subject": "bash", "ns": 12000000})"));
}

TEST(AnalysisJsonTest, TimesAreRelativeToAnOriginThatIsAString) {
  const Json root = Json::parse(AnalysisToJson(MadeAnalysis()));
  EXPECT_EQ(root["origin_ns"], "9007199254740993");
  EXPECT_EQ(root["span_ns"], 1'000'000'000);
  const Json& worst = root["activations"][0];
  EXPECT_EQ(worst["waking_ns"], 100'000'000);
  EXPECT_EQ(worst["running_ns"], 112'000'000);
  EXPECT_EQ(worst["deadline_ns"], 116'000'000);
  EXPECT_EQ(worst["segments"][0]["end_ns"], 112'000'000);
  EXPECT_EQ(worst["segments"][0]["occupants"][0]["start_ns"], 100'000'000);
}

TEST(AnalysisJsonTest, WhatIsNotKnownIsNull) {
  const Json root = Json::parse(AnalysisToJson(MadeAnalysis()));
  const Json& unknown = root["activations"][1];
  for (const char* key : {"waking_ns", "running_ns", "deadline_ns", "late", "verdict"}) {
    EXPECT_TRUE(unknown[key].is_null()) << key;
  }
  EXPECT_EQ(unknown["wait_known"], false);
  EXPECT_EQ(root["activations"][0]["wait_known"], true);
}

TEST(AnalysisJsonTest, ClassAndPriorityOfWhoWaitsAndOfWhoRan) {
  const Json root = Json::parse(AnalysisToJson(MadeAnalysis()));
  const Json& wait = root["activations"][0]["segments"][0];
  EXPECT_EQ(wait["class"], "fair");
  EXPECT_EQ(wait["nice"], 0);
  EXPECT_EQ(wait["occupants"][0]["class"], "real_time");
  EXPECT_EQ(wait["occupants"][0]["rt_priority"], 30);
  EXPECT_TRUE(root["activations"][0]["segments"][1]["class"].is_null());
}

TEST(AnalysisJsonTest, HostileNamesStayText) {
  TraceAnalysis trace = MadeAnalysis();
  trace.analysis.activations[0].task = "a\"b\xff\x1b";
  trace.notes = {"n\n\xc3"};
  const Json root = Json::parse(AnalysisToJson(trace));
  EXPECT_EQ(root["activations"][0]["task"], "a\"b\xef\xbf\xbd\x1b");
  EXPECT_EQ(root["notes"][0], "n\n\xef\xbf\xbd");
}

}  // namespace
}  // namespace whylate
