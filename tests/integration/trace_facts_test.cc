// The facts beside the scheduler's events that the eBPF capture brings, on the running kernel. Needs
// root.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "analysis/model/ids.h"
#include "analysis/model/sched_event.h"
#include "tests/support/bpf_capture.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/files.h"
#include "userspace/platform/kernel_symbols.h"
#include "userspace/trace/trace_source.h"

namespace whylate {
namespace {

using TraceFactsTest = BpfCaptureTest;

TEST_F(TraceFactsTest, ASleepHasTheStackThatItBeganIn) {
  if (KernelSymbols::Parse(ReadFile("/proc/kallsyms").value_or("")).empty()) {
    GTEST_SKIP() << "this kernel shows no addresses of its functions (kptr_restrict)";
  }
  std::optional<Tid> sleeper;
  const Capture capture = RecordThisProcess([&] {
    std::mutex mutex;
    std::condition_variable handed_over;
    bool waits = false;
    bool done = false;
    std::thread waiter([&] {
      std::unique_lock<std::mutex> lock(mutex);
      sleeper = ThisThread();
      waits = true;
      handed_over.notify_one();
      handed_over.wait(lock, [&] { return done; });
    });
    std::unique_lock<std::mutex> lock(mutex);
    handed_over.wait(lock, [&] { return waits; });
    done = true;
    // It holds the lock until it sleeps, so it sleeps by now.
    handed_over.notify_one();
    lock.unlock();
    waiter.join();
  });
  int in_futex = 0;
  for (const SchedEvent& event : capture.events) {
    const auto* out = std::get_if<SwitchEvent>(&event.body);
    if (out == nullptr || out->prev != *sleeper || out->out != SwitchOut::kBlocked) continue;
    ASSERT_TRUE(out->stack.has_value());
    ASSERT_LT(static_cast<size_t>(*out->stack), capture.stacks.size());
    for (const std::string& function : capture.stacks[static_cast<size_t>(*out->stack)]) {
      if (absl::StrContains(function, "futex")) {
        ++in_futex;
        break;
      }
    }
  }
  EXPECT_GE(in_futex, 1);
}

// Each stands right before the switch that ends its stint, and together they are what the CPU's
// counters lost at most.
TEST_F(TraceFactsTest, InterruptTimeStandsBeforeItsSwitchWithItsSource) {
  const Capture capture = RecordThisProcess([] {
    const int64_t until_ns = MonotonicNs() + 200'000'000;
    while (MonotonicNs() < until_ns) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  int found = 0;
  int named = 0;
  for (size_t i = 0; i < capture.events.size(); ++i) {
    const SchedEvent& event = capture.events[i];
    const auto* time = std::get_if<InterruptTimeEvent>(&event.body);
    if (time == nullptr) continue;
    ++found;
    named += time->source_name.empty() ? 0 : 1;
    EXPECT_GT(time->ns, 0);
    EXPECT_GT(time->count, 0U);
    size_t next = i + 1;
    while (next < capture.events.size() &&
           std::holds_alternative<InterruptTimeEvent>(capture.events[next].body)) {
      ++next;
    }
    ASSERT_LT(next, capture.events.size());
    EXPECT_EQ(capture.events[next].cpu, event.cpu);
    EXPECT_EQ(capture.events[next].time_ns, event.time_ns);
    EXPECT_TRUE(std::holds_alternative<SwitchEvent>(capture.events[next].body));
  }
  // The tick, if nothing else.
  EXPECT_GE(found, 1);
  EXPECT_GE(named, 1);
}

// The kernel counts its pages on each CPU every second.
TEST_F(TraceFactsTest, WorkersSayWhatTheyWorkOn) {
  const Capture capture =
      RecordThisProcess([] { std::this_thread::sleep_for(std::chrono::milliseconds(2500)); });
  int works = 0;
  for (const SchedEvent& event : capture.events) {
    const auto* work = std::get_if<WorkEvent>(&event.body);
    if (work != nullptr && !work->work.empty()) ++works;
  }
  EXPECT_GE(works, 1);
}

TEST_F(TraceFactsTest, ANewPriorityIsAnEventWithWhoGaveIt) {
  const Tid task = ThisThread();
  const int before = getpriority(PRIO_PROCESS, static_cast<id_t>(task.value));
  std::optional<Tid> other;
  const Capture capture = RecordThisProcess([&] {
    std::thread([&] {
      other = ThisThread();
      EXPECT_EQ(setpriority(PRIO_PROCESS, static_cast<id_t>(task.value), 7), 0);
    }).join();
    EXPECT_EQ(setpriority(PRIO_PROCESS, static_cast<id_t>(task.value), before), 0);
  });
  std::vector<StandingEvent> changes;
  for (const SchedEvent& event : capture.events) {
    const auto* standing = std::get_if<StandingEvent>(&event.body);
    if (standing != nullptr && standing->task == task) changes.push_back(*standing);
  }
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0], (StandingEvent{task, {SchedClass::kFair, std::nullopt, 7}, other}));
  EXPECT_EQ(changes[1].by, task);
}

}  // namespace
}  // namespace whylate
