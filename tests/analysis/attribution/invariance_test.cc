// Names, numbers and the order of delivery mean nothing: changed all through a recording, they change
// no verdict.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/attribution/explain.h"
#include "tests/analysis/attribution/generated_streams.h"
#include "tests/support/trace_generator.h"
#include "tests/support/trace_text.h"

namespace whylate {
namespace {

class InvarianceTest : public GeneratedStreamTest {
 protected:
  // Half of them of a chain.
  Recording Generated() {
    Recording recording = GenerateTrace(options_);
    return Pick(2) == 0 ? ThroughStages(std::move(recording), GetParam()) : recording;
  }
};

std::vector<std::string> Texts(const Explanation& explanation, int64_t shift_ns = 0,
                               bool with_cpus = true) {
  std::vector<std::string> texts = CauseTexts(explanation);
  for (const SubjectRow& row : explanation.subjects) {
    texts.push_back(row.subject + " saves " + std::to_string(row.frames_saved));
  }
  for (const Miss& miss : explanation.misses) {
    texts.push_back(VerdictText(*miss.verdict));
    for (Segment segment : miss.segments) {
      segment.start_ns -= shift_ns;
      segment.end_ns -= shift_ns;
      if (!with_cpus) segment.cpu.reset();
      for (Occupant& occupant : segment.occupants) {
        occupant.start_ns -= shift_ns;
        occupant.end_ns -= shift_ns;
      }
      texts.push_back(SegmentText(segment) + " " + std::to_string(segment.avoidable_ns));
    }
  }
  return texts;
}

// Applies a change to every id or time of a recording.
struct Rewrite {
  int64_t shift_ns = 0;
  int32_t tid_shift = 0;
  std::vector<int32_t> cpus;  // the new id of each

  int64_t operator()(int64_t time_ns) const { return time_ns + shift_ns; }
  void Time(std::optional<int64_t>* time_ns) const {
    if (time_ns->has_value()) **time_ns += shift_ns;
  }
  void Change(Tid* tid) const {
    if (tid->value != 0) tid->value += tid_shift;
  }
  void Change(CpuId* cpu) const { cpu->value = cpus.at(static_cast<size_t>(cpu->value)); }
  void Change(std::optional<CpuSet>* set) const {
    if (set->has_value()) *set = Changed(**set);
  }
  CpuSet Changed(const CpuSet& set) const {
    CpuSet changed;
    for (CpuId cpu : set.ToVector()) {
      Change(&cpu);
      changed.Add(cpu);
    }
    return changed;
  }

  void Body(SwitchEvent* e) const {
    Change(&e->prev);
    Change(&e->next);
    Time(&e->prev_arrival_ns);
    Time(&e->next_queued_ns);
  }
  void Body(WakingEvent* e) const {
    Change(&e->wakee);
    Change(&e->waker);
  }
  void Body(WakeupEvent* e) const {
    Change(&e->wakee);
    Change(&e->target);
  }
  void Body(MigrateEvent* e) const {
    Change(&e->task);
    Change(&e->from);
    Change(&e->to);
  }
  void Body(ForkEvent* e) const {
    Change(&e->parent);
    Change(&e->child);
  }
  void Body(ExitEvent* e) const { Change(&e->task); }
  void Body(TaskNameEvent* e) const { Change(&e->task); }
  void Body(TimerStartEvent* e) const {
    Change(&e->task);
    e->expires_ns += shift_ns;
  }
  void Body(TimerExpireEvent* e) const {
    Change(&e->task);
    e->expires_ns += shift_ns;
    e->now_ns += shift_ns;
  }
  void Body(AffinityEvent* e) const {
    Change(&e->task);
    e->allowed = Changed(e->allowed);
  }
  void Body(UnthrottleEvent* e) const { Change(&e->task); }
  void Body(InterruptTimeEvent*) const {}
  void Body(StandingEvent* e) const { Change(&e->task); }
  void Body(CgroupEvent* e) const { Change(&e->task); }
  void Body(StopEvent* e) const {
    Change(&e->task);
    if (e->by) Change(&*e->by);
  }
  void Body(WorkEvent* e) const { Change(&e->task); }
  void Body(CpuSeedEvent* e) const { Change(&e->current); }
  void Body(TaskSeedEvent* e) const {
    Change(&e->task);
    Change(&e->queued_on);
  }

  Recording Apply(Recording recording) const {
    for (SchedEvent& event : recording.events) {
      event.time_ns += shift_ns;
      Change(&event.cpu);
      std::visit([&](auto& body) { Body(&body); }, event.body);
    }
    Change(&recording.watched);
    Change(&recording.allowed_before);
    Change(&recording.allowed_after);
    recording.begin_ns += shift_ns;
    recording.end_ns += shift_ns;
    recording.frames.origin_ns += shift_ns;
    recording.frames.end_ns += shift_ns;
    for (Stage& stage : recording.frames.stages) {
      Change(&stage.tid);
      Change(&stage.allowed_before);
      Change(&stage.allowed_after);
    }
    for (int64_t& passed_ns : recording.frames.passed_ns) passed_ns += shift_ns;
    for (Frame& frame : recording.frames.frames) {
      frame.release_ns += shift_ns;
      frame.start_ns += shift_ns;
      frame.completion_ns += shift_ns;
    }
    return recording;
  }
};

TEST_P(InvarianceTest, ShiftingTimeChangesNothing) {
  const Recording recording = Generated();
  const Rewrite rewrite{int64_t{1} << 40, 0, {0, 1, 2}};
  EXPECT_EQ(Texts(Explain(rewrite.Apply(recording)), rewrite.shift_ns), Texts(Explain(recording)));
}

TEST_P(InvarianceTest, RenamingTidsChangesNothing) {
  const Recording recording = Generated();
  EXPECT_EQ(Texts(Explain(Rewrite{0, 5000, {0, 1, 2}}.Apply(recording))),
            Texts(Explain(recording)));
}

TEST_P(InvarianceTest, PermutingCpusChangesNothing) {
  options_.cpus = 3;
  const Recording recording = Generated();
  EXPECT_EQ(Texts(Explain(Rewrite{0, 0, {2, 0, 1}}.Apply(recording)), 0, false),
            Texts(Explain(recording), 0, false));
}

TEST_P(InvarianceTest, TheOrderOfDeliveryChangesNothing) {
  Recording recording = Generated();
  const std::vector<std::string> before = Texts(Explain(recording));
  // Each CPU's records stay in order; those of different CPUs overtake each other.
  std::stable_sort(recording.events.begin(), recording.events.end(),
                   [](const SchedEvent& a, const SchedEvent& b) {
                     return a.time_ns / (8 * kUnitNs) != b.time_ns / (8 * kUnitNs)
                                ? a.time_ns < b.time_ns
                                : a.cpu > b.cpu;
                   });
  EXPECT_EQ(Texts(Explain(recording)), before);
}

INSTANTIATE_TEST_SUITE_P(Seeds, InvarianceTest, ::testing::Range<uint64_t>(1, 1 + Seeds()));

}  // namespace
}  // namespace whylate
