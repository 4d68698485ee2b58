#include "userspace/selftest/scenario.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "analysis/attribution/explain.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/cpu_ticks.h"
#include "userspace/platform/scheduling.h"
#include "userspace/selftest/forked_process.h"
#include "userspace/session/cell_trace.h"
#include "userspace/workload/frame_chain.h"
#include "userspace/workload/frame_log.h"

namespace whylate {
namespace {

constexpr int64_t kSettleNs = 200 * kNsPerMs;
constexpr int64_t kGracePeriods = 10;
constexpr int64_t kPatienceNs = kNsPerSecond;
// Time of a CPU is counted at its next tick, and a part of one is not.
constexpr int64_t kUnseenTicks = 2;

class Performance {
 public:
  Performance(const ScenarioPlan& plan, const ScenarioStage& stage) : plan_(plan), stage_(stage) {}
  ~Performance() { EndProcesses(); }
  Performance(const Performance&) = delete;
  Performance& operator=(const Performance&) = delete;

  absl::StatusOr<ScenarioRun> Run(ScenarioWatcher* watcher) {
    RETURN_IF_ERROR(StartWorkload());
    for (const Injector& injector : plan_.injectors) RETURN_IF_ERROR(StartInjector(injector));
    RETURN_IF_ERROR(workload_->AwaitReady());
    for (const ForkedProcess& process : processes_) RETURN_IF_ERROR(process.AwaitReady());
    for (size_t i = 0; i < processes_.size(); ++i) {
      run_.injections[i].threads = processes_[i].Threads();
    }
    if (plan_.cgroup != nullptr) RETURN_IF_ERROR(plan_.cgroup->AddProcess(workload_->tgid()));
    ASSIGN_OR_RETURN(run_.recording.allowed_before, GetAffinity(workload_->tid()));
    RETURN_IF_ERROR(Measure(watcher));
    FillRecording();
    if (watcher != nullptr) RETURN_IF_ERROR(watcher->OnFrames(run_.recording));
    RETURN_IF_ERROR(trace_->Finish(run_.recording).status());
    run_.explanation = Explain(run_.recording);
    if (plan_.settle) plan_.settle(run_);
    return std::move(run_);
  }

 private:
  absl::Status StartWorkload() {
    ASSIGN_OR_RETURN(FrameLog log, FrameLog::Create(LogCapacity(plan_.workload, plan_.duration_ns),
                                                    plan_.workload.stages.size()));
    log_ = std::make_unique<FrameLog>(std::move(log));
    ForkedProcess::Settings settings = plan_.workload_settings;
    settings.name = plan_.workload.name;
    const auto body = [this](const Channel& channel) -> absl::Status {
      RETURN_IF_ERROR(log_->Lock());
      RETURN_IF_ERROR(AwaitGo(channel));
      if (plan_.workload.stages.empty()) {
        RunFrames(plan_.workload, plan_.duration_ns, stage_.loops_per_ms, *log_, plan_.body);
      } else {
        ASSIGN_OR_RETURN(const std::unique_ptr<FrameChain> chain,
                         FrameChain::Start(plan_.workload, stage_.loops_per_ms, *log_));
        chain->Run(plan_.duration_ns);
      }
      RETURN_IF_ERROR(channel.Send("done"));
      return channel.Receive().status();
    };
    ASSIGN_OR_RETURN(ForkedProcess process, ForkedProcess::Start(settings, stage_.registry, body));
    workload_ = std::make_unique<ForkedProcess>(std::move(process));
    return absl::OkStatus();
  }

  absl::Status StartInjector(const Injector& injector) {
    ASSIGN_OR_RETURN(StampLog busy, StampLog::Create());
    busy_.push_back(std::make_unique<StampLog>(std::move(busy)));
    const InjectorContext context{busy_.back().get(), log_.get(), plan_.workload.period,
                                  workload_->tid()};
    const auto body = [&](const Channel& channel) -> absl::Status {
      RETURN_IF_ERROR(context.busy->Lock());
      return injector.body(context, channel);
    };
    ASSIGN_OR_RETURN(ForkedProcess process,
                     ForkedProcess::Start(injector.settings, stage_.registry, body));
    processes_.push_back(std::move(process));
    Injection injection;
    injection.name = injector.name;
    injection.subjects = {injector.name};
    injection.means = injector.means;
    injection.is_exclusive = injector.is_exclusive;
    injection.has_stamps = injector.has_stamps;
    run_.injections.push_back(std::move(injection));
    return absl::OkStatus();
  }

