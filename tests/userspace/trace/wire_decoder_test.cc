#include "userspace/trace/wire_decoder.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "analysis/model/cpu_set.h"
#include "analysis/model/sched_event.h"
#include "bpf/sched_event.h"

namespace whylate {
namespace {

using Bytes = std::vector<uint8_t>;

template <typename T>
Bytes ToBytes(const T& record) {
  Bytes bytes(sizeof(record));
  std::memcpy(bytes.data(), &record, sizeof(record));
  return bytes;
}

template <typename T>
T Record(uint8_t type, uint64_t time_ns, uint16_t cpu = 0) {
  T record = {};
  record.header.time_ns = time_ns;
  record.header.sequence = 1;
  record.header.cpu = cpu;
  record.header.type = type;
  return record;
}

whylate_switch Switch(uint64_t time_ns, uint32_t prev, uint32_t next) {
  auto record = Record<whylate_switch>(WHYLATE_SWITCH, time_ns);
  record.prev = prev;
  record.next = next;
  record.prev_arrival_ago_ns = WHYLATE_NS_UNKNOWN;
  record.next_queued_ago_ns = WHYLATE_NS_UNKNOWN;
  return record;
}

whylate_affinity Affinity(uint64_t time_ns, uint32_t task, uint64_t mask, uint8_t kind) {
  auto record = Record<whylate_affinity>(WHYLATE_AFFINITY, time_ns);
  record.task = task;
  record.kind = kind;
  record.is_last = 1;
  record.mask[0] = mask;
  return record;
}

class WireDecoderTest : public testing::Test {
 protected:
  WireDecoderTest() : decoder_(WireDecoder::Create(Options()).value()) {}

  static WireDecoderOptions Options() {
    WireDecoderOptions options;
    options.abi_version = WHYLATE_ABI_VERSION;
    options.possible_cpus = 4;
    options.irq_names = {{24, "virtio1-input.0"}};
    options.stacks = {{700, 2}};
    return options;
  }

  template <typename T>
  void Decode(const T& record) {
    ASSERT_TRUE(decoder_.Decode(ToBytes(record), 1, &events_).ok());
  }
  template <typename Body>
  const Body& Last() {
    return std::get<Body>(events_.back().body);
  }

