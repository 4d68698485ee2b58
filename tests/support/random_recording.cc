#include "tests/support/random_recording.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace whylate {
namespace {

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  Recording Make(int events) {
    Recording recording;
    recording.workload = Name();
    recording.load = Name();
    recording.run = Int32();
    recording.frames = Frames();
    recording.watched = Tid{Int32()};
    recording.allowed_before = Allowed();
    recording.allowed_after = Allowed();
    if (Chance())
      recording.trace = TraceFacts{Name(), Word(), Word(), Word(), Chance(), Chance(), Chance()};
    recording.begin_ns = Int64();
    recording.end_ns = Int64();
    for (int i = 0; i < events; ++i) recording.events.push_back(Event());
    std::stable_sort(recording.events.begin(), recording.events.end(), Before);
    for (uint64_t i = Below(4); i > 0; --i) {
      recording.losses.push_back({Cpu(), Int64(), Int64(), Word()});
      recording.omitted.push_back({Int64(), Int64()});
      recording.roles.push_back({Tgid{Int32()}, {static_cast<RoleKind>(Below(7)), Name()}});
      recording.cpus.push_back({Cpu(), Chance(), Chance()});
      recording.stacks.emplace_back();
      for (uint64_t j = Below(4); j > 0; --j) recording.stacks.back().push_back(Name());
    }
    return recording;
  }

 private:
  uint64_t Below(uint64_t end) { return random_() % end; }
  bool Chance() { return Below(2) == 0; }
  uint64_t Word() { return Chance() ? Below(100) : random_(); }
  int64_t Int64() {
    constexpr std::array<int64_t, 6> kEnds = {0,
                                              1,
                                              -1,
                                              std::numeric_limits<int64_t>::max(),
                                              std::numeric_limits<int64_t>::min(),
                                              123'456'789'012'345};
    if (Chance()) return kEnds[Below(kEnds.size())];
    return static_cast<int64_t>(random_() >> Below(64));
  }
  int32_t Int32() { return static_cast<int32_t>(Int64()); }
  CpuId Cpu() { return CpuId{static_cast<int32_t>(Below(8) == 0 ? 8191 : Below(4))}; }
  Tid Task() { return Tid{Chance() ? static_cast<int32_t>(Below(6)) : Int32()}; }

  std::string Name() {
    constexpr std::array<const char*, 8> kNames = {
        "",       "burn",       "\xff\xfe", "a\x1b[31mb\n",
        "100%41", "quote\"'\\", "日本",     "kworker/0:1-flush"};
    return kNames[Below(kNames.size())];
  }
  std::optional<int64_t> MaybeInt64() {
    return Chance() ? std::optional<int64_t>(Int64()) : std::nullopt;
  }
  std::optional<int32_t> MaybeInt32() {
    return Chance() ? std::optional<int32_t>(Int32()) : std::nullopt;
  }
  std::optional<bool> MaybeBool() {
    return Chance() ? std::optional<bool>(Chance()) : std::nullopt;
  }
  std::optional<Tid> MaybeTask() { return Chance() ? std::optional<Tid>(Task()) : std::nullopt; }
  CpuSet Set() {
    CpuSet set;
    for (uint64_t i = Below(4); i > 0; --i) set.Add(Cpu());
    return set;
  }
  std::optional<CpuSet> Allowed() { return Chance() ? std::optional<CpuSet>(Set()) : std::nullopt; }
  TaskStanding Standing() {
    if (Chance()) return {SchedClass::kFair, {}, static_cast<int32_t>(Below(40)) - 20};
    if (Chance()) return {SchedClass::kRealTime, static_cast<int32_t>(Below(99)) + 1, {}};
    return {static_cast<SchedClass>(Below(8)), MaybeInt32(), MaybeInt32()};
  }

  CellFrames Frames() {
    CellFrames frames;
    // The other pacings have arithmetic, which numbers like these are refused for.
    frames.pacing = Pacing::kBackToBack;
    frames.period = {Int64(), static_cast<int64_t>(1 + Below(60))};
    frames.origin_ns = Int64();
    frames.end_ns = Int64();
    for (uint64_t i = Below(5); i > 0; --i) {
      frames.frames.push_back({Int64(), Int64(), Int64(), Int64(), Int64(), Int64()});
      frames.demand_ns.push_back(Int64());
    }
    if (Chance()) AddStages(&frames);
    return frames;
  }

  void AddStages(CellFrames* frames) {
    for (uint64_t i = 1 + Below(kMostStages); i > 0; --i) {
      frames->stages.push_back({Name(), Tid{Int32()}, Int64(), Allowed(), Allowed()});
    }
    for (size_t i = frames->frames.size() * (frames->stages.size() - 1); i > 0; --i) {
      frames->passed_ns.push_back(Int64());
    }
    for (size_t i = frames->frames.size() * frames->stages.size(); i > 0; --i) {
      frames->stage_cpu_ns.push_back(Int64());
    }
  }

  SchedEvent Event() { return {Int64(), Cpu(), Word(), Body()}; }

