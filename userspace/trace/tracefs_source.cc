#include "userspace/trace/tracefs_source.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "analysis/import/prev_state.h"
#include "analysis/model/cpu_set.h"
#include "analysis/model/ids.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/cpu_quota.h"
#include "userspace/platform/files.h"
#include "userspace/platform/kernel_symbols.h"
#include "userspace/platform/mounts.h"
#include "userspace/platform/process.h"
#include "userspace/platform/scheduling.h"
#include "userspace/trace/affinity_calls.h"
#include "userspace/trace/capture_host.h"
#include "userspace/trace/drain_thread.h"
#include "userspace/trace/ftrace_capture.h"
#include "userspace/trace/ftrace_page_store.h"
#include "userspace/trace/known_tasks.h"
#include "userspace/trace/tracefs_buffer.h"

namespace whylate {
namespace {

constexpr size_t kMostWatched = 32;
constexpr int64_t kCallBufferBytes = int64_t{256} << 10;
// A CPU may be kept from the helper by a real-time task; the others' seeds are worth having.
constexpr std::chrono::milliseconds kHopPatience(200);

std::string KernelRelease() {
  utsname names = {};
  return uname(&names) == 0 ? names.release : "";
}

// Fair tasks may stay queued while they sleep (EEVDF's delayed dequeue).
bool DelaysDequeue(const std::string& release) {
  const std::vector<std::string> parts = absl::StrSplit(release, absl::MaxSplits('.', 2));
  int major = 0;
  int minor = 0;
  if (parts.size() < 2 || !absl::SimpleAtoi(parts[0], &major) ||
      !absl::SimpleAtoi(parts[1].substr(0, parts[1].find_first_not_of("0123456789")), &minor)) {
    return true;
  }
  return major > 6 || (major == 6 && minor >= 12);
}

TracefsBufferOptions SchedBuffer(const TraceOptions& options) {
  TracefsBufferOptions buffer;
  buffer.events = FtraceSchedEvents();
  buffer.bytes = options.buffer_bytes;
  // The kernel's other timers are many, and of no interest.
  const std::optional<uint64_t> sleeper = KernelSymbols::OfThisKernel().AddressOf("hrtimer_wakeup");
  const std::string filter =
      sleeper ? absl::StrCat("function == 0x", absl::Hex(*sleeper)) : std::string();
  buffer.filters[FtraceKind::kStop] = absl::StrCat("sig >= ", SIGSTOP, " && sig <= ", SIGTTOU);
  buffer.filters[FtraceKind::kTimerStart] = filter;
  buffer.filters[FtraceKind::kTimerExpire] = filter;
  if (!sleeper) buffer.filters[FtraceKind::kTimerSetup] = "";
  return buffer;
}

TracefsBufferOptions CallBuffer() {
  TracefsBufferOptions buffer;
  buffer.events = FtraceCallEvents();
  buffer.bytes = kCallBufferBytes * sysconf(_SC_NPROCESSORS_CONF);
  const std::string filter = absl::StrCat("id == ", SYS_sched_setaffinity);
  buffer.filters[FtraceKind::kCallEnter] = filter;
  buffer.filters[FtraceKind::kCallExit] = filter;
  return buffer;
}

// What each clock of timers is ahead of CLOCK_MONOTONIC.
FtraceTimers::ClockOffsets ReadClockOffsets() {
  FtraceTimers::ClockOffsets offsets;
  for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_TAI}) {
    const int64_t before_ns = MonotonicNs();
    const int64_t now_ns = ReadClockNs(clock);
    offsets[clock] = now_ns - (before_ns + MonotonicNs()) / 2;
  }
  return offsets;
}

// Those that stayed the same, as far as reading them is exact.
FtraceTimers::ClockOffsets SteadyOffsets(FtraceTimers::ClockOffsets begin,
                                         const FtraceTimers::ClockOffsets& end) {
  constexpr int64_t kExactNs = 100'000;
  for (auto offset = begin.begin(); offset != begin.end();) {
    const auto other = end.find(offset->first);
    const bool steady = other != end.end() && std::abs(other->second - offset->second) <= kExactNs;
    offset = steady ? std::next(offset) : begin.erase(offset);
  }
  return begin;
}

