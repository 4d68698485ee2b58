#include "tests/support/scenario.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "analysis/attribution/explain.h"
#include "analysis/model/status_macros.h"
#include "tests/support/forked_process.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/scheduling.h"
#include "userspace/session/cell_trace.h"
#include "userspace/workload/calibration.h"
#include "userspace/workload/frame_chain.h"
#include "userspace/workload/frame_log.h"
#include "userspace/workload/frame_loop.h"

namespace whylate {
namespace {

constexpr int64_t kSettleNs = 200 * kNsPerMs;
constexpr int64_t kGracePeriods = 10;
constexpr int64_t kPatienceNs = kNsPerSecond;

int64_t LoopsPerMs() {
  static const int64_t loops_per_ms = Calibrate(500 * kNsPerMs).loops_per_ms;
  return loops_per_ms;
}

class Performance {
 public:
  explicit Performance(const ScenarioPlan& plan) : plan_(plan) {}

  absl::StatusOr<ScenarioRun> Run() {
    RETURN_IF_ERROR(StartWorkload());
    for (const Injector& injector : plan_.injectors) RETURN_IF_ERROR(StartInjector(injector));
    RETURN_IF_ERROR(workload_->AwaitReady());
    for (const ForkedProcess& process : processes_) RETURN_IF_ERROR(process.AwaitReady());
    for (size_t i = 0; i < processes_.size(); ++i) {
      run_.injections[i].threads = processes_[i].Threads();
    }
    ASSIGN_OR_RETURN(run_.recording.allowed_before, GetAffinity(workload_->tid()));
    RETURN_IF_ERROR(Measure());
    FillRecording();
    RETURN_IF_ERROR(trace_->Finish(run_.recording).status());
    run_.explanation = Explain(run_.recording);
    return std::move(run_);
  }

 private:
  absl::Status StartWorkload() {
    ASSIGN_OR_RETURN(FrameLog log, FrameLog::Create(LogCapacity(plan_.workload, plan_.duration_ns),
                                                    plan_.workload.stages.size()));
    log_ = std::make_unique<FrameLog>(std::move(log));
    ForkedProcess::Settings settings = plan_.workload_settings;
    settings.name = plan_.workload.name;
    const int64_t loops_per_ms = LoopsPerMs();
    const auto body = [&, loops_per_ms](const Channel& channel) -> absl::Status {
      RETURN_IF_ERROR(log_->Lock());
      RETURN_IF_ERROR(AwaitGo(channel));
      if (plan_.workload.stages.empty()) {
        RunFrames(plan_.workload, plan_.duration_ns, loops_per_ms, *log_);
      } else {
        ASSIGN_OR_RETURN(const std::unique_ptr<FrameChain> chain,
                         FrameChain::Start(plan_.workload, loops_per_ms, *log_));
        chain->Run(plan_.duration_ns);
      }
      RETURN_IF_ERROR(channel.Send("done"));
      return channel.Receive().status();
    };
    ASSIGN_OR_RETURN(ForkedProcess process, ForkedProcess::Start(settings, body));
    workload_ = std::make_unique<ForkedProcess>(std::move(process));
    return absl::OkStatus();
  }

  absl::Status StartInjector(const Injector& injector) {
    ASSIGN_OR_RETURN(BusyLog busy, BusyLog::Create());
    busy_.push_back(std::make_unique<BusyLog>(std::move(busy)));
    const InjectorContext context{busy_.back().get(), log_.get(), plan_.workload.period,
                                  workload_->tid()};
    const auto body = [&](const Channel& channel) -> absl::Status {
      RETURN_IF_ERROR(context.busy->Lock());
      return injector.body(context, channel);
    };
    ASSIGN_OR_RETURN(ForkedProcess process, ForkedProcess::Start(injector.settings, body));
    processes_.push_back(std::move(process));
    Injection injection;
    injection.name = injector.name;
    injection.shares_cpu = injector.shares_cpu;
    injection.has_stamps = injector.has_stamps;
    run_.injections.push_back(std::move(injection));
    return absl::OkStatus();
  }

  absl::Status Measure() {
    SessionOptions options;
    options.source = "bpf";
    options.buffer_bytes = plan_.buffer_bytes;
    std::unique_ptr<TracefsWitness> witness;
    if (plan_.with_witness) {
      ASSIGN_OR_RETURN(witness, TracefsWitness::Create());
      RETURN_IF_ERROR(witness->Start());
    }
    ASSIGN_OR_RETURN(CellTrace trace, CellTrace::Start(options, workload_->tgid()));
    trace_ = std::make_unique<CellTrace>(std::move(trace));
    for (const ForkedProcess& process : processes_) RETURN_IF_ERROR(process.Go());
    SleepUntilNs(MonotonicNs() + kSettleNs);
    RETURN_IF_ERROR(workload_->Go());
    // A workload that is not done after the grace is ended with a frame that does not count.
    const int64_t grace_ns = plan_.workload.period.Multiple(kGracePeriods);
    absl::Status done = workload_->Await("done", plan_.duration_ns + grace_ns + kPatienceNs);
    if (!done.ok() && !absl::IsDeadlineExceeded(done)) return done;
    ended_ns_ = MonotonicNs();
    ASSIGN_OR_RETURN(run_.recording.allowed_after, GetAffinity(workload_->tid()));
    FillRoles();
    if (witness != nullptr) {
      ASSIGN_OR_RETURN(run_.witness, witness->Stop());
    }
    workload_->End();
    for (ForkedProcess& process : processes_) process.End();
    for (size_t i = 0; i < busy_.size(); ++i) run_.injections[i].busy = busy_[i]->Intervals();
    return absl::OkStatus();
  }

  void FillRoles() {
    std::vector<RoleAssignment>& roles = run_.recording.roles;
    run_.recording.watched = workload_->tid();
    roles.push_back({workload_->tgid(), {RoleKind::kWorkload, ""}});
    for (size_t i = 0; i < processes_.size(); ++i) {
      roles.push_back({processes_[i].tgid(), {RoleKind::kLoad, plan_.injectors[i].name}});
    }
    roles.push_back({Tgid{getpid()}, {RoleKind::kObserver, ""}});
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
  ScenarioRun run_;
  std::unique_ptr<FrameLog> log_;
  std::vector<std::unique_ptr<BusyLog>> busy_;
  // After what they use, so that they end before it.
  std::unique_ptr<ForkedProcess> workload_;
  std::vector<ForkedProcess> processes_;
  std::unique_ptr<CellTrace> trace_;
  int64_t ended_ns_ = 0;
};

}  // namespace

absl::StatusOr<ScenarioRun> RunScenario(const ScenarioPlan& plan) {
  return Performance(plan).Run();
}

}  // namespace whylate
