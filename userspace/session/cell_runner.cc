#include "userspace/session/cell_runner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "analysis/attribution/explain.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/files.h"
#include "userspace/platform/scheduling.h"
#include "userspace/session/stop_signal.h"
#include "userspace/session/sweep.h"
#include "userspace/workload/frame_loop.h"

namespace whylate {
namespace {

constexpr int64_t kReadyTimeoutNs = 120 * kNsPerSecond;
// A frame that is unfinished at the end of the cell may still complete for so many periods.
constexpr int64_t kGracePeriods = 10;
// More CPU time per frame than this off the demand, undisturbed, and the calibration is wrong.
constexpr double kDutyTolerance = 0.02;

// bytes that process `tgid` caused to be read from the disk, /proc/PID/io.
std::optional<int64_t> DiskReadBytes(Tgid tgid) {
  absl::StatusOr<std::string> text = ReadFile(absl::StrCat("/proc/", tgid.value, "/io"));
  if (!text.ok()) return std::nullopt;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    int64_t bytes = 0;
    if (absl::ConsumePrefix(&line, "read_bytes: ") && absl::SimpleAtoi(line, &bytes)) return bytes;
  }
  return std::nullopt;
}

std::optional<CpuSet> AffinityOf(Tid tid) {
  absl::StatusOr<CpuSet> cpus = GetAffinity(tid);
  if (!cpus.ok()) return std::nullopt;
  return *cpus;
}

}  // namespace

std::string CellPlan::title() const {
  const std::string title = absl::StrCat(workload.name, "/", load);
  return run == 0 ? title : absl::StrCat(title, " #", run + 1);
}

absl::StatusOr<Cell> CellRunner::Run() {
  absl::Status end;
  for (const LoadRow* row : plan_.parts) {
    if (end.ok()) end = StartLoad(*row);
  }
  if (end.ok()) end = StartWorkload();
  if (end.ok()) end = AwaitReady();
  if (end.ok()) {
    ReadAffinity(allowed_before_, &Stage::allowed_before);
    RETURN_IF_ERROR(StartTrace());
    for (const RunningLoad& load : loads_) end.Update(LetGo(*load.child));
  }
  if (end.ok()) end = Watch(MonotonicNs() + kSettleNs, false);
  if (end.ok()) end = Measure();
  ended_ns_ = MonotonicNs();
  if (workload_ != nullptr) ReadAffinity(allowed_after_, &Stage::allowed_after);
  EndChildren();
  if (StopRequested()) return absl::CancelledError("stopped");
  return FinishCell(end);
}

absl::Status CellRunner::StartLoad(const LoadRow& row) {
  RunningLoad& load = loads_.emplace_back();
  load.row = &row;
  ASSIGN_OR_RETURN(load.file, environment_.files->Prepare(row.file));
  const int32_t threads = row.thread_count(environment_.load_threads);
  ASSIGN_OR_RETURN(ProgressCounters progress,
                   ProgressCounters::Create(static_cast<size_t>(threads)));
  load.progress = std::move(progress);
  load.part.load = row.name;
  load.part.unit = row.unit;
  load.part.thread_count = threads;

  ChildProcess::Request request;
  request.label = absl::StrCat("load ", row.name);
  request.run_id = environment_.run_id;
  request.shared_fd = load.progress->fd();
  request.extra_fd = load.file.fd;
  request.spec.kind = ChildKind::kLoad;
  request.spec.cpus = environment_.options.cpus;
  request.spec.nice = environment_.options.load_nice;
  LoadSettings& settings = request.spec.load;
  settings.name = row.name;
  settings.threads = environment_.load_threads;
  settings.loops_per_ms = environment_.loops_per_ms;
  settings.values = {environment_.options.cpu_percent, environment_.options.interval_us};
  settings.command = environment_.options.load_command;
  settings.file_bytes = load.file.size_bytes;
  if (row.file == LoadFile::kMapped) {
    ASSIGN_OR_RETURN(const LoadFileSizes sizes, environment_.files->Sizes());
    settings.memory_bytes = sizes.anonymous_bytes;
  }
  ASSIGN_OR_RETURN(load.child, ChildProcess::Start(request, environment_.registry));
  if (row.file == LoadFile::kMapped) RETURN_IF_ERROR(EnterMemoryCgroup(*load.child));
  return load.child->Begin();
}

