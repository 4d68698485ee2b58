// The eBPF capture on the running kernel. Needs root.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "analysis/model/ids.h"
#include "analysis/model/recording.h"
#include "analysis/model/sched_event.h"
#include "tests/support/bpf_capture.h"
#include "userspace/platform/clock.h"
#include "userspace/trace/bpf_programs.h"
#include "userspace/trace/bpf_source.h"
#include "userspace/trace/trace_source.h"

namespace whylate {
namespace {

// Two threads hand a byte back and forth: each round trip is two switches or more.
void PassBytes(int round_trips) {
  int there[2];
  int back[2];
  ASSERT_EQ(pipe(there), 0);
  ASSERT_EQ(pipe(back), 0);
  std::thread echo([&] {
    char byte = 0;
    while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1 && byte == 0) {
    }
  });
  for (int i = 0; i < round_trips; ++i) {
    char byte = i + 1 == round_trips ? 1 : 0;
    ASSERT_EQ(write(there[1], &byte, 1), 1);
    ASSERT_EQ(read(back[0], &byte, 1), 1);
  }
  echo.join();
  for (int fd : {there[0], there[1], back[0], back[1]}) close(fd);
}

template <typename Body>
std::vector<const SchedEvent*> EventsOf(const Capture& capture,
                                        const std::function<bool(const Body&)>& wanted) {
  std::vector<const SchedEvent*> found;
  for (const SchedEvent& event : capture.events) {
    const auto* body = std::get_if<Body>(&event.body);
    if (body != nullptr && wanted(*body)) found.push_back(&event);
  }
  return found;
}

using TraceBpfTest = BpfCaptureTest;

TEST_F(TraceBpfTest, EventsAreInTotalOrderWithinTheRecording) {
  const Capture capture = Record({}, [] { PassBytes(10000); });
  EXPECT_TRUE(std::is_sorted(capture.events.begin(), capture.events.end(), Before));
  EXPECT_EQ(capture.facts.lost, 0u);
  EXPECT_EQ(capture.buffer_bytes, 8 << 20);
  for (const SchedEvent& event : capture.events) {
    if (!std::holds_alternative<SwitchEvent>(event.body)) continue;
    EXPECT_GE(event.time_ns, capture.begin_ns);
    EXPECT_LE(event.time_ns, capture.end_ns);
  }
}

TEST_F(TraceBpfTest, EveryOnlineCpuHasOneSeed) {
  const Capture capture = Record({}, [] { PassBytes(10000); });
  for (const CpuDescription& cpu : capture.cpus) {
    if (!cpu.online) continue;
    auto is_seed = [&](const SchedEvent& event) {
      return event.cpu == cpu.cpu && std::holds_alternative<CpuSeedEvent>(event.body);
    };
    EXPECT_EQ(std::count_if(capture.events.begin(), capture.events.end(), is_seed), 1)
        << cpu.cpu.value;
  }
}

TEST_F(TraceBpfTest, TasksThatExistAreSeededWithNameAndAffinity) {
  const Capture capture = Record({}, [] {});
  const auto names = EventsOf<TaskNameEvent>(
      capture, [](const TaskNameEvent& body) { return body.task == ThisThread(); });
  ASSERT_FALSE(names.empty());
  char name[16];
  pthread_getname_np(pthread_self(), name, sizeof(name));
  EXPECT_EQ(std::get<TaskNameEvent>(names[0]->body).name, name);
  EXPECT_FALSE(std::get<TaskNameEvent>(names[0]->body).is_kernel_thread);
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof(mine), &mine), 0);
  const auto seeds = EventsOf<TaskSeedEvent>(
      capture, [](const TaskSeedEvent& body) { return body.task == ThisThread(); });
  ASSERT_FALSE(seeds.empty());
  EXPECT_EQ(std::get<TaskSeedEvent>(seeds[0]->body).allowed->Count(), CPU_COUNT(&mine));
  EXPECT_EQ(std::get<TaskSeedEvent>(seeds[0]->body).standing.sched_class, SchedClass::kFair);
}