  absl::Status Measure(ScenarioWatcher* watcher) {
    SessionOptions options;
    options.source = stage_.source;
    options.buffer_bytes = plan_.buffer_bytes;
    ASSIGN_OR_RETURN(CellTrace trace, CellTrace::Start(options, workload_->tgid()));
    trace_ = std::make_unique<CellTrace>(std::move(trace));
    if (watcher != nullptr) RETURN_IF_ERROR(watcher->OnBegin(workload_->tgid()));
    const std::optional<CpuTicks> ticks_before = ReadCpuTicks();
    for (const ForkedProcess& process : processes_) RETURN_IF_ERROR(process.Go());
    SleepUntilNs(MonotonicNs() + kSettleNs);
    RETURN_IF_ERROR(workload_->Go());
    // A workload that is not done after the grace is ended with a frame that does not count.
    const int64_t grace_ns = plan_.workload.period.Multiple(kGracePeriods);
    absl::Status done = workload_->Await("done", plan_.duration_ns + grace_ns + kPatienceNs);
    if (!done.ok() && !absl::IsDeadlineExceeded(done)) return done;
    ended_ns_ = MonotonicNs();
    if (const std::optional<CpuTicks> ticks = ReadCpuTicks(); ticks && ticks_before) {
      run_.host_ns = ((*ticks - *ticks_before).steal + kUnseenTicks) * kUserTickNs;
    }
    ASSIGN_OR_RETURN(run_.recording.allowed_after, GetAffinity(workload_->tid()));
    FillRoles();
    for (const ForkedProcess& process : processes_) RETURN_IF_ERROR(process.CheckSilent());
    if (watcher != nullptr) RETURN_IF_ERROR(watcher->OnEnd());
    EndProcesses();
    for (size_t i = 0; i < busy_.size(); ++i) {
      run_.injections[i].stamps = busy_[i]->Stamps();
      run_.injections[i].busy = busy_[i]->Stretches();
    }
    return absl::OkStatus();
  }

  // The injectors first, so that none freezes the workload again.
  void EndProcesses() {
    for (ForkedProcess& process : processes_) process.End();
    if (plan_.cgroup != nullptr) ThawCgroup(plan_.cgroup->path());
    if (workload_ != nullptr) workload_->End();
  }

  void FillRoles() {
    std::vector<RoleAssignment>& roles = run_.recording.roles;
    run_.recording.watched = workload_->tid();
    roles.push_back({workload_->tgid(), {RoleKind::kWorkload, ""}});
    for (size_t i = 0; i < processes_.size(); ++i) {
      roles.push_back({processes_[i].tgid(), {RoleKind::kLoad, plan_.injectors[i].name}});
    }
    roles.push_back({Tgid{getpid()}, {RoleKind::kObserver, ""}});
    for (const Tgid observer : stage_.observers) {
      roles.push_back({observer, {RoleKind::kObserver, ""}});
    }
  }

  void FillRecording() {
    Recording& recording = run_.recording;
    recording.workload = plan_.workload.name;
    recording.load = "scenario";
    CellFrames& frames = recording.frames;
    frames.pacing = plan_.workload.pacing;
    frames.period = plan_.workload.period;
    frames.origin_ns = log_->origin_ns();
    frames.end_ns = std::min(frames.origin_ns + plan_.duration_ns, ended_ns_);
    frames.stages = plan_.workload.stages;
    log_->CopyFrames(frames);
  }

  const ScenarioPlan& plan_;
  const ScenarioStage& stage_;
  ScenarioRun run_;
  std::unique_ptr<FrameLog> log_;
  std::vector<std::unique_ptr<StampLog>> busy_;
  // After what they use, so that they end before it.
  std::unique_ptr<ForkedProcess> workload_;
  std::vector<ForkedProcess> processes_;
  std::unique_ptr<CellTrace> trace_;
  int64_t ended_ns_ = 0;
};

}  // namespace

bool Injection::IsCalled(const std::string& subject) const {
  return std::any_of(subjects.begin(), subjects.end(), [&](absl::string_view pattern) {
    return absl::ConsumeSuffix(&pattern, "*") ? absl::StartsWith(subject, pattern)
                                              : subject == pattern;
  });
}

Injection& ScenarioRun::injection(const std::string& name) {
  return *std::find_if(injections.begin(), injections.end(),
                       [&](const Injection& one) { return one.name == name; });
}

absl::StatusOr<ScenarioRun> RunScenario(const ScenarioPlan& plan, const ScenarioStage& stage,
                                        ScenarioWatcher* watcher) {
  return Performance(plan, stage).Run(watcher);
}

}  // namespace whylate
