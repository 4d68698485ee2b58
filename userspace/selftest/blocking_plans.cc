#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/files.h"
#include "userspace/selftest/blocking_injectors.h"
#include "userspace/selftest/scenario_plans.h"
#include "userspace/selftest/stamps.h"
#include "userspace/session/load_files.h"
#include "userspace/workload/frame_loop.h"
#include "userspace/workload/work.h"

namespace whylate {
namespace {

// Of the releases that are struck: each sixth one is every 100 ms.
constexpr int64_t kStrikeEvery = 6;
constexpr int64_t kHaltEvery = 12;

constexpr int32_t kWorkloadPriority = 70;
constexpr int64_t kQuotaNs = 10 * kNsPerMs;
constexpr int64_t kQuotaPeriodNs = 50 * kNsPerMs;

// So much at once that the wait is long beside what a wake-up takes.
constexpr int64_t kReadBytes = 512 << 10;
constexpr int64_t kFileReads = 128;
constexpr int64_t kMostReadsPerFrame = 60;
constexpr int64_t kDiskWaitNs = 14 * kNsPerMs;

CpuId OtherCpu(const ScenarioStage& stage) { return stage.other.value_or(stage.home); }

// Makes a cgroup for the workload, registered before it is there.
template <typename Group, typename... Limits>
absl::StatusOr<std::shared_ptr<Group>> MakeGroup(const ScenarioStage& stage,
                                                 CgroupController controller, Limits... limits) {
  ASSIGN_OR_RETURN(const CgroupSite site, FindCgroupSite(controller));
  Registration registration;
  if (stage.registry != nullptr) {
    ASSIGN_OR_RETURN(registration, stage.registry->AddCgroup(Cgroup::PathOf(site, stage.run_id)));
  }
  ASSIGN_OR_RETURN(Group group, Group::Create(site, stage.run_id, limits...));
  auto owner = std::make_shared<RegisteredCgroup<Group>>(
      RegisteredCgroup<Group>{std::move(registration), std::move(group)});
  return std::shared_ptr<Group>(owner, &owner->group);
}

// One stroke a frame.
void AddAmounts(const std::map<int64_t, int64_t>& amounts_ns, Injection& injection) {
  for (const auto& [index, ns] : amounts_ns) {
    if (ns > 0) injection.amounts.emplace(index, Amount{ns, 1});
  }
}

// How long the workload was throttled, by the kernel's account, which its frames read at their begin and
// at their end. What passes between two frames' readings belongs to the one before as far as it had
// not completed yet, since it is often on its way out of a system call that a task is throttled; to
// the one after as far as that was released; and the rest to none.
class ThrottleAccount {
 public:
  static absl::StatusOr<std::shared_ptr<ThrottleAccount>> Create(std::shared_ptr<QuotaCgroup> group,
                                                                 int64_t frames) {
    ASSIGN_OR_RETURN(FrameAmounts inside, FrameAmounts::Create(frames));
    ASSIGN_OR_RETURN(FrameAmounts before, FrameAmounts::Create(frames));
    ASSIGN_OR_RETURN(StampLog bodies, StampLog::Create());
    return std::shared_ptr<ThrottleAccount>(new ThrottleAccount(
        std::move(group), std::move(inside), std::move(before), std::move(bodies)));
  }

  // The workload's.
  void DoFrame(const FrameStep& step) {
    const int64_t begin_ns = MonotonicNs();
    const int64_t at_begin_ns = group_->ThrottledNs().value_or(last_reading_ns_);
    before_.Add(step.index, at_begin_ns - last_reading_ns_);
    Work(step.loops);
    // Before the reading, whose system calls may end in a throttle.
    const int64_t end_ns = MonotonicNs();
    last_reading_ns_ = group_->ThrottledNs().value_or(at_begin_ns);
    inside_.Add(step.index, last_reading_ns_ - at_begin_ns);
    bodies_.Add(begin_ns, end_ns);
  }