absl::Status CellRunner::EnterMemoryCgroup(ChildProcess& child) {
  ASSIGN_OR_RETURN(const LoadFileSizes sizes, environment_.files->Sizes());
  ASSIGN_OR_RETURN(const CgroupSite site, FindCgroupSite(CgroupController::kMemory));
  ASSIGN_OR_RETURN(cgroup_registration_, environment_.registry->AddCgroup(
                                             MemoryCgroup::PathOf(site, environment_.run_id)));
  absl::StatusOr<MemoryCgroup> cgroup =
      MemoryCgroup::Create(site, environment_.run_id, sizes.memory_limit_bytes);
  if (!cgroup.ok()) {
    return absl::Status(cgroup.status().code(),
                        absl::StrCat("memload needs a memory cgroup of its own, so that it cannot "
                                     "exhaust the machine; run as root (",
                                     cgroup.status().message(), ")"));
  }
  cgroup_.emplace(*std::move(cgroup));
  return cgroup_->AddProcess(child.tgid());
}

absl::Status CellRunner::StartWorkload() {
  const int64_t duration_ns = environment_.options.duration_ns;
  stages_ = plan_.workload.stages;
  ASSIGN_OR_RETURN(FrameLog log,
                   FrameLog::Create(LogCapacity(plan_.workload, duration_ns), stages_.size()));
  log_.emplace(std::move(log));
  ChildProcess::Request request;
  request.label = absl::StrCat("workload ", plan_.workload.name);
  request.run_id = environment_.run_id;
  request.shared_fd = log_->fd();
  request.spec.kind = ChildKind::kWorkload;
  request.spec.cpus = environment_.options.cpus;
  request.spec.nice = environment_.options.bench_nice;
  request.spec.workload = plan_.workload.name;
  request.spec.duration_ns = duration_ns;
  request.spec.load.loops_per_ms = environment_.loops_per_ms;
  request.spec.load.values = {environment_.options.cpu_percent, environment_.options.interval_us};
  ASSIGN_OR_RETURN(workload_, ChildProcess::Start(request, environment_.registry));
  return workload_->Begin();
}

void CellRunner::ReadAffinity(std::optional<CpuSet>& of_first,
                              std::optional<CpuSet> Stage::*of_others) {
  of_first = AffinityOf(Tid{workload_->tgid().value});
  for (size_t i = 1; i < stages_.size(); ++i) {
    const Tid tid = log_->stage_tid(i);
    // Not started: 0 would be this process.
    if (tid.value != 0) stages_[i].*of_others = AffinityOf(tid);
  }
}

std::vector<ChildProcess*> CellRunner::Children() {
  std::vector<ChildProcess*> children;
  for (RunningLoad& load : loads_) {
    if (load.child != nullptr) children.push_back(load.child.get());
  }
  if (workload_ != nullptr) children.push_back(workload_.get());
  return children;
}

