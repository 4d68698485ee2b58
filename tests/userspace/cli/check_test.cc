#include "userspace/cli/check.h"

#include <sstream>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "analysis/report/escape.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace whylate {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

Ability Make(const std::string& name, bool ok, AbilityPurpose purpose) {
  Ability ability;
  ability.name = name;
  ability.ok = ok;
  ability.detail = "seen " + name;
  ability.remedy = ok ? "" : "mend " + name;
  ability.required = purpose == AbilityPurpose::kRun;
  ability.purpose = purpose;
  return ability;
}

const std::vector<HostFact>& Host() {
  static const auto& host = *new std::vector<HostFact>{
      {"kernel", "6.18.0"}, {"cpu_model", "Some CPU"},  {"cpus", "2"},
      {"hz", std::nullopt}, {"virtualization", "none"}, {"distribution", "Debian 12"}};
  return host;
}

TEST(CheckTextTest, AlignsAndIndentsRemedies) {
  EXPECT_EQ(CheckText({Make("proc", true, AbilityPurpose::kRun),
                       Make("governor", false, AbilityPurpose::kQuality)},
                      Host()),
            "6.18.0, Some CPU, 2 CPUs, no hypervisor, Debian 12\n"
            "\n"
            "yes proc      seen proc\n"
            "no  governor  seen governor\n"
            "              -> mend governor\n"
            "\n"
            "This machine can measure; its numbers will suffer from governor.\n");
}

TEST(CheckTextTest, EndsWithTheAnswer) {
  const Ability proc = Make("proc", true, AbilityPurpose::kRun);
  EXPECT_THAT(CheckText({proc}, Host()), EndsWith("\nThis machine can measure.\n"));
  EXPECT_THAT(CheckText({proc, Make("html", false, AbilityPurpose::kOption)}, Host()),
              EndsWith("\nThis machine can measure.\n"));
  EXPECT_THAT(CheckText({proc, Make("btf", false, AbilityPurpose::kReasons)}, Host()),
              EndsWith("\nThis machine can measure, without the reasons of misses (see btf).\n"));
  EXPECT_THAT(CheckText({Make("proc", false, AbilityPurpose::kRun)}, Host()),
              EndsWith("\nThis machine cannot measure: no proc.\n"));
}

TEST(CheckTextTest, NoLinePasses100Columns) {
  Ability ability = Make("load_disk", false, AbilityPurpose::kOption);
  for (int i = 0; i < 60; ++i) {
    ability.detail += " word" + std::to_string(i);
    ability.remedy += " 日本語";
  }
  const std::string text = CheckText({ability}, Host());
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    EXPECT_LE(DisplayWidth(line), 100u) << line;
  }
  EXPECT_THAT(text, HasSubstr("word59"));
}

TEST(CheckTextTest, HostileBytesAreSpelledOut) {
  Ability ability = Make("load_disk", false, AbilityPurpose::kOption);
  ability.detail = "\x1b]0;owned\x07\ninjected";
  ability.remedy = "\u202eevil";
  const std::string text = CheckText({ability}, {{"kernel", "6\x9b"}});
  EXPECT_THAT(text, HasSubstr("\\x1b]0;owned\\x07\\x0ainjected"));
  EXPECT_THAT(text, HasSubstr("\\u{202e}evil"));
  EXPECT_THAT(text, HasSubstr("6\\x9b, unknown cpu_model, unknown cpus CPUs"));
}

TEST(CheckJsonTest, HasTheDocumentedShape) {
  const auto json = nlohmann::ordered_json::parse(CheckJson(
      {Make("proc", true, AbilityPurpose::kRun), Make("governor", false, AbilityPurpose::kQuality)},
      Host()));
  EXPECT_EQ(json.at("schema"), "whylate.check/1");
  ASSERT_EQ(json.at("abilities").size(), 2u);
  const auto& proc = json.at("abilities")[0];
  EXPECT_EQ(proc.at("name"), "proc");
  EXPECT_EQ(proc.at("ok"), true);
  EXPECT_EQ(proc.at("detail"), "seen proc");
  EXPECT_TRUE(proc.at("remedy").is_null());
  EXPECT_EQ(proc.at("required"), true);
  EXPECT_EQ(json.at("abilities")[1].at("remedy"), "mend governor");
  EXPECT_EQ(json.at("host").at("kernel"), "6.18.0");
  EXPECT_TRUE(json.at("host").at("hz").is_null());
  EXPECT_EQ(json.at("host").begin().key(), "kernel");  // the order of the facts
}

TEST(CheckJsonTest, SurvivesBytesThatAreNotUtf8) {
  Ability ability = Make("load_disk", false, AbilityPurpose::kOption);
  ability.detail = "/mnt/\xff";
  const auto json = nlohmann::json::parse(CheckJson({ability}, {{"kernel", "\x1b\xfe"}}));
  EXPECT_EQ(json.at("abilities")[0].at("detail"), "/mnt/\ufffd");
  EXPECT_EQ(json.at("host").at("kernel"), "\x1b\ufffd");
}

TEST(CheckExitCodeTest, OnlyRequiredAbilitiesCount) {
  EXPECT_EQ(CheckExitCode({Make("btf", false, AbilityPurpose::kReasons)}), 0);
  EXPECT_EQ(CheckExitCode({Make("proc", false, AbilityPurpose::kRun)}), 1);
  EXPECT_EQ(CheckExitCode({}), 0);
}

TEST(RunCheckTest, ExaminesThisMachine) {
  std::ostringstream text;
  EXPECT_EQ(RunCheck(CheckOptions(), text), 0);
  EXPECT_THAT(text.str(), HasSubstr("\nThis machine can measure"));
  CheckOptions options;
  options.json = true;
  std::ostringstream json;
  EXPECT_EQ(RunCheck(options, json), 0);
  EXPECT_EQ(nlohmann::json::parse(json.str()).at("schema"), "whylate.check/1");
}

}  // namespace
}  // namespace whylate