  // Of the frames of a run, by their indices.
  std::map<int64_t, int64_t> Settle(const std::vector<Frame>& frames) const {
    std::map<int64_t, int64_t> throttled_ns = inside_.All();
    const std::map<int64_t, int64_t> before_ns = before_.All();
    const std::vector<TimeWindow> bodies = bodies_.Stretches();
    for (size_t i = 0; i < std::min(frames.size(), bodies.size()); ++i) {
      const auto found = before_ns.find(frames[i].index);
      int64_t between_ns = found == before_ns.end() ? 0 : found->second;
      if (i > 0) {
        const int64_t tail_ns =
            std::min(between_ns, frames[i - 1].completion_ns - bodies[i - 1].end_ns);
        throttled_ns[frames[i - 1].index] += tail_ns;
        between_ns -= tail_ns;
      }
      throttled_ns[frames[i].index] +=
          std::min(between_ns, bodies[i].begin_ns - frames[i].release_ns);
    }
    // Nobody came after the last one to read what its end took.
    if (!frames.empty() && frames.size() == bodies.size()) {
      const int64_t left_ns =
          group_->ThrottledNs().value_or(0) - Sum(inside_.All()) - Sum(before_ns);
      throttled_ns[frames.back().index] +=
          std::clamp<int64_t>(left_ns, 0, frames.back().completion_ns - bodies.back().end_ns);
    }
    return throttled_ns;
  }

 private:
  static int64_t Sum(const std::map<int64_t, int64_t>& amounts_ns) {
    int64_t sum_ns = 0;
    for (const auto& [index, ns] : amounts_ns) sum_ns += ns;
    return sum_ns;
  }

  ThrottleAccount(std::shared_ptr<QuotaCgroup> group, FrameAmounts inside, FrameAmounts before,
                  StampLog bodies)
      : group_(std::move(group)),
        inside_(std::move(inside)),
        before_(std::move(before)),
        bodies_(std::move(bodies)) {}