// A thread that runs on each CPU once: the switches tell what ran there when the recording began.
class CpuHops {
 public:
  ~CpuHops() { Join(); }
  void Start() {
    std::promise<void> done;
    done_ = done.get_future();
    thread_ = std::thread([this, done = std::move(done)]() mutable {
      SetThreadName("whylate-hop");
      tid_ = gettid();
      const int64_t cpus = sysconf(_SC_NPROCESSORS_CONF);
      for (int32_t cpu = 0; cpu < cpus && !stopping_; ++cpu) {
        CpuSet one;
        one.Add(CpuId{cpu});
        // An offline CPU, or one that is not for us, stays unknown until its first switch.
        (void)SetAffinity(one);
      }
      done.set_value();
    });
    done_.wait_for(kHopPatience);
  }
  // A CPU that a real-time task never leaves is left to it: the caller's are good enough to end on.
  void Join() {
    if (!thread_.joinable()) return;
    stopping_ = true;
    const absl::StatusOr<CpuSet> own = GetAffinity(Tid{0});
    // Again where it was about to go to one.
    while (done_.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
      if (tid_ != 0 && own.ok()) (void)SetAffinityOf(Tid{tid_}, *own);
    }
    thread_.join();
  }

 private:
  std::thread thread_;
  std::future<void> done_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int32_t> tid_ = 0;
};

class TracefsSource final : public TraceSource {
 public:
  absl::Status Start(const TraceOptions& options) override;
  absl::Status Watch(Tgid tgid) override;
  absl::StatusOr<Capture> Stop(const KeepEvents& keep) override;

 private:
  absl::Status CreateBuffers();
  void Drain();
  bool IsWatched(Tid task) const;
  void MarkQuotas();
  FtraceCaptureInput Input(int64_t end_ns, const KeepEvents& keep);

  TraceOptions options_;
  std::unique_ptr<TracefsBuffer> buffer_;
  std::unique_ptr<TracefsBuffer> call_buffer_;  // nullptr: calls are not watched
  FtraceTimers::ClockOffsets offsets_ns_;       // when the recording began
  std::vector<KnownTask> tasks_;
  int64_t begin_ns_ = 0;
  int64_t process_cpu_begin_ns_ = 0;

  std::mutex mutex_;  // guards what follows, and the buffers
  std::vector<Tgid> watched_;
  std::optional<FtracePageStore> store_;
  std::optional<AffinityCalls> calls_;
  absl::Status drain_status_;
  CpuHops hops_;
  DrainThread reader_;  // the last: it ends before what it uses
};

absl::Status TracefsSource::CreateBuffers() {
  ASSIGN_OR_RETURN(buffer_, TracefsBuffer::Create(SchedBuffer(options_)));
  store_.emplace(buffer_->layout(), options_.memory_bytes);
  if (!options_.watch_affinity_calls) return absl::OkStatus();
  ASSIGN_OR_RETURN(call_buffer_, TracefsBuffer::Create(CallBuffer()));
  const bool has_calls =
      call_buffer_->Records(FtraceKind::kCallEnter) && call_buffer_->Records(FtraceKind::kCallExit);
  if (!has_calls) {
    call_buffer_.reset();
    return absl::OkStatus();
  }
  calls_.emplace(&call_buffer_->formats(), call_buffer_->layout());
  return call_buffer_->SetRecording(true);
}

absl::Status TracefsSource::Start(const TraceOptions& options) {
  if (buffer_ != nullptr) return absl::FailedPreconditionError("this trace source was started");
  if (options.buffer_bytes <= 0) {
    return absl::InvalidArgumentError("a trace buffer needs a size above 0");
  }
  RETURN_IF_ERROR(InInitialPidNamespace("/proc"));
  options_ = options;
  process_cpu_begin_ns_ = ReadClockNs(CLOCK_PROCESS_CPUTIME_ID);
  for (const Tgid tgid : options.watched) RETURN_IF_ERROR(Watch(tgid));
  RETURN_IF_ERROR(CreateBuffers());
  offsets_ns_ = ReadClockOffsets();
  reader_.Start([this] { Drain(); });
  RETURN_IF_ERROR(buffer_->SetRecording(true));
  WaitForTracers();
  begin_ns_ = MonotonicNs();
  hops_.Start();
  tasks_ = ReadKnownTasks("/proc");
  MarkQuotas();
  return absl::OkStatus();
}

absl::Status TracefsSource::Watch(Tgid tgid) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (std::find(watched_.begin(), watched_.end(), tgid) != watched_.end()) return absl::OkStatus();
  if (watched_.size() >= kMostWatched) {
    return absl::ResourceExhaustedError(
        absl::StrCat("watch process ", tgid.value, ": ", watched_.size(), " are watched already"));
  }
  watched_.push_back(tgid);
  return absl::OkStatus();
}