TEST_F(TraceBpfTest, ASleepOfAWatchedTaskHasItsTimersAndItsWakeUp) {
  TraceOptions options;
  options.watched = {Tgid{getpid()}};
  int64_t until_ns = 0;
  const Capture capture = Record(options, [&] {
    until_ns = MonotonicNs() + 5 * kNsPerMs;
    SleepUntilNs(until_ns);
    usleep(2000);
  });
  const auto starts = EventsOf<TimerStartEvent>(capture, [&](const TimerStartEvent& body) {
    return body.task == ThisThread() && body.absolute && body.expires_ns == until_ns;
  });
  EXPECT_EQ(starts.size(), 1u);
  const auto relative = EventsOf<TimerStartEvent>(capture, [&](const TimerStartEvent& body) {
    return body.task == ThisThread() && !body.absolute;
  });
  EXPECT_EQ(relative.size(), 1u);
  const auto expiries = EventsOf<TimerExpireEvent>(capture, [&](const TimerExpireEvent& body) {
    return body.task == ThisThread() && body.expires_ns == until_ns;
  });
  ASSERT_EQ(expiries.size(), 1u);
  EXPECT_GE(std::get<TimerExpireEvent>(expiries[0]->body).now_ns, until_ns);
  const auto wakings = EventsOf<WakingEvent>(
      capture, [](const WakingEvent& body) { return body.wakee == ThisThread(); });
  ASSERT_FALSE(wakings.empty());
  EXPECT_EQ(std::get<WakingEvent>(wakings[0]->body).context, WakerContext::kHardIrq);
  EXPECT_TRUE(std::get<WakingEvent>(wakings[0]->body).allowed.has_value());
}

TEST_F(TraceBpfTest, SettingTheAffinityOfAWatchedTaskIsAnEvent) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  TraceOptions options;
  options.watched = {Tgid{getpid()}};
  const Tid task = ThisThread();
  const Capture capture = Record(options, [&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
    }
    EXPECT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    // From another thread, by tid: as a helper would.
    std::thread([&] {
      EXPECT_EQ(sched_setaffinity(task.value, sizeof(before), &before), 0);
    }).join();
  });
  const auto events = EventsOf<AffinityEvent>(
      capture, [&](const AffinityEvent& body) { return body.task == task; });
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(std::get<AffinityEvent>(events[0]->body).allowed.Count(), 1);
  EXPECT_EQ(std::get<AffinityEvent>(events[1]->body).allowed.Count(), CPU_COUNT(&before));
  EXPECT_EQ(std::get<AffinityEvent>(events[0]->body).by, task);
  EXPECT_NE(std::get<AffinityEvent>(events[1]->body).by, task);
}

TEST_F(TraceBpfTest, AProcessWatchedLaterIsSeeded) {
  int gate[2];
  ASSERT_EQ(pipe(gate), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    if (read(gate[0], &byte, 1) != 1) _exit(1);
    usleep(1000);
    _exit(0);
  }
  std::unique_ptr<TraceSource> source = CreateBpfSource();
  ASSERT_TRUE(source->Start({}).ok());
  ASSERT_TRUE(source->Watch(Tgid{child}).ok());
  ASSERT_EQ(write(gate[1], "x", 1), 1);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  const Capture capture = source->Stop().value();
  EXPECT_FALSE(EventsOf<TimerStartEvent>(capture, [&](const TimerStartEvent& body) {
                 return body.task == Tid{child};
               }).empty());
  EXPECT_FALSE(EventsOf<ExitEvent>(capture, [&](const ExitEvent& body) {
                 return body.task == Tid{child};
               }).empty());
  const auto outs = EventsOf<SwitchEvent>(capture, [&](const SwitchEvent& body) {
    return body.prev == Tid{child} && body.out == SwitchOut::kExited;
  });
  EXPECT_EQ(outs.size(), 1u);
}