  std::shared_ptr<QuotaCgroup> group_;
  FrameAmounts inside_;  // from a frame's first reading to its last
  FrameAmounts before_;  // from the last one of the frame before to its first
  StampLog bodies_;
  int64_t last_reading_ns_ = 0;  // in the workload's process
};

// Puts the workload under the quota, and adds how long that throttled it as an injection, "quota".
absl::Status LimitByQuota(const ScenarioStage& stage, ScenarioPlan& plan) {
  ASSIGN_OR_RETURN(const auto group,
                   MakeGroup<QuotaCgroup>(stage, CgroupController::kCpu, kQuotaNs, kQuotaPeriodNs));
  ASSIGN_OR_RETURN(const std::shared_ptr<ThrottleAccount> account,
                   ThrottleAccount::Create(group, LogCapacity(plan.workload, plan.duration_ns)));
  plan.cgroup = group;
  plan.body = [account](const FrameStep& step) { account->DoFrame(step); };
  plan.settle = [account](ScenarioRun& run) {
    Injection quota;
    quota.name = "quota";
    quota.subjects = {"quota"};
    quota.means = Means::kThrottles;
    AddAmounts(account->Settle(run.recording.frames.frames), quota);
    run.injections.push_back(std::move(quota));
  };
  return absl::OkStatus();
}

// The workload takes the lock at the begin of each frame. Injections can only have delayed it by the
// lock while it waited for that; all but `elsewhere`, which is on its CPU.
absl::StatusOr<std::shared_ptr<SharedMutex>> NeedLock(ScenarioPlan& plan, const char* elsewhere) {
  ASSIGN_OR_RETURN(SharedMutex made_mutex, SharedMutex::Create());
  ASSIGN_OR_RETURN(StampLog made_waits, StampLog::Create());
  auto mutex = std::make_shared<SharedMutex>(std::move(made_mutex));
  auto waits = std::make_shared<StampLog>(std::move(made_waits));
  plan.body = [mutex, waits](const FrameStep& step) {
    const int64_t begin_ns = MonotonicNs();
    mutex->Lock();
    mutex->Unlock();
    waits->Add(begin_ns, MonotonicNs());
    Work(step.loops);
  };
  plan.settle = [waits, elsewhere = std::string(elsewhere)](ScenarioRun& run) {
    for (Injection& injection : run.injections) {
      if (injection.name == elsewhere) continue;
      injection.busy = Intersection(injection.busy, waits->Stretches());
    }
  };
  return mutex;
}

// A file on a disk, none of it in memory.
absl::StatusOr<std::shared_ptr<UniqueFd>> MakeColdFile(const ScenarioStage& stage) {
  const std::string not_a_disk = LoadFiles(stage.workdir, stage.run_id).NotADisk();
  if (!not_a_disk.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(stage.workdir, " is on ", not_a_disk, "; name a disk with --workdir"));
  }
  ASSIGN_OR_RETURN(UniqueFd file, CreateUnnamedFile(stage.workdir, stage.run_id));
  const std::string piece(kReadBytes, 'w');
  for (int64_t i = 0; i < kFileReads; ++i) {
    if (write(file.get(), piece.data(), piece.size()) != kReadBytes) {
      return ErrnoStatus(errno, absl::StrCat("write a file in ", stage.workdir));
    }
  }
  if (fsync(file.get()) != 0) return ErrnoStatus(errno, "write a file to its disk");
  posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  posix_fadvise(file.get(), 0, 0, POSIX_FADV_RANDOM);
  return std::make_shared<UniqueFd>(std::move(file));
}

// Reads cold pages until it has waited kDiskWaitNs for them: how long reads took beyond their CPU
// time. `next` counts them.
int64_t WaitForDisk(int fd, int64_t& next) {
  static std::array<char, kReadBytes> piece;
  int64_t waited_ns = 0;
  for (int64_t i = 0; i < kMostReadsPerFrame && waited_ns < kDiskWaitNs; ++i) {
    next = (next + 1) % kFileReads;
    const int64_t begin_ns = MonotonicNs();
    const int64_t cpu_begin_ns = ThreadCpuNs();
    if (pread(fd, piece.data(), piece.size(), next * kReadBytes) < 0) break;
    const int64_t cpu_ns = ThreadCpuNs() - cpu_begin_ns;
    waited_ns += std::max<int64_t>(0, MonotonicNs() - begin_ns - cpu_ns);
  }
  return waited_ns;
}

}  // namespace

absl::StatusOr<ScenarioPlan> PlanQuotaIdle(const ScenarioStage& stage) {
  ScenarioPlan plan = PlanVideo(stage, OneCpu(stage.home));
  RETURN_IF_ERROR(LimitByQuota(stage, plan));
  return plan;
}

Proof ProveQuotaIdle() {
  Proof proof;
  proof.expected = {{"quota", {"throttled"}, {}}};
  return proof;
}

absl::StatusOr<ScenarioPlan> PlanQuotaBurn(const ScenarioStage& stage) {
  ScenarioPlan plan = PlanVideo(stage, OneCpu(stage.home));
  RETURN_IF_ERROR(LimitByQuota(stage, plan));
  plan.injectors.push_back(MakeBurn(stage.home));
  // Burn has the CPU too while the workload is throttled, and does not delay it then; but others may
  // have it.
  plan.settle = [add_quota = plan.settle](ScenarioRun& run) {
    add_quota(run);
    for (const auto& [index, throttled] : run.injection("quota").amounts) {
      run.injection("burn").amounts.emplace(index, Amount{-throttled.ns, 0, throttled.ns});
    }
  };
  return plan;
}

Proof ProveQuotaBurn() {
  Proof proof;
  proof.expected = {{"quota", {"throttled"}, {}}, {"burn", {"preempted", "runqueue_wait"}, {}}};
  proof.split_ns = 100'000;
  return proof;
}