bool TracefsSource::IsWatched(Tid task) const {
  return std::any_of(watched_.begin(), watched_.end(), [&](Tgid tgid) {
    return access(absl::StrCat("/proc/", tgid.value, "/task/", task.value).c_str(), F_OK) == 0;
  });
}

void TracefsSource::Drain() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (call_buffer_ != nullptr) {
    drain_status_.Update(call_buffer_->Drain(
        [this](CpuId cpu, absl::Span<const uint8_t> page) { calls_->Take(cpu, page); }));
    calls_->ReadMasks([this](Tid task) { return IsWatched(task); }, GetAffinity);
  }
  drain_status_.Update(buffer_->Drain(
      [this](CpuId cpu, absl::Span<const uint8_t> page) { store_->Add(cpu, page); }));
}

// A quota that is there when the recording begins, or when it ends.
void TracefsSource::MarkQuotas() {
  const CgroupLayout layout = ReadCgroupLayout(ReadMounts("/proc"));
  if (!layout.cpu.has_value()) return;
  const absl::flat_hash_set<Tid> limited = TasksUnderCpuQuota(*layout.cpu);
  for (KnownTask& task : tasks_) task.has_quota = task.has_quota || limited.contains(task.tid);
}

FtraceCaptureInput TracefsSource::Input(int64_t end_ns, const KeepEvents& keep) {
  FtraceCaptureInput input;
  input.begin_ns = begin_ns_;
  input.end_ns = end_ns;
  input.keep = keep;
  input.keep.all = keep.all || options_.keep_all;
  const std::string release = KernelRelease();
  input.delays_dequeue = DelaysDequeue(release);
  input.decoder.layout = LayoutOfKernel(release).value_or(StateLayout::kFlags);
  input.decoder.ext_takes_fair = ExtTakesFair();
  input.decoder.has_irq_times =
      buffer_->Records(FtraceKind::kHardExit) && buffer_->Records(FtraceKind::kSoftExit);
  input.decoder.cpu_hierarchy = CpuHierarchy(ReadFile("/proc/cgroups").value_or(""));
  input.decoder.watched = watched_;
  input.decoder.tasks = tasks_;
  input.decoder.offsets_ns = SteadyOffsets(offsets_ns_, ReadClockOffsets());
  if (calls_.has_value()) input.others = calls_->Finish();
  return input;
}

absl::StatusOr<Capture> TracefsSource::Stop(const KeepEvents& keep) {
  if (!reader_.is_running())
    return absl::FailedPreconditionError("this trace source is not running");
  const int64_t end_ns = MonotonicNs();
  RETURN_IF_ERROR(buffer_->SetRecording(false));
  WaitForTracers();
  reader_.Stop();
  hops_.Join();
  Drain();
  RETURN_IF_ERROR(drain_status_);
  MarkQuotas();
  FtraceCaptureInput input = Input(end_ns, keep);
  ASSIGN_OR_RETURN(input.lost, buffer_->ReadLost());
  BuiltCapture built = BuildFtraceCapture(*store_, buffer_->formats(), input);

  Capture capture;
  capture.facts.source = "tracefs";
  capture.facts.events = built.record_count;
  capture.facts.lost = built.lost_count;
  capture.facts.has_timers =
      buffer_->Records(FtraceKind::kTimerExpire) && buffer_->Records(FtraceKind::kTimerSetup);
  capture.begin_ns = begin_ns_;
  capture.end_ns = end_ns;
  capture.events = std::move(built.events);
  capture.losses = std::move(built.losses);
  capture.omitted = std::move(built.omitted);
  capture.cpus = DescribeCpus(buffer_->cpu_count());
  capture.buffer_bytes = buffer_->buffer_bytes();
  capture.captured_bytes = store_->size_bytes();
  capture.cost.reader_cpu_ns = reader_.cpu_ns();
  capture.cost.process_cpu_ns = ReadClockNs(CLOCK_PROCESS_CPUTIME_ID) - process_cpu_begin_ns_;
  calls_.reset();
  call_buffer_.reset();
  store_.reset();
  buffer_.reset();
  return capture;
}

}  // namespace

std::unique_ptr<TraceSource> CreateTracefsSource() { return std::make_unique<TracefsSource>(); }

}  // namespace whylate