  WireDecoder decoder_;
  std::vector<SchedEvent> events_;
};

TEST_F(WireDecoderTest, RefusesAnotherAbiVersion) {
  WireDecoderOptions options = Options();
  options.abi_version = WHYLATE_ABI_VERSION + 1;
  EXPECT_EQ(WireDecoder::Create(options).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(WireDecoderTest, EveryTruncationIsDataLoss) {
  const Bytes whole = ToBytes(Switch(1, 2, 3));
  for (size_t size = 0; size < whole.size(); ++size) {
    const absl::Status status =
        decoder_.Decode(absl::MakeConstSpan(whole).subspan(0, size), 1, &events_);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << size;
  }
  EXPECT_TRUE(events_.empty());
}

TEST_F(WireDecoderTest, ARecordLongerThanItsTypeIsDataLoss) {
  Bytes bytes = ToBytes(Switch(1, 2, 3));
  bytes.push_back(0);
  EXPECT_EQ(decoder_.Decode(bytes, 1, &events_).code(), absl::StatusCode::kDataLoss);
}

TEST_F(WireDecoderTest, UnknownTypesAreDataLoss) {
  for (const int type : {0, static_cast<int>(WHYLATE_TYPE_END), 255}) {
    whylate_switch record = Switch(1, 2, 3);
    record.header.type = static_cast<uint8_t>(type);
    EXPECT_EQ(decoder_.Decode(ToBytes(record), 1, &events_).code(), absl::StatusCode::kDataLoss);
  }
}

TEST_F(WireDecoderTest, ClassifiesASwitchOutInTheDocumentedOrder) {
  constexpr int kAll = WHYLATE_PREV_DELAYED | WHYLATE_PREV_THROTTLED | WHYLATE_PREV_ON_RQ;
  const struct {
    int bits;
    uint32_t prev_state;
    SwitchOut out;
  } cases[] = {
      {kAll, 1, SwitchOut::kBlocked},
      {WHYLATE_PREV_THROTTLED | WHYLATE_PREV_ON_RQ, 0, SwitchOut::kThrottled},
      {WHYLATE_PREV_THROTTLED, 0, SwitchOut::kThrottled},
      {WHYLATE_PREV_ON_RQ, 0, SwitchOut::kRunnable},
      {WHYLATE_PREV_ON_RQ, 0x2001, SwitchOut::kRunnable},
      {0, 0x2001, SwitchOut::kBlocked},
      {0, 0x80, SwitchOut::kExited},
  };
  for (const auto& each : cases) {
    whylate_switch record = Switch(1, 2, 3);
    record.bits = static_cast<uint8_t>(each.bits);
    record.prev_state = each.prev_state;
    Decode(record);
    EXPECT_EQ(Last<SwitchEvent>().out, each.out) << each.bits;
    EXPECT_EQ(Last<SwitchEvent>().prev_state, each.prev_state);
  }
}

TEST_F(WireDecoderTest, StandingFollowsTheEffectivePriority) {
  const struct {
    uint32_t tid;
    whylate_standing wire;
    TaskStanding standing;
  } cases[] = {
      {0, {141, 0}, {SchedClass::kIdle, {}, {}}},
      {5, {1, 1 | WHYLATE_POLICY_STOP}, {SchedClass::kStop, {}, {}}},
      {5, {0, 6}, {SchedClass::kDeadline, {}, {}}},
      {5, {1, 1}, {SchedClass::kRealTime, 99, {}}},
      {5, {99, 2}, {SchedClass::kRealTime, 1, {}}},
      {5, {50, 0}, {SchedClass::kRealTime, 50, {}}},  // boosted by priority inheritance
      {5, {101, 0}, {SchedClass::kFair, {}, -20}},
      {5, {140, 3}, {SchedClass::kFair, {}, 19}},
      {5, {121, 5}, {SchedClass::kIdlePolicy, {}, 0}},
      {5, {121, 7}, {SchedClass::kExt, {}, 0}},
      {5, {200, 0}, {SchedClass::kUnknown, {}, {}}},
  };
  for (const auto& each : cases) {
    whylate_switch record = Switch(1, each.tid, 9);
    record.prev_standing = each.wire;
    Decode(record);
    EXPECT_EQ(Last<SwitchEvent>().prev_standing, each.standing) << int{each.wire.prio};
  }
}

TEST_F(WireDecoderTest, AFullSchedExtTakesTheFairClass) {
  WireDecoderOptions options = Options();
  options.ext_takes_fair = true;
  WireDecoder decoder = WireDecoder::Create(options).value();
  whylate_switch record = Switch(1, 5, 9);
  record.prev_standing = {121, 0};
  ASSERT_TRUE(decoder.Decode(ToBytes(record), 1, &events_).ok());
  EXPECT_EQ(Last<SwitchEvent>().prev_standing.sched_class, SchedClass::kExt);
}

TEST_F(WireDecoderTest, RepairFactsAreTimesAndUnknownStaysUnknown) {
  whylate_switch record = Switch(1000, 2, 3);
  record.prev_arrival_ago_ns = 400;
  Decode(record);
  EXPECT_EQ(Last<SwitchEvent>().prev_arrival_ns, 600);
  EXPECT_EQ(Last<SwitchEvent>().next_queued_ns, std::nullopt);
}

TEST_F(WireDecoderTest, CumulativeTimesGoOnWhereTheirFortyBitsWrap) {
  whylate_switch record = Switch(1, 2, 3);
  record.bits = WHYLATE_HAS_STEAL;
  record.steal_ns_low = 0xfffffff0;
  record.steal_ns_high = 0xff;
  Decode(record);
  record = Switch(2, 3, 2);
  record.bits = WHYLATE_HAS_STEAL;
  record.steal_ns_low = 0x10;
  Decode(record);
  EXPECT_EQ(Last<SwitchEvent>().stolen.steal_ns, (int64_t{1} << 40) + 0x10);
}

TEST_F(WireDecoderTest, StealIsUnknownWhereTheKernelDoesNotCountIt) {
  Decode(Switch(1, 2, 3));
  EXPECT_EQ(Last<SwitchEvent>().stolen.steal_ns, std::nullopt);
  EXPECT_EQ(Last<SwitchEvent>().stolen.irq_ns, 0);
}

TEST_F(WireDecoderTest, AWakingKnowsItsInterrupt) {
  auto record = Record<whylate_waking>(WHYLATE_WAKING, 5);
  record.wakee = 7;
  record.waker = 8;
  record.bits = WHYLATE_WAKEE_ON_CPU;
  Decode(record);
  EXPECT_EQ(Last<WakingEvent>().context, WakerContext::kTask);
  EXPECT_EQ(Last<WakingEvent>().irq, std::nullopt);
  EXPECT_EQ(Last<WakingEvent>().wakee_on_rq, false);
  EXPECT_EQ(Last<WakingEvent>().wakee_on_cpu, true);
  record.context = WHYLATE_IN_IRQ;
  record.source = WHYLATE_IRQ_DEVICE;
  record.irq = 24;
  Decode(record);
  EXPECT_EQ(Last<WakingEvent>().context, WakerContext::kHardIrq);
  EXPECT_EQ(Last<WakingEvent>().irq, 24);
  EXPECT_EQ(Last<WakingEvent>().source_name, "virtio1-input.0");
  record.source = WHYLATE_IRQ_LOCAL_TIMER;
  Decode(record);
  EXPECT_EQ(Last<WakingEvent>().source_name, "local_timer");
  EXPECT_EQ(Last<WakingEvent>().irq, std::nullopt);
  record.context = WHYLATE_IN_SOFTIRQ;
  record.source = 1;
  Decode(record);
  EXPECT_EQ(Last<WakingEvent>().context, WakerContext::kSoftIrq);
  EXPECT_EQ(Last<WakingEvent>().source_name, "TIMER");
  record.source = 200;
  Decode(record);
  EXPECT_EQ(Last<WakingEvent>().source_name, "");
}

TEST_F(WireDecoderTest, AffinityGoesIntoTheRecordBeforeIt) {
  whylate_switch record = Switch(10, 2, 3);
  record.header.flags = WHYLATE_MASK_PREV | WHYLATE_MASK_NEXT;
  Decode(record);
  Decode(Affinity(10, 2, 0b0011, WHYLATE_AFFINITY_OF_RECORD));
  Decode(Affinity(10, 3, 0b1100, WHYLATE_AFFINITY_OF_RECORD));
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(Last<SwitchEvent>().prev_allowed->ToString(), "0-1");
  EXPECT_EQ(Last<SwitchEvent>().next_allowed->ToString(), "2-3");
}

TEST_F(WireDecoderTest, AffinityWhoseRecordWasLostIsDropped) {
  whylate_switch record = Switch(10, 2, 3);
  record.header.flags = WHYLATE_MASK_PREV;
  Decode(record);
  Decode(Affinity(11, 2, 0b0011, WHYLATE_AFFINITY_OF_RECORD));
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(Last<SwitchEvent>().prev_allowed, std::nullopt);
}

TEST_F(WireDecoderTest, BitsPastThePossibleCpusMeanNothing) {
  Decode(Affinity(10, 2, ~uint64_t{0}, WHYLATE_AFFINITY_SET));
  EXPECT_EQ(Last<AffinityEvent>().allowed.ToString(), "0-3");
}

TEST_F(WireDecoderTest, AMaskOfSeveralChunksNeedsThemAll) {
  WireDecoderOptions options = Options();
  options.possible_cpus = 600;
  WireDecoder decoder = WireDecoder::Create(options).value();
  auto chunk = [](uint16_t first, uint64_t mask, bool is_last) {
    whylate_affinity record = Affinity(10, 2, mask, WHYLATE_AFFINITY_SET);
    record.first_cpu = first;
    record.is_last = is_last ? 1 : 0;
    return ToBytes(record);
  };
  for (const Bytes& bytes : {chunk(0, 1, false), chunk(256, 2, false), chunk(512, 4, true)}) {
    ASSERT_TRUE(decoder.Decode(bytes, 1, &events_).ok());
  }
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(Last<AffinityEvent>().allowed.ToString(), "0,257,514");
  for (const Bytes& bytes : {chunk(0, 1, false), chunk(512, 4, true)}) {
    ASSERT_TRUE(decoder.Decode(bytes, 1, &events_).ok());
  }
  EXPECT_EQ(events_.size(), 1u);
}

TEST_F(WireDecoderTest, AForkIsALinkAndAName) {
  auto record = Record<whylate_fork>(WHYLATE_FORK, 3);
  record.parent = 10;
  record.child = 11;
  record.child_tgid = 10;
  std::memcpy(record.name, "sixteen-bytes-xx", sizeof(record.name));  // without a NUL
  Decode(record);
  ASSERT_EQ(events_.size(), 2u);
  EXPECT_EQ(std::get<ForkEvent>(events_[0].body), (ForkEvent{Tid{10}, Tid{11}, Tgid{10}}));
  EXPECT_EQ(Last<TaskNameEvent>(), (TaskNameEvent{Tid{11}, Tgid{10}, "sixteen-bytes-xx", false}));
}

TEST_F(WireDecoderTest, ATaskSeedIsANameAndAState) {
  auto record = Record<whylate_task_seed>(WHYLATE_TASK_SEED, 3);
  record.header.sequence = 0;
  record.header.flags = WHYLATE_MASK_PREV;
  record.task = 12;
  record.tgid = 12;
  record.queued_on = 1;
  record.standing = {121, 0};
  record.bits = WHYLATE_SEED_ON_RQ | WHYLATE_SEED_KERNEL_THREAD;
  std::memcpy(record.name, "kthreadd", 9);
  Decode(record);
  Decode(Affinity(3, 12, 0b11, WHYLATE_AFFINITY_OF_RECORD));
  ASSERT_EQ(events_.size(), 2u);
  EXPECT_EQ(std::get<TaskNameEvent>(events_[0].body),
            (TaskNameEvent{Tid{12}, Tgid{12}, "kthreadd", true}));
  const auto& seed = Last<TaskSeedEvent>();
  EXPECT_TRUE(seed.on_rq);
  EXPECT_EQ(seed.queued_on, CpuId{1});
  EXPECT_EQ(seed.allowed->ToString(), "0-1");
}

TEST_F(WireDecoderTest, TimersAreAbsoluteUnlessArmedRelative) {
  auto record = Record<whylate_timer_start>(WHYLATE_TIMER_START, 3);
  record.task = 12;
  record.expires_ns = 1000;
  Decode(record);
  EXPECT_EQ(Last<TimerStartEvent>(), (TimerStartEvent{Tid{12}, 1000, true}));
  record.mode = 1;
  Decode(record);
  EXPECT_FALSE(Last<TimerStartEvent>().absolute);
  auto expire = Record<whylate_timer_expire>(WHYLATE_TIMER_EXPIRE, 4);
  expire.task = 12;
  expire.expires_ns = 1000;
  expire.now_ns = 1003;
  Decode(expire);
  EXPECT_EQ(Last<TimerExpireEvent>(), (TimerExpireEvent{Tid{12}, 1000, 1003}));
}

TEST_F(WireDecoderTest, SmallBodies) {
  auto wakeup = Record<whylate_wakeup>(WHYLATE_WAKEUP_NEW, 3, 1);
  wakeup.wakee = 4;
  wakeup.target = 2;
  wakeup.standing = {121, 0};
  Decode(wakeup);
  EXPECT_EQ(events_.back().cpu, CpuId{1});
  EXPECT_EQ(Last<WakeupEvent>(), (WakeupEvent{Tid{4}, CpuId{2}, true, {SchedClass::kFair, {}, 0}}));
  auto migrate = Record<whylate_migrate>(WHYLATE_MIGRATE, 4);
  migrate.task = 4;
  migrate.from = 1;
  migrate.to = 3;
  Decode(migrate);
  EXPECT_EQ(Last<MigrateEvent>(), (MigrateEvent{Tid{4}, CpuId{1}, CpuId{3}}));
  auto exit = Record<whylate_exit>(WHYLATE_EXIT, 5);
  exit.task = 4;
  Decode(exit);
  EXPECT_EQ(Last<ExitEvent>(), ExitEvent{Tid{4}});
  auto seed = Record<whylate_cpu_seed>(WHYLATE_CPU_SEED, 6);
  Decode(seed);
  EXPECT_EQ(Last<CpuSeedEvent>(), (CpuSeedEvent{Tid{0}, {SchedClass::kIdle, {}, {}}}));
}

TEST_F(WireDecoderTest, InterruptTimeIsNamedByItsSource) {
  auto device = Record<whylate_irq_time>(WHYLATE_IRQ_TIME, 7);
  device.ns = 1500;
  device.count = 3;
  device.irq = 24;
  device.context = WHYLATE_IN_IRQ;
  device.source = WHYLATE_IRQ_DEVICE;
  Decode(device);
  EXPECT_EQ(Last<InterruptTimeEvent>(),
            (InterruptTimeEvent{WakerContext::kHardIrq, 24, "virtio1-input.0", 1500, 3}));
  auto softirq = Record<whylate_irq_time>(WHYLATE_IRQ_TIME, 8);
  softirq.ns = 9;
  softirq.count = 1;
  softirq.context = WHYLATE_IN_SOFTIRQ;
  softirq.source = 3;
  Decode(softirq);
  EXPECT_EQ(Last<InterruptTimeEvent>(),
            (InterruptTimeEvent{WakerContext::kSoftIrq, std::nullopt, "NET_RX", 9, 1}));
}

TEST_F(WireDecoderTest, StackGoesToTheSwitchThatBeganTheSleep) {
  whylate_switch out = Switch(10, 2, 3);
  out.header.flags = WHYLATE_MASK_PREV;
  out.bits = WHYLATE_PREV_IOWAIT;
  Decode(out);
  auto stack = Record<whylate_stack>(WHYLATE_STACK, 10);
  stack.task = 2;
  stack.stack = 700;
  Decode(stack);
  EXPECT_EQ(Last<SwitchEvent>().stack, 2);
  EXPECT_EQ(Last<SwitchEvent>().prev_in_iowait, true);
  EXPECT_EQ(Last<SwitchEvent>().preempt, false);
}

TEST_F(WireDecoderTest, StackOfAnotherTaskOrTimeOrWithoutNamesIsDropped) {
  whylate_switch out = Switch(10, 2, 3);
  out.header.flags = WHYLATE_MASK_PREV;
  Decode(out);
  struct Case {
    uint64_t time_ns;
    uint32_t task, stack;
  };
  for (const Case& c : {Case{10, 5, 700}, Case{11, 2, 700}, Case{10, 2, 701}}) {
    auto stack = Record<whylate_stack>(WHYLATE_STACK, c.time_ns);
    stack.task = c.task;
    stack.stack = c.stack;
    Decode(stack);
    EXPECT_FALSE(Last<SwitchEvent>().stack.has_value());
  }
}

TEST_F(WireDecoderTest, Unthrottle) {
  auto record = Record<whylate_unthrottle>(WHYLATE_UNTHROTTLE, 7);
  record.task = 9;
  Decode(record);
  EXPECT_EQ(Last<UnthrottleEvent>(), (UnthrottleEvent{Tid{9}, "", std::nullopt, std::nullopt}));
  record.quota_ns = 10;
  record.period_ns = 50;
  std::strcpy(record.group, "game");
  Decode(record);
  EXPECT_EQ(Last<UnthrottleEvent>(), (UnthrottleEvent{Tid{9}, "game", 10, 50}));
}

TEST_F(WireDecoderTest, ChangesOfAWatchedTask) {
  auto standing = Record<whylate_new_standing>(WHYLATE_STANDING, 7);
  standing.task = 9;
  standing.by = 4;
  standing.standing = {51, 1};
  Decode(standing);
  EXPECT_EQ(Last<StandingEvent>(),
            (StandingEvent{Tid{9}, {SchedClass::kRealTime, 49, {}}, Tid{4}}));
  auto cgroup = Record<whylate_cgroup>(WHYLATE_CGROUP, 8);
  cgroup.task = 9;
  cgroup.by = 4;
  std::strcpy(cgroup.path, "/a/b");
  Decode(cgroup);
  EXPECT_EQ(Last<CgroupEvent>(), (CgroupEvent{Tid{9}, "/a/b", Tid{4}}));
  auto stop = Record<whylate_stop>(WHYLATE_STOP, 9);
  stop.task = 9;
  stop.by = 4;
  Decode(stop);
  EXPECT_EQ(Last<StopEvent>(), (StopEvent{Tid{9}, Tid{4}}));
  auto affinity = Affinity(9, 9, 1, WHYLATE_AFFINITY_SET);
  affinity.by = 4;
  Decode(affinity);
  EXPECT_EQ(Last<AffinityEvent>().by, Tid{4});
}

TEST_F(WireDecoderTest, WorkMayFillItsField) {
  auto work = Record<whylate_work>(WHYLATE_WORK, 7);
  work.task = 9;
  std::memset(work.work, 'w', sizeof(work.work));
  Decode(work);
  EXPECT_EQ(Last<WorkEvent>(), (WorkEvent{Tid{9}, std::string(WHYLATE_WORK_LEN, 'w')}));
}

TEST_F(WireDecoderTest, WakeupOntoAThrottledQueue) {
  auto wakeup = Record<whylate_wakeup>(WHYLATE_WAKEUP, 3);
  wakeup.header.flags = WHYLATE_WAKEE_THROTTLED;
  Decode(wakeup);
  EXPECT_TRUE(Last<WakeupEvent>().throttled);
}

TEST_F(WireDecoderTest, TimesThatNoClockShowsAreRefused) {
  const auto record = Record<whylate_exit>(WHYLATE_EXIT, uint64_t{1} << 63);
  EXPECT_EQ(decoder_.Decode(ToBytes(record), 1, &events_).code(), absl::StatusCode::kDataLoss);
}

// Any bytes at all: a Status or an event, and no undefined behaviour.
TEST_F(WireDecoderTest, ArbitraryBytesDoNoHarm) {
  uint32_t state = 1;
  auto next = [&state] { return state = state * 1664525 + 1013904223; };
  for (int i = 0; i < 20000; ++i) {
    Bytes bytes(next() >> 26);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(next() >> 24);
    if (bytes.size() >= sizeof(whylate_header))
      bytes[14] = static_cast<uint8_t>(next() >> 27);  // the type
    decoder_.Decode(bytes, static_cast<uint64_t>(i), &events_).IgnoreError();
  }
}

}  // namespace
}  // namespace whylate
