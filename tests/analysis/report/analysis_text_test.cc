#include "analysis/report/analysis_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/made_analysis.h"

namespace whylate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(AnalysisTextTest, WhatTheTraceCannotTellComesFirst) {
  const std::string text = AnalysisToText(MadeAnalysis());
  EXPECT_EQ(text.rfind("ftrace text: 1234 events in 1.000000 s\n\n"
                       "what this trace cannot tell:\n"
                       "  - no affinity: waits are possibly avoidable\n",
                       0),
            0u)
      << text;
}

TEST(AnalysisTextTest, TheWorstInATable) {
  const std::string text = AnalysisToText(MadeAnalysis());
  EXPECT_THAT(text, HasSubstr("3 activations of 2 tasks, 1 later than 16.000 ms after their "
                              "waking; the 2 that waited longest, late ones first:\n"));
  EXPECT_THAT(text,
              HasSubstr("   1  rcu_preempt             8  9007199.354741    12.000    17.000  "
                        "bash (higher_class)\n"));
  EXPECT_THAT(text, HasSubstr("whose the waits above were, ms:\n    12.000  bash\n"));
}

TEST(AnalysisTextTest, TheStoryOfEach) {
  const std::string text = AnalysisToText(MadeAnalysis());
  EXPECT_THAT(text, HasSubstr("#1  rcu_preempt (tid 8): woken at 9007199.354741 s, ran after "
                              "12.000 ms,\n    done after 17.000 ms, of which it waited 12.000\n"));
  EXPECT_THAT(text, HasSubstr("bash (tid 1181), other, RT 30 on CPU 0: higher_class\n"));
  EXPECT_THAT(text, HasSubstr("verdict: bash has the higher scheduling class or priority "
                              "(higher_class). Without it the frame would have met its deadline by "
                              "11.00 ms.\n"));
}

TEST(AnalysisTextTest, WithoutADeadlineHowMuchOfTheWait) {
  TraceAnalysis trace = MadeAnalysis();
  trace.options.deadline_ns.reset();
  Activation& worst = trace.analysis.activations[0];
  worst.deadline_ns.reset();
  worst.late.reset();
  worst.verdict->margin_ns = 0;
  const std::string text = AnalysisToText(trace);
  EXPECT_THAT(text, HasSubstr("verdict: bash has the higher scheduling class or priority "
                              "(higher_class), for 12.000 of its 12.000 ms of wait.\n"));
  EXPECT_THAT(text, HasSubstr("3 activations of 2 tasks; the 2 that waited longest:\n"));
}

TEST(AnalysisTextTest, AnActivationThatMayHaveWaitedUnseen) {
  const std::string text = AnalysisToText(MadeAnalysis());
  EXPECT_THAT(text, HasSubstr("#2  sshd (tid 9): seen running (no waking is recorded) at "
                              "9007199.454741 s,\n    lost from sight after 3.000 ms"));
  EXPECT_THAT(text, HasSubstr("verdict: whether it waited before it ran is not known.\n"));
  EXPECT_THAT(text, Not(HasSubstr("it did not wait")));
}

TEST(AnalysisTextTest, AnActivationWithoutAWait) {
  TraceAnalysis trace = MadeAnalysis();
  trace.analysis.activations[1].wait_known = true;
  EXPECT_THAT(AnalysisToText(trace),
              HasSubstr("verdict: it did not wait: nothing for the scheduler to explain.\n"));
}

TEST(AnalysisTextTest, OfManySegmentsTheLongestWaits) {
  TraceAnalysis trace = MadeAnalysis();
  std::vector<Segment>& segments = trace.analysis.activations[0].segments;
  const Segment wait = segments[0];
  for (int i = 0; i < 40; ++i) segments.push_back(segments[1]);
  segments.push_back(wait);
  const std::string text = AnalysisToText(trace);
  EXPECT_THAT(text, HasSubstr("the longest of its waits; 19 shorter segments are left out\n"));
}

TEST(AnalysisTextTest, ATaskThatIsNotThere) {
  TraceAnalysis trace = MadeAnalysis();
  trace.analysis = Analysis();
  trace.options.task = "evil\x1b[0m";
  EXPECT_THAT(AnalysisToText(trace), HasSubstr("no activation of 'evil\\x1b[0m' in it\n"));
}

TEST(AnalysisTextTest, HostileTextIsEscaped) {
  TraceAnalysis trace = MadeAnalysis();
  trace.format = "x\x1b";
  trace.notes = {"\x1b]0;owned\a"};
  trace.analysis.activations[0].task = "\x1b[31m";
  trace.analysis.activations[0].verdict->subject = "\n";
  trace.analysis.activations[0].segments[0].occupants[0].task = "\x1b";
  trace.analysis.tasks[0].task = "\x9b";
  trace.analysis.subjects[0].subject = "\x1b";
  const std::string text = AnalysisToText(trace);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\a")));
  EXPECT_THAT(text, Not(HasSubstr("\x9b")));
}

}  // namespace
}  // namespace whylate