absl::Status CellRunner::AwaitReady() {
  const int64_t until_ns = MonotonicNs() + kReadyTimeoutNs;
  for (ChildProcess* child : Children()) {
    while (true) {
      pollfd polled = {child->channel().fd(), POLLIN, 0};
      if (!WaitFor(&polled, 1, until_ns)) {
        if (StopRequested()) return absl::CancelledError("stopped");
        return absl::DeadlineExceededError(
            absl::StrCat(child->label(), " was not ready within 120 s"));
      }
      absl::StatusOr<std::string> message = child->channel().Receive();
      if (message.ok() && *message == "ready") break;
      // Not `ok ? *message : ""`, which is a temporary string.
      absl::string_view text;
      if (message.ok()) text = *message;
      if (absl::ConsumePrefix(&text, "note ")) {
        notes_.emplace_back(text);
      } else if (absl::ConsumePrefix(&text, "error ")) {
        return absl::AbortedError(absl::StrCat(child->label(), " could not start: ", text));
      } else {
        return absl::AbortedError(absl::StrCat(DescribeEnd(*child), " before it was ready"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CellRunner::StartTrace() {
  if (environment_.options.source == "none") return absl::OkStatus();
  ASSIGN_OR_RETURN(CellTrace trace, CellTrace::Start(environment_.options, workload_->tgid()));
  trace_.emplace(std::move(trace));
  return absl::OkStatus();
}

std::string CellRunner::DescribeEnd(ChildProcess& child) {
  const int64_t until_ns = MonotonicNs() + kNsPerSecond;
  while (!child.CheckEnd() && MonotonicNs() < until_ns) SleepUntilNs(MonotonicNs() + kNsPerMs);
  return absl::StrCat(child.label(), " ", child.CheckEnd().value_or("stopped answering"));
}

absl::Status CellRunner::LetGo(ChildProcess& child) {
  if (child.channel().Send("go").ok()) return absl::OkStatus();
  return absl::AbortedError(DescribeEnd(child));
}

absl::Status CellRunner::HandleMessage(ChildProcess& child) {
  absl::StatusOr<std::optional<std::string>> received = child.channel().ReceiveNow();
  if (received.ok() && !*received) return absl::OkStatus();
  if (received.ok() && **received == "done") {
    workload_done_ = true;
    return absl::OkStatus();
  }
  absl::string_view text;
  if (received.ok()) text = **received;
  // Ctrl-C and kill reach the whole process group: give our own signal a moment to arrive.
  WaitFor(nullptr, 0, MonotonicNs() + 20 * kNsPerMs);
  if (StopRequested()) return absl::CancelledError("stopped");
  if (absl::ConsumePrefix(&text, "error ")) {
    return absl::AbortedError(absl::StrCat(child.label(), " ended: ", text));
  }
  return absl::AbortedError(DescribeEnd(child));
}

absl::Status CellRunner::Watch(int64_t time_ns, bool until_done) {
  const std::vector<ChildProcess*> children = Children();
  std::vector<pollfd> polled;
  for (const ChildProcess* child : children) polled.push_back({child->channel().fd(), POLLIN, 0});
  while (true) {
    // A workload that is done may go; everyone else's end is a failure.
    if (workload_done_) polled.back().fd = -1;
    if (until_done && workload_done_) return absl::OkStatus();
    if (!WaitFor(polled.data(), polled.size(), time_ns)) break;
    for (size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].revents != 0) RETURN_IF_ERROR(HandleMessage(*children[i]));
    }
  }
  return StopRequested() ? absl::CancelledError("stopped") : absl::OkStatus();
}

absl::Status CellRunner::Measure() {
  RETURN_IF_ERROR(LetGo(*workload_));
  const int64_t sent_ns = MonotonicNs();
  while (log_->origin_ns() == 0) {
    RETURN_IF_ERROR(Watch(MonotonicNs() + kNsPerMs, false));
    if (MonotonicNs() > sent_ns + kReadyTimeoutNs) {
      return absl::DeadlineExceededError("the workload's thread did not get a CPU within 120 s");
    }
  }
  origin_ns_ = log_->origin_ns();
  RETURN_IF_ERROR(Watch(origin_ns_, false));
  NoteProgressAtOrigin();
  const int64_t end_ns = origin_ns_ + environment_.options.duration_ns;
  for (int64_t second = 1; origin_ns_ + second * kNsPerSecond <= end_ns; ++second) {
    RETURN_IF_ERROR(Watch(origin_ns_ + second * kNsPerSecond, false));
    NoteProgressOfSecond();
  }
  RETURN_IF_ERROR(Watch(end_ns, false));
  NoteProgressAtEnd();
  return Watch(end_ns + plan_.workload.period.Multiple(kGracePeriods), true);
}

uint64_t CellRunner::ReadProgress(const RunningLoad& load) const {
  if (load.row->progress == ProgressSource::kTreeCpuTime) {
    return DescendantsCpuMs(load.child->tgid());
  }
  return load.progress->Sum();
}

std::optional<int64_t> CellRunner::ReadDisk(const RunningLoad& load) const {
  if (load.row->file == LoadFile::kRead) return DiskReadBytes(load.child->tgid());
  if (load.row->file == LoadFile::kWrite) return environment_.files->DeviceWrittenBytes();
  return std::nullopt;
}

void CellRunner::NoteProgressAtOrigin() {
  for (RunningLoad& load : loads_) {
    load.at_origin = ReadProgress(load);
    load.disk_at_origin = ReadDisk(load).value_or(0);
  }
  if (cgroup_) reclaims_at_origin_ = cgroup_->ReclaimCount().value_or(0);
}

void CellRunner::NoteProgressOfSecond() {
  for (RunningLoad& load : loads_) {
    const uint64_t total = ReadProgress(load) - load.at_origin;
    load.part.per_second.push_back(total - load.part.total);
    load.part.total = total;
  }
}

void CellRunner::NoteProgressAtEnd() {
  for (RunningLoad& load : loads_) {
    load.part.total = ReadProgress(load) - load.at_origin;
    if (const std::optional<int64_t> disk = ReadDisk(load)) {
      load.part.disk_bytes = *disk - load.disk_at_origin;
    }
  }
}

void CellRunner::EndChildren() {
  if (workload_ != nullptr) workload_->End(false);
  bool had_tree = false;
  for (RunningLoad& load : loads_) {
    if (load.child == nullptr) continue;
    const bool has_tree = load.row->progress == ProgressSource::kTreeCpuTime;
    load.child->End(has_tree);
    had_tree = had_tree || has_tree;
  }
  // Where someone killed the process that keeps a tree, the tree is still there.
  if (had_tree) EndProcessesOfRun(environment_.run_id);
}

void CellRunner::CopyFrames(CellFrames& frames) const {
  frames.pacing = plan_.workload.pacing;
  frames.period = plan_.workload.period;
  frames.origin_ns = origin_ns_;
  frames.end_ns = std::min(origin_ns_ + environment_.options.duration_ns, ended_ns_);
  frames.end_ns = std::max(frames.end_ns, frames.origin_ns);
  frames.stages = stages_;
  log_->CopyFrames(frames);
}

absl::StatusOr<Cell> CellRunner::FinishCell(const absl::Status& end) {
  Cell cell;
  cell.workload = plan_.workload.name;
  cell.load = plan_.load;
  cell.run = plan_.run;
  cell.title = plan_.workload.title;
  cell.notes = notes_;
  if (!end.ok()) cell.invalid.emplace_back(end.message());
  if (!plan_.parts.empty()) {
    cell.load_progress.emplace();
    for (const RunningLoad& load : loads_) cell.load_progress->parts.push_back(load.part);
  }
  if (origin_ns_ == 0) {
    cell.frames.pacing = plan_.workload.pacing;
    cell.frames.period = plan_.workload.period;
    return cell;
  }
  CopyFrames(cell.frames);
  absl::StatusOr<FrameCounts> counts = CountFrames(cell.frames);
  if (counts.ok()) {
    cell.counts = *counts;
    cell.classic = ComputeClassic(cell.frames, *counts);
  } else {
    cell.invalid.emplace_back(counts.status().message());
  }
  ASSIGN_OR_RETURN(Recording recording, Explain(cell));
  if (end.ok()) Stamp(cell);
  if (trace_ && environment_.options.record != "none") Record(recording, cell);
  return cell;
}

std::vector<RoleAssignment> CellRunner::Roles() const {
  std::vector<RoleAssignment> roles = {{workload_->tgid(), {RoleKind::kWorkload, ""}}};
  for (const RunningLoad& load : loads_) {
    roles.push_back({load.child->tgid(), {RoleKind::kLoad, load.row->name}});
  }
  for (Tgid observer : environment_.observers) {
    roles.push_back({observer, {RoleKind::kObserver, ""}});
  }
  return roles;
}

absl::StatusOr<Recording> CellRunner::Explain(Cell& cell) {
  Recording recording;
  recording.workload = cell.workload;
  recording.load = cell.load;
  recording.run = cell.run;
  recording.frames = cell.frames;
  recording.watched = Tid{workload_->tgid().value};
  recording.allowed_before = allowed_before_;
  recording.allowed_after = allowed_after_;
  recording.roles = Roles();
  if (trace_) {
    ASSIGN_OR_RETURN(cell.observer, trace_->Finish(recording));
  }
  cell.explanation = whylate::Explain(recording);
  return recording;
}

// The report has the answers; that the events could not be kept is no reason to lose it.
void CellRunner::Record(Recording& recording, Cell& cell) const {
  recording.kernel = environment_.kernel;
  recording.invalid = cell.invalid;
  recording.notes = cell.notes;
  absl::StatusOr<std::string> name =
      environment_.directory->WriteRecording(recording, cell.explanation);
  if (name.ok()) {
    cell.recording = *std::move(name);
  } else {
    cell.notes.push_back(absl::StrCat("no recording: ", name.status().message()));
  }
}

// Says whether each load did what its name says, and the work what it was calibrated to.
void CellRunner::Stamp(Cell& cell) const {
  if (log_->full()) {
    cell.invalid.push_back("the frame log was full before the cell ended: recalibrate");
  }
  const std::optional<double> ratio = cell.classic.cpu_per_demand;
  if (ratio && std::fabs(*ratio - 1) > kDutyTolerance) {
    const std::string text =
        absl::StrFormat("frames took %.1f %% %s CPU time than calibrated",
                        std::fabs(*ratio - 1) * 100, *ratio > 1 ? "more" : "less");
    if (plan_.parts.empty()) {
      cell.invalid.push_back(
          absl::StrCat(text, " on an idle machine: its speed is unsteady; run again"));
    } else {
      cell.notes.push_back(text);
    }
  }
  const std::string not_a_disk = environment_.files->NotADisk();
  for (const RunningLoad& load : loads_) {
    if (load.row->file == LoadFile::kNone) continue;
    if (!not_a_disk.empty()) {
      cell.invalid.push_back(absl::StrCat("the files of load ", load.row->name, " are on ",
                                          not_a_disk, ", not on a disk: give --workdir"));
    } else if (load.part.disk_bytes.value_or(1) == 0) {
      cell.invalid.push_back(absl::StrCat("load ", load.row->name, " moved no byte ",
                                          load.row->file == LoadFile::kRead ? "from" : "to",
                                          " the disk"));
    }
  }
  if (cgroup_ && cgroup_->ReclaimCount().value_or(0) <= reclaims_at_origin_) {
    cell.invalid.push_back("memload never ran into its memory limit: nothing was reclaimed");
  }
}

}  // namespace whylate