TEST_F(TraceBpfTest, ForksAndNamesAreFollowed) {
  std::atomic<int32_t> tid = 0;
  const Capture capture = Record({}, [&] {
    std::thread([&] {
      tid = ThisThread().value;
      pthread_setname_np(pthread_self(), "renamed-thread");
    }).join();
  });
  EXPECT_EQ(EventsOf<ForkEvent>(capture,
                                [&](const ForkEvent& body) {
                                  return body.child == Tid{tid} &&
                                         body.child_tgid == Tgid{getpid()};
                                })
                .size(),
            1u);
  EXPECT_EQ(EventsOf<TaskNameEvent>(capture,
                                    [&](const TaskNameEvent& body) {
                                      return body.task == Tid{tid} && body.name == "renamed-thread";
                                    })
                .size(),
            1u);
}

TEST_F(TraceBpfTest, OfATinyBufferEveryLossIsCounted) {
  auto programs = BpfPrograms::Load({.buffer_bytes = 64 << 10});
  ASSERT_TRUE(programs.ok()) << programs.status();
  ASSERT_TRUE((*programs)->Attach().ok());
  (*programs)->SetRecording(true);
  PassBytes(10000);
  (*programs)->SetRecording(false);
  (*programs)->Detach();
  uint64_t delivered = 0;
  ASSERT_TRUE((*programs)->Drain([&](const void*, size_t) { ++delivered; }).ok());
  const BpfPrograms::Counters counters = (*programs)->ReadCounters();
  uint64_t attempts = 0;
  uint64_t lost = 0;
  for (uint64_t value : counters.attempts) attempts += value;
  for (uint64_t value : counters.lost) lost += value;
  EXPECT_GT(lost, 1000u);
  EXPECT_EQ(delivered + lost, attempts);
}

TEST_F(TraceBpfTest, GapsAddUpToTheLosses) {
  TraceOptions options;
  options.buffer_bytes = 1;  // a page, the least that there is
  const Capture capture = Record(options, [] {
    std::thread other([] { PassBytes(10000); });
    PassBytes(10000);
    other.join();
  });
  EXPECT_GT(capture.facts.lost, 0u);
  uint64_t in_gaps = 0;
  for (const LossInterval& loss : capture.losses) {
    EXPECT_LE(loss.begin_ns, loss.end_ns);
    in_gaps += loss.count;
  }
  EXPECT_EQ(in_gaps, capture.facts.lost);
}

TEST_F(TraceBpfTest, FullMemoryIsALoss) {
  TraceOptions options;
  options.memory_bytes = 256 << 10;
  const Capture capture = Record(options, [] { PassBytes(10000); });
  EXPECT_GT(capture.facts.lost, 0u);
  EXPECT_LE(capture.captured_bytes, 256 << 10);
  ASSERT_FALSE(capture.losses.empty());
  EXPECT_EQ(capture.losses.back().end_ns, capture.end_ns);
}

TEST_F(TraceBpfTest, RunTimeIsMeasuredWhenAsked) {
  TraceOptions options;
  options.measure_bpf_time = true;
  const Capture capture = Record(options, [] { PassBytes(10000); });
  ASSERT_TRUE(capture.cost.bpf_run_ns.has_value());
  EXPECT_GT(*capture.cost.bpf_run_ns, 0);
  EXPECT_GT(capture.cost.bpf_runs, 0u);
  EXPECT_GT(capture.cost.reader_cpu_ns, 0);
}

TEST_F(TraceBpfTest, ASourceCanBeDroppedWithoutStop) {
  std::unique_ptr<TraceSource> source = CreateBpfSource();
  ASSERT_TRUE(source->Start({}).ok());
  source.reset();
}

}  // namespace
}  // namespace whylate
