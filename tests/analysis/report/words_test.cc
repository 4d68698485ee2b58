#include "analysis/report/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

#include "analysis/attribution/explanation.h"

namespace whylate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CauseInWordsTest, EachDecisionHasItsOwnWords) {
  std::set<std::string> texts;
  for (const Decision decision :
       {Decision::kRtBandwidth, Decision::kIdleExit, Decision::kNotPreemptible,
        Decision::kHigherClass, Decision::kPlacement, Decision::kMissedPull, Decision::kDisplaced,
        Decision::kSlice, Decision::kNoPreempt, Decision::kUndetermined}) {
    const std::string text = CauseInWords("burn", "runqueue_wait", decision);
    EXPECT_THAT(text, HasSubstr("(" + ToString(decision) + ")"));
    texts.insert(text);
  }
  EXPECT_EQ(texts.size(), 10u);
}

TEST(CauseInWordsTest, TheSubjectDoesIt) {
  EXPECT_EQ(CauseInWords("burn", "runqueue_wait", Decision::kNoPreempt),
            "burn kept the CPU (no_preempt)");
}

TEST(CauseInWordsTest, WithoutADecisionTheKindSaysIt) {
  EXPECT_EQ(CauseInWords("irq", "running", std::nullopt),
            "running took longer than the demand, by irq");
  EXPECT_EQ(CauseInWords("x", "a_kind_to_come", std::nullopt), "x (a_kind_to_come)");
}

TEST(CauseInWordsTest, JointSubjectsActTogether) {
  EXPECT_EQ(CauseInWords("burn & write", "preempted", Decision::kSlice),
            "burn & write together (slice)");
}

TEST(CauseInWordsTest, HostileNamesAreSpelledOut) {
  EXPECT_THAT(CauseInWords("\x1b[31m", "runqueue_wait", Decision::kNoPreempt),
              Not(HasSubstr("\x1b")));
}

Verdict BurnKeptTheCpu() {
  Verdict verdict;
  verdict.subject = "burn";
  verdict.subjects = {"burn"};
  verdict.kind = "runqueue_wait";
  verdict.decision = Decision::kNoPreempt;
  verdict.sufficient = true;
  verdict.margin_ns = 3'210'000;
  return verdict;
}

TEST(VerdictInWordsTest, EnoughAlone) {
  EXPECT_EQ(VerdictInWords(BurnKeptTheCpu()),
            "burn kept the CPU (no_preempt). Without it the frame would have met its deadline by "
            "3.21 ms.");
}

TEST(VerdictInWordsTest, NotEnough) {
  Verdict verdict = BurnKeptTheCpu();
  verdict.sufficient = false;
  verdict.margin_ns = -1'500'000;
  EXPECT_THAT(VerdictInWords(verdict), HasSubstr("would still have been late, by 1.50 ms."));
}

TEST(VerdictInWordsTest, SeveralTogether) {
  Verdict verdict = BurnKeptTheCpu();
  verdict.subject = "burn & write";
  verdict.subjects = {"burn", "write"};
  EXPECT_EQ(VerdictInWords(verdict),
            "burn and write together: none of them alone made it late. Without them the frame "
            "would have met its deadline by 3.21 ms.");
}

TEST(VerdictInWordsTest, OverloadHasNobodyWhoseAbsenceHelps) {
  Verdict verdict;
  verdict.subject = "overload";
  verdict.subjects = {"overload"};
  verdict.kind = "overload";
  EXPECT_EQ(VerdictInWords(verdict), "the frame's own work is longer than its period allows.");
}

TEST(VerdictInWordsTest, SaysWhatIsNotSure) {
  Verdict verdict = BurnKeptTheCpu();
  verdict.confidence = Confidence::kIncomplete;
  verdict.repaired_ns = 250'000;
  EXPECT_THAT(VerdictInWords(verdict), HasSubstr("Incomplete"));
  EXPECT_THAT(VerdictInWords(verdict), HasSubstr("0.25 ms of the timeline were repaired"));
}

TEST(VerdictInWordsTest, AChainsVerdictSaysWhoHeldTheFrame) {
  Verdict verdict;
  verdict.subject = "burn";
  verdict.subjects = {"burn"};
  verdict.kind = "runqueue_wait";
  verdict.decision = Decision::kNoPreempt;
  verdict.sufficient = true;
  verdict.margin_ns = 1'000'000;
  verdict.stage = "app\x1b";
  const std::string text = VerdictInWords(verdict);
  EXPECT_THAT(text, HasSubstr("burn kept the CPU (no_preempt), mostly while app"));
  EXPECT_THAT(text, HasSubstr(" held the frame. Without it"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(WordsTest, AJointCauseOfManyNamesAFew) {
  EXPECT_EQ(CauseInWords("a & b & c & d", "preempted", Decision::kSlice),
            "a & b & c & d together (slice)");
  EXPECT_EQ(CauseInWords("a & b & c & d & e", "running", std::nullopt),
            "a & b & c & 2 more together (running)");
}

TEST(WordsTest, AChainThatWaitedForACpu) {
  EXPECT_EQ(CauseInWords("hog", "blocked", Decision::kHigherClass),
            "whom it slept for was kept off a CPU by hog (higher_class)");
  EXPECT_EQ(CauseInWords("holder", "blocked", std::nullopt), "it slept, because of holder");
}

}  // namespace
}  // namespace whylate
