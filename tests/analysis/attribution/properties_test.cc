// What holds for every recording: sums, tilings, invariances, and verdicts under missing records.
// Random recordings, the seed is the test's parameter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/attribution/explain.h"
#include "analysis/timeline/timeline.h"
#include "tests/analysis/attribution/generated_streams.h"
#include "tests/support/trace_generator.h"
#include "tests/support/trace_text.h"

namespace whylate {
namespace {

class PropertiesTest : public GeneratedStreamTest {};

void ExpectTiled(const Miss& miss) {
  int64_t at_ns = miss.frame.release_ns;
  for (const Segment& segment : miss.segments) {
    EXPECT_EQ(segment.start_ns, at_ns);
    EXPECT_LT(segment.start_ns, segment.end_ns);
    at_ns = segment.end_ns;
    EXPECT_LE(segment.avoidable_ns + segment.possibly_avoidable_ns,
              segment.end_ns - segment.start_ns);
    int64_t parts_ns = 0;
    for (const Part& part : segment.parts) parts_ns += part.ns;
    EXPECT_LE(parts_ns, segment.end_ns - segment.start_ns);
    const bool waits =
        segment.kind == SegmentKind::kRunqueueWait || segment.kind == SegmentKind::kPreempted;
    EXPECT_EQ(waits, !segment.occupants.empty());
    EXPECT_EQ(waits, segment.decision.has_value());
    EXPECT_EQ(segment.kind == SegmentKind::kUnknown, !segment.reason.empty());
    int64_t occupant_at_ns = segment.start_ns;
    for (const Occupant& occupant : segment.occupants) {
      EXPECT_EQ(occupant.start_ns, occupant_at_ns);
      EXPECT_LT(occupant.start_ns, occupant.end_ns);
      occupant_at_ns = occupant.end_ns;
    }
    EXPECT_EQ(occupant_at_ns, waits ? segment.end_ns : segment.start_ns);
  }
  EXPECT_EQ(at_ns, miss.frame.completion_ns);
}

// Tilings, and rows that add up.
void ExpectConsistent(const Recording& recording, const Explanation& explanation) {
  int64_t delay_ns = 0;
  int64_t frames = 0;
  for (const Miss& miss : explanation.misses) {
    ExpectTiled(miss);
    int64_t ran_ns = 0;
    for (const Segment& segment : miss.segments) {
      if (segment.kind == SegmentKind::kRunning) ran_ns += segment.end_ns - segment.start_ns;
    }
    delay_ns +=
        miss.frame.completion_ns - miss.frame.release_ns - std::min(ran_ns, miss.frame.demand_ns);
    frames += 1 + miss.dropped;
    // Removing a cause never makes a frame later.
    EXPECT_GE(miss.verdict->margin_ns, miss.deadline_ns - miss.frame.completion_ns);
    EXPECT_EQ(miss.verdict->sufficient, miss.verdict->margin_ns >= 0);
  }
  int64_t causes_ns = 0;
  int64_t cause_frames = 0;
  for (const CauseRow& row : explanation.causes) {
    causes_ns += row.ns;
    cause_frames += row.frames + row.frames_incomplete;
  }
  int64_t subjects_ns = 0;
  for (const SubjectRow& row : explanation.subjects) {
    subjects_ns += row.ns;
    EXPECT_GE(row.frames_saved, 0);
    EXPECT_LE(row.frames_saved, frames);
  }
  EXPECT_EQ(causes_ns, delay_ns);
  EXPECT_EQ(subjects_ns, delay_ns);
  EXPECT_EQ(cause_frames, frames);
  EXPECT_EQ(explanation.misses.size(),
            static_cast<size_t>(
                std::count_if(recording.frames.frames.begin(), recording.frames.frames.end(),
                              [&](const Frame& frame) { return recording.frames.IsLate(frame); })));
}

TEST_P(PropertiesTest, EverythingAddsUp) {
  options_.stolen = true;
  const Recording recording = GenerateTrace(options_);
  const Explanation explanation = Explain(recording);
  ExpectConsistent(recording, explanation);
  EXPECT_EQ(explanation.trace->breaks, 0u);
  for (const Segment& segment : explanation.misses.at(0).segments) {
    EXPECT_TRUE(segment.reason.empty() || segment.reason == "throttled") << segment.reason;
  }
}

// Whatever is cut out of a recording, what is left is tiled and adds up.
TEST_P(PropertiesTest, EverythingAddsUpWithRecordsMissing) {
  options_.stolen = true;
  Recording recording = GenerateTrace(options_);
  for (int i = 0; i < 15 && !recording.events.empty(); ++i) {
    recording.events.erase(recording.events.begin() +
                           Pick(static_cast<int64_t>(recording.events.size())));
  }
  for (int i = 0; i < 3; ++i) {
    const int64_t begin_ns = Pick(recording.end_ns);
    recording.losses.push_back({CpuId{static_cast<int32_t>(Pick(options_.cpus))}, begin_ns,
                                begin_ns + Pick(40) * kUnitNs, 1});
  }
  if (Pick(2) == 0) recording.omitted.push_back({Pick(recording.end_ns), recording.end_ns});
  if (Pick(2) == 0) recording.allowed_after.reset();
  ExpectConsistent(recording, Explain(recording));
}

// --- missing records

struct Naming {
  std::vector<std::string> subjects;
  std::string kind;
  bool sufficient;
  friend bool operator==(const Naming&, const Naming&) = default;
};

Naming NamingOf(const Verdict& verdict) {
  return {verdict.subjects, verdict.kind, verdict.sufficient};
}

bool IsName(const SchedEvent& event) {
  return std::holds_alternative<TaskNameEvent>(event.body) ||
         std::holds_alternative<ForkEvent>(event.body);
}

// Loses what `cpu` recorded in (begin, end); names and forks are not lost, a wrong name would be no
// wrong verdict. The gap lies between the delivered records around it.
Recording Lose(Recording recording, CpuId cpu, int64_t begin_ns, int64_t end_ns) {
  int64_t last_ns = recording.begin_ns;
  int64_t first_ns = recording.end_ns;
  for (const SchedEvent& event : recording.events) {
    if (event.cpu != cpu) continue;
    if (event.time_ns <= begin_ns) last_ns = std::max(last_ns, event.time_ns);
    if (event.time_ns >= end_ns) first_ns = std::min(first_ns, event.time_ns);
  }
  const size_t before = recording.events.size();
  std::erase_if(recording.events, [&](const SchedEvent& event) {
    return event.cpu == cpu && event.time_ns > last_ns && event.time_ns < first_ns &&
           !IsName(event);
  });
  const uint64_t count = before - recording.events.size();
  if (count > 0) recording.losses.push_back({cpu, last_ns, first_ns, count});
  return recording;
}

// What was recorded is one way to fill the gap: a complete verdict agrees with it.
TEST_P(PropertiesTest, ACompleteVerdictSurvivesALoss) {
  const Recording recording = GenerateTrace(options_);
  const Verdict golden = *Explain(recording).misses.at(0).verdict;
  for (int i = 0; i < 20; ++i) {
    const int64_t begin_ns = Pick(recording.end_ns);
    const CpuId cpu{static_cast<int32_t>(Pick(options_.cpus))};
    const Recording lossy = Lose(recording, cpu, begin_ns, begin_ns + Pick(12) * kUnitNs);
    const Explanation explanation = Explain(lossy);
    ExpectConsistent(lossy, explanation);
    const Verdict& verdict = *explanation.misses.at(0).verdict;
    if (verdict.confidence != Confidence::kComplete) continue;
    EXPECT_EQ(NamingOf(verdict), NamingOf(golden))
        << VerdictText(verdict) << " vs " << VerdictText(golden) << " loss of cpu" << cpu.value
        << " in [" << lossy.losses[0].begin_ns << ", " << lossy.losses[0].end_ns << ")";
  }
}

// Another way to fill a gap: somebody else had the CPU all the while. The stint that was recorded
// across the gap's start ends there, and the first one after it begins at its end.
// nullopt where nothing after the gap says who had the CPU at its end.
std::optional<Recording> Fill(Recording lossy, const std::string& intruder) {
  const LossInterval loss = lossy.losses.back();
  lossy.losses.pop_back();
  const Timeline timeline(lossy);
  const Stint* before = timeline.cpus().StintAt(loss.cpu, loss.begin_ns);
  if (before == nullptr || before->task < 0) return std::nullopt;
  std::optional<SwitchEvent> first_after;  // a copy: events are added below
  for (const SchedEvent& event : lossy.events) {
    const auto* switched = std::get_if<SwitchEvent>(&event.body);
    if (event.cpu == loss.cpu && event.time_ns >= loss.end_ns && switched != nullptr) {
      first_after = *switched;
      break;
    }
  }
  if (!first_after.has_value()) return std::nullopt;
  constexpr int32_t kIntruder = 777;
  const TaskStanding fair{SchedClass::kFair, std::nullopt, 0};
  auto add = [&](int64_t time_ns, SchedEventBody body) {
    lossy.events.push_back({time_ns, loss.cpu, 1'000'000, std::move(body)});
  };
  add(0, TaskNameEvent{Tid{kIntruder}, Tgid{kIntruder}, intruder, false});
  SwitchEvent in;
  in.prev = timeline.tasks().info(before->task).key.tid;
  in.next = Tid{kIntruder};
  in.out = in.prev == Tid{0} ? SwitchOut::kRunnable : SwitchOut::kBlocked;
  in.prev_state = 1;
  in.prev_standing = fair;
  in.next_standing = fair;
  SwitchEvent out;
  out.prev = Tid{kIntruder};
  out.next = first_after->prev;
  out.out = SwitchOut::kBlocked;
  out.prev_state = 1;
  out.prev_standing = fair;
  out.next_standing = first_after->prev_standing;
  // The one before sleeps; if it is the watched task, the intruder wakes it at the end of the gap.
  add(loss.begin_ns + 1, WakingEvent{Tid{kIntruder}, Tid{0}, WakerContext::kHardIrq, std::nullopt,
                                     "", false, false, std::nullopt});
  add(loss.begin_ns + 2, WakeupEvent{Tid{kIntruder}, loss.cpu, false, fair});
  add(loss.begin_ns + 3, in);
  if (in.prev == first_after->prev && in.prev != Tid{0}) {
    add(loss.end_ns - 3, WakingEvent{in.prev, Tid{kIntruder}, WakerContext::kTask, std::nullopt, "",
                                     false, false, std::nullopt});
    add(loss.end_ns - 2, WakeupEvent{in.prev, loss.cpu, false, fair});
  }
  add(loss.end_ns - 1, out);
  return lossy;
}

// Adversarial: the lost time was a stranger's, or more of a known rival's, and the thread itself
// may have slept until that one woke it.
TEST_P(PropertiesTest, AnAdversarialFillingNeverContradictsACompleteVerdict) {
  const Recording recording = GenerateTrace(options_);
  int filled = 0;
  for (int i = 0; i < 20; ++i) {
    const int64_t begin_ns = Pick(recording.end_ns);
    const CpuId cpu{static_cast<int32_t>(Pick(options_.cpus))};
    const Recording lossy = Lose(recording, cpu, begin_ns, begin_ns + Pick(12) * kUnitNs);
    if (lossy.losses.empty()) continue;
    const Verdict verdict = *Explain(lossy).misses.at(0).verdict;
    if (verdict.confidence != Confidence::kComplete) continue;
    ++filled;
    for (const char* intruder : {"stranger", "sh"}) {
      const std::optional<Recording> filling = Fill(lossy, intruder);
      if (!filling.has_value()) continue;
      const Explanation other = Explain(*filling);
      // A filling that contradicts what was recorded around it proves nothing.
      if (other.misses.at(0).verdict->confidence != Confidence::kComplete) continue;
      EXPECT_EQ(NamingOf(*other.misses.at(0).verdict), NamingOf(verdict))
          << VerdictText(*other.misses.at(0).verdict) << " vs " << VerdictText(verdict)
          << " loss of cpu" << cpu.value << " in [" << lossy.losses[0].begin_ns << ", "
          << lossy.losses[0].end_ns << ")";
    }
  }
  RecordProperty("filled", filled);
}

// After the window, or before it while the thread slept through it: nothing of the verdict depends
// on what is missing.
TEST_P(PropertiesTest, ALossOutsideTheWindowFlipsNothing) {
  options_.asleep_at_release = true;
  const Recording recording = GenerateTrace(options_);
  const Frame& frame = recording.frames.frames.at(0);
  const Explanation before = Explain(recording);
  const Timeline timeline(recording);
  const TaskIndex task = timeline.TaskAt(recording.watched, frame.completion_ns);
  for (int32_t cpu = 0; cpu < options_.cpus; ++cpu) {
    const Recording after = Lose(recording, CpuId{cpu}, frame.completion_ns, recording.end_ns);
    if (!after.losses.empty() && after.losses[0].begin_ns >= frame.completion_ns) {
      EXPECT_EQ(NamingOf(*Explain(after).misses.at(0).verdict),
                NamingOf(*before.misses.at(0).verdict));
      EXPECT_EQ(Explain(after).misses.at(0).verdict->confidence,
                before.misses.at(0).verdict->confidence);
    }
    const TaskSpan* sleep = timeline.spans().SpanAt(task, frame.release_ns);
    if (sleep->state != TaskState::kBlocked) continue;
    const Recording earlier =
        Lose(recording, CpuId{cpu},
             std::max<int64_t>(sleep->start_ns, frame.release_ns - 10 * kUnitNs), frame.release_ns);
    if (earlier.losses.empty() || earlier.losses[0].end_ns > frame.release_ns) continue;
    const Verdict verdict = *Explain(earlier).misses.at(0).verdict;
    EXPECT_EQ(NamingOf(verdict), NamingOf(*before.misses.at(0).verdict))
        << VerdictText(verdict) << " vs " << VerdictText(*before.misses.at(0).verdict);
  }
}

// A hidden task: one switch has no record. Repaired, or incomplete, or no difference; never a
// complete verdict of something else.
TEST_P(PropertiesTest, AMissingSwitchNeverNamesAnother) {
  const Recording recording = GenerateTrace(options_);
  const Verdict golden = *Explain(recording).misses.at(0).verdict;
  for (size_t i = 0; i < recording.events.size(); ++i) {
    const auto* switched = std::get_if<SwitchEvent>(&recording.events[i].body);
    if (switched == nullptr) continue;
    // The watched task's own records are never hidden, and it is not switched out unseen.
    if (switched->prev == recording.watched || Pick(3) != 0) continue;
    // A break shows at the next switch; records go on after a window until there is one.
    const bool shows = std::any_of(recording.events.begin() + static_cast<ptrdiff_t>(i) + 1,
                                   recording.events.end(), [&](const SchedEvent& later) {
                                     return later.cpu == recording.events[i].cpu &&
                                            std::holds_alternative<SwitchEvent>(later.body);
                                   });
    if (!shows) continue;
    Recording hidden = recording;
    hidden.events.erase(hidden.events.begin() + static_cast<ptrdiff_t>(i));
    const Explanation explanation = Explain(hidden);
    ExpectConsistent(hidden, explanation);
    const Verdict& verdict = *explanation.misses.at(0).verdict;
    if (verdict.confidence != Confidence::kComplete) continue;
    EXPECT_EQ(NamingOf(verdict), NamingOf(golden))
        << VerdictText(verdict) << " vs " << VerdictText(golden) << " without the switch at "
        << recording.events[i].time_ns;
  }
}

// The tests above say nothing of verdicts that are not complete: many must be.
TEST(PropertiesOfManyTest, MostVerdictsAreComplete) {
  constexpr uint64_t kStreams = 300;
  int whole = 0;
  int lossy = 0;
  int lossy_complete = 0;
  for (uint64_t seed = 1; seed <= kStreams; ++seed) {
    const Recording recording = GenerateTrace(OptionsOf(seed));
    const auto is_complete = [](const Recording& of) {
      return Explain(of).misses.at(0).verdict->confidence == Confidence::kComplete;
    };
    whole += is_complete(recording) ? 1 : 0;
    const Frame& frame = recording.frames.frames.at(0);
    const int64_t middle_ns = std::midpoint(frame.release_ns, frame.completion_ns);
    const Recording lost = Lose(recording, CpuId{0}, middle_ns, middle_ns + 8 * kUnitNs);
    if (lost.losses.empty()) continue;
    ++lossy;
    lossy_complete += is_complete(lost) ? 1 : 0;
  }
  // Throttled and doubtful sleeps are not; a loss within the window leaves few that are.
  EXPECT_GT(whole, static_cast<int>(kStreams) * 2 / 3);
  EXPECT_GT(lossy, 50);
  EXPECT_GT(lossy_complete, 0);
  EXPECT_LT(lossy_complete, lossy);
}

INSTANTIATE_TEST_SUITE_P(Seeds, PropertiesTest, ::testing::Range<uint64_t>(1, 1 + Seeds()));

}  // namespace
}  // namespace whylate
