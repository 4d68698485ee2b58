// The eBPF capture against ftrace, over the same seconds: the same switches and the same wake-ups
// on every CPU, in the same order.
//
// A kernel may hide the events of some tasks from one of the two. That is found by its own mark,
// a chain break: the stream that lacks the event has the hidden task come on, and then another task
// leave. Such events are taken out and counted, and must stay few.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/model/ids.h"
#include "analysis/model/sched_event.h"
#include "tests/support/tracefs_witness.h"
#include "userspace/trace/bpf_source.h"
#include "userspace/trace/trace_source.h"

namespace whylate {
namespace {

using Stream = std::vector<WitnessEvent>;

// ftrace stamps an event after the eBPF program ran on it, rarely with an interrupt in between.
constexpr int64_t kStampsApartNs = 200'000;
// Or the whole virtual CPU taken away.
constexpr int64_t kStolenNs = 1'000'000'000;

// So many that all their events fit in the buffers at once: none is lost even where nobody reads them.
constexpr int kPairs = 6;
constexpr int kPassesOfAPair = 10'000;
constexpr int64_t kBufferBytes = int64_t{64} << 20;

// Two threads that hand a byte to and fro.
void PassBytes() {
  int there[2];
  int back[2];
  if (pipe(there) != 0 || pipe(back) != 0) std::abort();
  const auto pass = [](int from, int to) {
    char byte = 0;
    if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1) std::abort();
  };
  std::thread echo([&] {
    for (int i = 0; i < kPassesOfAPair; ++i) pass(there[0], back[1]);
  });
  if (write(there[1], "", 1) != 1) std::abort();
  for (int i = 1; i < kPassesOfAPair; ++i) pass(back[0], there[1]);
  echo.join();
  for (int fd : {there[0], there[1], back[0], back[1]}) close(fd);
}

// Such pairs, and threads that sleep now and then meanwhile.
void BeActive() {
  std::atomic<bool> stopping = false;
  std::vector<std::thread> sleepers;
  for (int i = 0; i < 4; ++i) {
    sleepers.emplace_back([&stopping, i] {
      while (!stopping) std::this_thread::sleep_for(std::chrono::microseconds(300 + 500 * i));
    });
  }
  std::vector<std::thread> pairs;
  for (int i = 0; i < kPairs; ++i) pairs.emplace_back(PassBytes);
  for (std::thread& pair : pairs) pair.join();
  stopping = true;
  for (std::thread& sleeper : sleepers) sleeper.join();
}

std::map<CpuId, Stream> FromCapture(const Capture& capture) {
  std::map<CpuId, Stream> streams;
  for (const SchedEvent& event : capture.events) {
    Stream& stream = streams[event.cpu];
    if (const auto* body = std::get_if<SwitchEvent>(&event.body)) {
      stream.push_back({event.time_ns, WitnessKind::kSwitch, body->prev, body->next});
    } else if (const auto* waking = std::get_if<WakingEvent>(&event.body)) {
      stream.push_back({event.time_ns, WitnessKind::kWaking, waking->wakee, Tid{}});
    } else if (const auto* wakeup = std::get_if<WakeupEvent>(&event.body)) {
      stream.push_back({event.time_ns,
                        wakeup->is_new ? WitnessKind::kWakeupNew : WitnessKind::kWakeup,
                        wakeup->wakee, Tid{}});
    }
  }
  return streams;
}

bool SameEvent(const WitnessEvent& a, const WitnessEvent& b, int64_t apart_ns = kStampsApartNs) {
  return a.kind == b.kind && a.task == b.task && a.next == b.next &&
         std::abs(a.time_ns - b.time_ns) < apart_ns;
}

// What one CPU's two streams agree on.
struct Comparison {
  int64_t switches = 0;         // that both have
  int64_t wakes = 0;            // that both have
  int64_t hidden_switches = 0;  // that one lacks, with the mark of a hidden task
  int64_t hidden_wakes = 0;
  int64_t far_apart = 0;  // events of either stream that both have, with stamps far apart
  std::vector<WitnessEvent> unexplained;
};

// An event that only one stream has, and whether the other one has a chain break there: by its
// account one task came on last, and another is the next to leave.
struct Extra {
  WitnessEvent event;
  int side = 0;  // 0: only the eBPF capture has it
  bool other_breaks = false;
};

class Comparer {
 public:
  Comparer(const Stream& bpf, const Stream& ftrace) : streams_{&bpf, &ftrace} {}

  Comparison Run() {
    while (at_[0] < streams_[0]->size() && at_[1] < streams_[1]->size()) Step();
    // What one stream has after the other's last event is outside the common stretch.
    Explain();
    return std::move(result_);
  }

 private:
  const WitnessEvent& Head(int side) const { return (*streams_[side])[at_[side]]; }

  void Step() {
    if (SameEvent(Head(0), Head(1))) return Match();
    // Whose head does the other one have, soon? That other one has something extra first.
    const std::optional<size_t> in_bpf = Find(0, Head(1));
    const std::optional<size_t> in_ftrace = Find(1, Head(0));
    if (in_bpf.has_value() && (!in_ftrace.has_value() || *in_bpf <= *in_ftrace)) {
      AddExtra(0);
    } else if (in_ftrace.has_value()) {
      AddExtra(1);
    } else if (SameEvent(Head(0), Head(1), kStolenNs)) {
      ++result_.far_apart;
      Match();
    } else {
      AddExtra(Head(0).time_ns <= Head(1).time_ns ? 0 : 1);
    }
  }