absl::StatusOr<ScenarioPlan> PlanLockHolderDelayed(const ScenarioStage& stage) {
  ScenarioPlan plan = PlanVideo(stage, OneCpu(stage.home));
  ASSIGN_OR_RETURN(const std::shared_ptr<SharedMutex> mutex, NeedLock(plan, ""));
  const CpuId other = OtherCpu(stage);
  plan.injectors.push_back(MakeStrikingHog(other, kStrikeEvery, -500'000, 13 * kNsPerMs));
  plan.injectors.push_back(MakeHolder(other, mutex, kStrikeEvery, -1'500'000, 2 * kNsPerMs));
  return plan;
}

Proof ProveLockHolderDelayed() {
  Proof proof;
  proof.expected = {{"hog", {"blocked"}, {}}};
  return proof;
}

absl::StatusOr<ScenarioPlan> PlanLockUntil(const ScenarioStage& stage) {
  ScenarioPlan plan = PlanVideo(stage, OneCpu(stage.home));
  ASSIGN_OR_RETURN(const std::shared_ptr<SharedMutex> mutex, NeedLock(plan, "hog"));
  plan.injectors.push_back(MakeStrikingHog(stage.home, kStrikeEvery, -200'000, 3 * kNsPerMs));
  plan.injectors.push_back(
      MakeTimedHolder(OtherCpu(stage), mutex, kStrikeEvery, -2 * kNsPerMs, 12 * kNsPerMs));
  return plan;
}

Proof ProveLockUntil() {
  Proof proof;
  proof.expected = {{"holder", {"blocked"}, {}}};
  proof.saves_nothing = "hog";
  return proof;
}

absl::StatusOr<ScenarioPlan> PlanColdPages(const ScenarioStage& stage) {
  ScenarioPlan plan = PlanVideo(stage, OneCpu(stage.home));
  ASSIGN_OR_RETURN(const std::shared_ptr<UniqueFd> file, MakeColdFile(stage));
  ASSIGN_OR_RETURN(FrameAmounts made,
                   FrameAmounts::Create(LogCapacity(plan.workload, plan.duration_ns)));
  auto waited = std::make_shared<FrameAmounts>(std::move(made));
  // So that it waits for nothing but the disk.
  plan.workload_settings.fifo_priority = kWorkloadPriority;
  plan.body = [file, waited, next = int64_t{0}](const FrameStep& step) mutable {
    if (step.index % kStrikeEvery == 0) waited->Add(step.index, WaitForDisk(file->get(), next));
    Work(step.loops);
  };
  plan.injectors.push_back(MakeEvictor(OtherCpu(stage), file));
  plan.injectors.push_back(MakeIdler(stage.home));
  plan.settle = [waited](ScenarioRun& run) {
    Injection disk;
    disk.name = "disk";
    disk.subjects = {"io"};
    disk.means = Means::kBlocks;
    AddAmounts(waited->All(), disk);
    run.injections.push_back(std::move(disk));
  };
  return plan;
}

Proof ProveColdPages() {
  Proof proof;
  proof.expected = {{"disk", {"blocked"}, {}}};
  return proof;
}

absl::StatusOr<ScenarioPlan> PlanStopped(const ScenarioStage& stage) {
  ScenarioPlan plan = PlanVideo(stage, OneCpu(stage.home));
  plan.injectors.push_back(MakeStopper(OtherCpu(stage), kHaltEvery, 2 * kNsPerMs, 40 * kNsPerMs));
  return plan;
}

Proof ProveStopped() {
  Proof proof;
  proof.expected = {{"stopper", {"blocked"}, {}}};
  return proof;
}

absl::StatusOr<ScenarioPlan> PlanFrozen(const ScenarioStage& stage) {
  ScenarioPlan plan = PlanVideo(stage, OneCpu(stage.home));
  ASSIGN_OR_RETURN(const auto group, MakeGroup<FreezerCgroup>(stage, CgroupController::kFreezer));
  plan.cgroup = group;
  plan.injectors.push_back(
      MakeFreezer(OtherCpu(stage), group, kHaltEvery, 2 * kNsPerMs, 20 * kNsPerMs));
  return plan;
}

Proof ProveFrozen() {
  Proof proof;
  proof.expected = {{"freezer", {"blocked"}, {}}};
  return proof;
}

}  // namespace whylate