  SchedEventBody Body() {
    switch (Below(std::variant_size_v<SchedEventBody>)) {
      case 0:
        return SwitchEvent{Task(),
                           Task(),
                           static_cast<SwitchOut>(Below(5)),
                           static_cast<uint32_t>(Chance() ? Below(5) : Word()),
                           Standing(),
                           Standing(),
                           Chance(),
                           MaybeInt64(),
                           MaybeInt64(),
                           StolenTime{MaybeInt64(), MaybeInt64(), MaybeInt64()},
                           Allowed(),
                           Allowed(),
                           MaybeBool(),
                           MaybeBool(),
                           MaybeInt32()};
      case 1:
        return WakingEvent{Task(),       Task(),   static_cast<WakerContext>(Below(5)),
                           MaybeInt32(), Name(),   MaybeBool(),
                           MaybeBool(),  Allowed()};
      case 2:
        return WakeupEvent{Task(), Cpu(), Chance(), Standing(), Chance()};
      case 3:
        return MigrateEvent{Task(), Cpu(), Cpu()};
      case 4:
        return ForkEvent{Task(), Task(), Tgid{Int32()}};
      case 5:
        return ExitEvent{Task()};
      case 6:
        return TaskNameEvent{Task(), Chance() ? std::optional<Tgid>(Tgid{Int32()}) : std::nullopt,
                             Name(), Chance()};
      case 7:
        return TimerStartEvent{Task(), Int64(), Chance()};
      case 8:
        return TimerExpireEvent{Task(), Int64(), Int64()};
      case 9:
        return AffinityEvent{Task(), Set(), MaybeTask()};
      case 10:
        return CpuSeedEvent{Task(), Standing()};
      case 11:
        return TaskSeedEvent{Task(), Chance(), Cpu(), Standing(), Allowed()};
      case 12:
        return UnthrottleEvent{Task(), Name(), MaybeInt64(), MaybeInt64()};
      case 13:
        return InterruptTimeEvent{static_cast<WakerContext>(Below(5)), MaybeInt32(), Name(),
                                  Int64(), static_cast<uint32_t>(Word())};
      case 14:
        return StandingEvent{Task(), Standing(), MaybeTask()};
      case 15:
        return CgroupEvent{Task(), Name(), MaybeTask()};
      case 16:
        return StopEvent{Task(), MaybeTask()};
      default:
        return WorkEvent{Task(), Name()};
    }
  }

  std::mt19937_64 random_;
};

bool SameFrame(const Frame& a, const Frame& b) {
  return a.index == b.index && a.release_ns == b.release_ns && a.start_ns == b.start_ns &&
         a.completion_ns == b.completion_ns && a.cpu_ns == b.cpu_ns && a.demand_ns == b.demand_ns;
}

std::string FramesDifference(const CellFrames& a, const CellFrames& b) {
  if (a.pacing != b.pacing) return "pacing";
  if (a.has_unfinished != b.has_unfinished) return "has_unfinished";
  if (a.period.numerator_ns != b.period.numerator_ns) return "period";
  if (a.period.denominator != b.period.denominator) return "period's denominator";
  if (a.origin_ns != b.origin_ns || a.end_ns != b.end_ns) return "origin or end of frames";
  if (a.demand_ns != b.demand_ns) return "demands";
  if (a.stages != b.stages) return "stages";
  if (a.passed_ns != b.passed_ns) return "when stages passed frames on";
  if (a.stage_cpu_ns != b.stage_cpu_ns) return "CPU times of stages";
  if (!std::equal(a.frames.begin(), a.frames.end(), b.frames.begin(), b.frames.end(), SameFrame)) {
    return "frames";
  }
  return "";
}

}  // namespace

Recording MakeRandomRecording(uint64_t seed, int events) { return Maker(seed).Make(events); }

std::string Difference(const Recording& a, const Recording& b) {
  if (a.workload != b.workload || a.load != b.load || a.run != b.run) return "cell";
  if (std::string frames = FramesDifference(a.frames, b.frames); !frames.empty()) return frames;
  if (a.watched != b.watched) return "watched task";
  if (a.allowed_before != b.allowed_before) return "affinity before";
  if (a.allowed_after != b.allowed_after) return "affinity after";
  if (a.trace != b.trace) return "facts of the capture";
  if (a.begin_ns != b.begin_ns || a.end_ns != b.end_ns) return "begin or end";
  if (a.losses != b.losses) return "losses";
  if (a.omitted != b.omitted) return "omitted stretches";
  if (a.roles != b.roles) return "roles";
  if (a.cpus != b.cpus) return "CPUs";
  if (a.stacks != b.stacks) return "stacks";
  for (size_t i = 0; i < std::min(a.events.size(), b.events.size()); ++i) {
    if (a.events[i] == b.events[i]) continue;
    return absl::StrCat("event ", i, ", of kind ", a.events[i].body.index(), " and ",
                        b.events[i].body.index());
  }
  if (a.events.size() != b.events.size()) {
    return absl::StrCat(a.events.size(), " and ", b.events.size(), " events");
  }
  return "";
}

}  // namespace whylate
