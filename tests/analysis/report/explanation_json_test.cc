#include "analysis/report/explanation_json.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/json_shape.h"
#include "tests/support/made_report.h"

namespace whylate {
namespace {

constexpr int64_t kOriginNs = 1000;

Json ToCell(const Explanation& explanation) {
  CellFrames frames;
  frames.origin_ns = kOriginNs;
  frames.end_ns = kOriginNs + 30'000'000'000;
  Json cell;
  AddExplanation(explanation, frames, cell);
  return cell;
}

Json MadeCell() { return ToCell(MadeExplanation(kOriginNs)); }

TEST(ExplanationSchemaTest, Trace) {
  ExpectShape(MadeCell()["trace"], {{"source", "string"},
                                    {"events", "integer"},
                                    {"lost", "integer"},
                                    {"breaks", "integer"},
                                    {"repaired_ns", "integer"},
                                    {"recursion_misses", "integer"},
                                    {"has_steal_clock", "boolean"}});
}

TEST(ExplanationSchemaTest, Delay) {
  ExpectShape(MadeCell()["delay"], {{"late_ns", "integer"},
                                    {"unknown_ns", "integer"},
                                    {"wait_ns", "integer"},
                                    {"avoidable_ns", "integer"},
                                    {"possibly_avoidable_ns", "integer"},
                                    {"avoidable_ms_per_minute", "float"}});
}

TEST(ExplanationSchemaTest, Miss) {
  ExpectShape(MadeCell()["misses"][0], {{"frame", "integer"},
                                        {"release_ns", "integer"},
                                        {"start_ns", "integer"},
                                        {"completion_ns", "integer"},
                                        {"deadline_ns", "integer"},
                                        {"dropped", "integer"},
                                        {"segments", "array"},
                                        {"verdict", "object"}});
}

TEST(ExplanationSchemaTest, Segments) {
  const Json cell = MadeCell();
  for (const Json& segment : cell["misses"][0]["segments"]) {
    ExpectShape(segment, {{"kind", "string"},
                          {"start_ns", "integer"},
                          {"end_ns", "integer"},
                          {"cpu", "integer|null"},
                          {"parts", "array"},
                          {"occupants", "array"},
                          {"avoidable_ns", "integer"},
                          {"possibly_avoidable_ns", "integer"},
                          {"decision", "string|null"},
                          {"waker", "string|null"},
                          {"reason", "string|null"}});
  }
}

TEST(ExplanationSchemaTest, Occupant) {
  ExpectShape(MadeCell()["misses"][0]["segments"][1]["occupants"][0], {{"task", "string"},
                                                                       {"tid", "integer"},
                                                                       {"role", "string"},
                                                                       {"start_ns", "integer"},
                                                                       {"end_ns", "integer"},
                                                                       {"ns", "integer"},
                                                                       {"decision", "string"},
                                                                       {"parts", "array"}});
}

TEST(ExplanationSchemaTest, Part) {
  ExpectShape(MadeCell()["misses"][0]["segments"][2]["parts"][0],
              {{"kind", "string"}, {"ns", "integer"}});
}

TEST(ExplanationSchemaTest, Verdict) {
  ExpectShape(MadeCell()["misses"][0]["verdict"], {{"subject", "string"},
                                                   {"subjects", "array"},
                                                   {"kind", "string"},
                                                   {"decision", "string"},
                                                   {"sufficient", "boolean"},
                                                   {"margin_ns", "integer"},
                                                   {"confidence", "string"},
                                                   {"repaired_ns", "integer"}});
}

TEST(ExplanationSchemaTest, Causes) {
  const Json cell = MadeCell();
  for (const Json& cause : cell["causes"]) {
    ExpectShape(cause, {{"subject", "string"},
                        {"kind", "string"},
                        {"decision", "string|null"},
                        {"frames", "integer"},
                        {"frames_incomplete", "integer"},
                        {"ns", "integer"}});
  }
}

TEST(ExplanationSchemaTest, Subjects) {
  ExpectShape(MadeCell()["subjects"][0], {{"subject", "string"},
                                          {"frames", "integer"},
                                          {"frames_incomplete", "integer"},
                                          {"frames_saved", "integer"},
                                          {"ns", "integer"}});
}

TEST(ExplanationJsonTest, WithoutATraceThereIsNothingToSay) {
  const Json cell = ToCell({});
  EXPECT_TRUE(cell["trace"].is_null());
  for (const char* key : {"misses", "causes", "subjects"}) EXPECT_EQ(cell[key], Json::array());
}

TEST(ExplanationJsonTest, AMissWithoutATraceHasNoVerdict) {
  Explanation explanation = MadeExplanation(kOriginNs);
  explanation.misses[0].segments.clear();
  explanation.misses[0].verdict.reset();
  const Json miss = ToCell(explanation)["misses"][0];
  EXPECT_TRUE(miss["verdict"].is_null());
  EXPECT_EQ(miss["segments"], Json::array());
}

TEST(ExplanationJsonTest, WhatDoesNotApplyIsNull) {
  Explanation explanation = MadeExplanation(kOriginNs);
  explanation.misses[0].segments = {Segment()};
  const Json segment = ToCell(explanation)["misses"][0]["segments"][0];
  for (const char* key : {"cpu", "decision", "waker", "reason"}) {
    EXPECT_TRUE(segment[key].is_null()) << key;
  }
}

TEST(ExplanationJsonTest, AnOccupantWithoutATidHasNull) {
  Explanation explanation = MadeExplanation(kOriginNs);
  explanation.misses[0].segments[1].occupants[0].tid.reset();
  EXPECT_TRUE(ToCell(explanation)["misses"][0]["segments"][1]["occupants"][0]["tid"].is_null());
}

TEST(ExplanationJsonTest, SegmentsTileTheWindow) {
  const Json miss = MadeCell()["misses"][0];
  EXPECT_EQ(miss["segments"].front()["start_ns"], miss["release_ns"]);
  EXPECT_EQ(miss["segments"].back()["end_ns"], miss["completion_ns"]);
}

TEST(ExplanationJsonTest, OccupantNsIsItsLength) {
  const Json occupant = MadeCell()["misses"][0]["segments"][1]["occupants"][0];
  EXPECT_EQ(occupant["ns"].get<int64_t>(),
            occupant["end_ns"].get<int64_t>() - occupant["start_ns"].get<int64_t>());
}

TEST(ExplanationJsonTest, ProratedPartsSaySo) {
  const Json segments = MadeCell()["misses"][0]["segments"];
  EXPECT_EQ(segments[1]["occupants"][0]["parts"][0]["prorated"], true);
  EXPECT_FALSE(segments[2]["parts"][0].contains("prorated"));
}

TEST(ExplanationRoundTripTest, JsonIsTheSame) {
  const Json cell = MadeCell();
  EXPECT_EQ(ToCell(ExplanationFromJson(cell, kOriginNs)), cell);
}

TEST(ExplanationRoundTripTest, EveryFieldOfAMissSurvives) {
  const Explanation made = MadeExplanation(kOriginNs);
  const Explanation read = ExplanationFromJson(MadeCell(), kOriginNs);
  ASSERT_EQ(read.misses.size(), 1u);
  EXPECT_EQ(read.misses[0].segments, made.misses[0].segments);
  EXPECT_EQ(read.misses[0].verdict, made.misses[0].verdict);
  EXPECT_EQ(read.misses[0].deadline_ns, made.misses[0].deadline_ns);
  EXPECT_EQ(read.misses[0].frame.completion_ns, made.misses[0].frame.completion_ns);
  EXPECT_EQ(read.misses[0].dropped, 1);
}

// Names are part of the schema: scripts compare with them.
TEST(ExplanationNamesTest, SegmentKinds) {
  for (const char* name : {"late_release", "wakeup_dispatch", "runqueue_wait", "preempted",
                           "running", "blocked", "throttled", "carry_over", "unknown"}) {
    Json cell = MadeCell();
    cell["misses"][0]["segments"][0]["kind"] = name;
    EXPECT_EQ(ToString(ExplanationFromJson(cell, 0).misses[0].segments[0].kind), name);
  }
}

TEST(ExplanationNamesTest, Decisions) {
  for (const char* name :
       {"rt_bandwidth", "idle_exit", "not_preemptible", "higher_class", "placement", "missed_pull",
        "displaced", "slice", "no_preempt", "undetermined"}) {
    Json cell = MadeCell();
    cell["causes"][0]["decision"] = name;
    EXPECT_EQ(ToString(*ExplanationFromJson(cell, 0).causes[0].decision), name);
  }
}

TEST(ExplanationNamesTest, PartKinds) {
  for (const char* name : {"nmi", "irq", "softirq", "steal", "slow"}) {
    Json cell = MadeCell();
    cell["misses"][0]["segments"][2]["parts"][0]["kind"] = name;
    EXPECT_EQ(ToString(ExplanationFromJson(cell, 0).misses[0].segments[2].parts[0].kind), name);
  }
}

TEST(ExplanationNamesTest, Confidences) {
  for (const char* name : {"complete", "incomplete"}) {
    Json cell = MadeCell();
    cell["misses"][0]["verdict"]["confidence"] = name;
    EXPECT_EQ(ToString(ExplanationFromJson(cell, 0).misses[0].verdict->confidence), name);
  }
}

TEST(ExplanationNamesTest, Roles) {
  for (const char* name :
       {"workload", "load:burn", "load:", "kernel", "observer", "other", "idle", "unknown"}) {
    Json cell = MadeCell();
    Json& occupant = cell["misses"][0]["segments"][1]["occupants"][0];
    occupant["role"] = name;
    const Explanation read = ExplanationFromJson(cell, 0);
    EXPECT_EQ(read.misses[0].segments[1].occupants[0].role.ToString(), name);
  }
}

TEST(ExplanationErrorTest, UnknownNamesAreRefused) {
  const auto refused = [](const char* pointer) {
    Json cell = MadeCell();
    cell[Json::json_pointer(pointer)] = "bad_luck";
    EXPECT_ANY_THROW(ExplanationFromJson(cell, 0)) << pointer;
  };
  refused("/misses/0/segments/0/kind");
  refused("/misses/0/segments/1/decision");
  refused("/misses/0/segments/1/occupants/0/decision");
  refused("/misses/0/segments/2/parts/0/kind");
  refused("/misses/0/verdict/confidence");
  refused("/causes/0/decision");
}

TEST(ExplanationErrorTest, MissingKeysAreRefused) {
  for (const char* key : {"trace", "misses", "causes", "subjects"}) {
    Json cell = MadeCell();
    cell.erase(key);
    EXPECT_ANY_THROW(ExplanationFromJson(cell, 0)) << key;
  }
}

}  // namespace
}  // namespace whylate