  void Match() {
    (Head(0).kind == WitnessKind::kSwitch ? result_.switches : result_.wakes) += 1;
    Advance(0);
    Advance(1);
  }

  // How far ahead in `side` an event like `event` is.
  std::optional<size_t> Find(int side, const WitnessEvent& event) const {
    const Stream& stream = *streams_[side];
    for (size_t i = at_[side]; i < stream.size() && i < at_[side] + 64; ++i) {
      if (SameEvent(stream[i], event)) return i - at_[side];
      if (stream[i].time_ns > event.time_ns + kStampsApartNs) break;
    }
    return std::nullopt;
  }

  void AddExtra(int side) {
    const WitnessEvent event = Head(side);
    const std::optional<Tid> next_prev = NextPrev(1 - side);
    // Before the first switch of both the streams may just begin a little apart.
    const bool breaks = !current_[1 - side].has_value() || current_[1 - side] != next_prev;
    extras_.push_back({event, side, breaks});
    Advance(side);
  }

  // Who is the next to leave, by the account of `side`.
  std::optional<Tid> NextPrev(int side) const {
    const Stream& stream = *streams_[side];
    for (size_t i = at_[side]; i < stream.size(); ++i) {
      if (stream[i].kind == WitnessKind::kSwitch) return stream[i].task;
    }
    return std::nullopt;
  }

  void Advance(int side) {
    if (Head(side).kind == WitnessKind::kSwitch) current_[side] = Head(side).next;
    ++at_[side];
  }

  void Explain() {
    for (const Extra& extra : extras_) {
      const bool is_switch = extra.event.kind == WitnessKind::kSwitch;
      if (extra.other_breaks) {
        (is_switch ? result_.hidden_switches : result_.hidden_wakes) += 1;
      } else if (HasTwin(extra)) {
        ++result_.far_apart;
      } else {
        result_.unexplained.push_back(extra.event);
      }
    }
  }

  // The same event in the other stream, with a stamp that is far off: the virtual CPU was taken
  // away between the two.
  bool HasTwin(const Extra& extra) const {
    return std::any_of(extras_.begin(), extras_.end(), [&](const Extra& other) {
      return other.side != extra.side && SameEvent(other.event, extra.event, kStolenNs);
    });
  }

  const Stream* streams_[2];
  size_t at_[2] = {0, 0};
  std::optional<Tid> current_[2];
  std::vector<Extra> extras_;
  Comparison result_;
};

Stream Between(const Stream& stream, int64_t begin_ns, int64_t end_ns) {
  Stream result;
  std::copy_if(stream.begin(), stream.end(), std::back_inserter(result),
               [&](const WitnessEvent& event) {
                 return event.time_ns >= begin_ns && event.time_ns < end_ns;
               });
  return result;
}

TEST(TraceWitnessTest, BpfAndFtraceSeeTheSameSchedule) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const absl::Status usable = BpfUsable();
  if (!usable.ok()) GTEST_SKIP() << usable;
  auto witness = TracefsWitness::Create();
  if (!witness.ok()) GTEST_SKIP() << witness.status();

  std::unique_ptr<TraceSource> source = CreateBpfSource();
  TraceOptions options;
  options.buffer_bytes = kBufferBytes;
  ASSERT_TRUE(source->Start(options).ok());
  ASSERT_TRUE((*witness)->Start().ok());
  BeActive();
  auto recording = (*witness)->Stop();
  auto capture = source->Stop();
  ASSERT_TRUE(recording.ok()) << recording.status();
  ASSERT_TRUE(capture.ok()) << capture.status();
  EXPECT_EQ(capture->facts.lost, 0u);
  EXPECT_EQ(capture->facts.recursion_misses, 0u);
  ASSERT_EQ(recording->lost_buffers, 0);

  std::map<CpuId, Stream> streams = FromCapture(*capture);
  int64_t switches = 0;
  for (const auto& [cpu, ftrace] : recording->events) {
    ASSERT_FALSE(ftrace.empty());
    // Half a millisecond inside what both saw.
    const int64_t begin_ns = std::max(capture->begin_ns, ftrace.front().time_ns) + 500'000;
    const int64_t end_ns = std::min(capture->end_ns, ftrace.back().time_ns) - 500'000;
    const Comparison result =
        Comparer(Between(streams[cpu], begin_ns, end_ns), Between(ftrace, begin_ns, end_ns)).Run();
    std::cout << "cpu " << cpu.value << ": " << result.switches << " switches and " << result.wakes
              << " wakes the same, hidden " << result.hidden_switches << " switches and "
              << result.hidden_wakes << " wakes, stamps far apart " << result.far_apart
              << ", unexplained " << result.unexplained.size() << "\n";
    switches += result.switches;
    EXPECT_LE(result.hidden_switches * 100, result.switches);
    EXPECT_LE(result.hidden_wakes * 100, result.wakes);
    // Stamps are far apart where the host took the virtual CPU between the two.
    EXPECT_LE(result.far_apart * 50, result.switches);
    for (const WitnessEvent& event : result.unexplained) {
      ADD_FAILURE() << "at " << event.time_ns << " kind " << static_cast<int>(event.kind)
                    << " task " << event.task.value << " next " << event.next.value;
    }
  }
  EXPECT_GT(switches, 1000);
}

}  // namespace
}  // namespace whylate
