#include "userspace/trace/bpf_source.h"

#include <bpf/bpf.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "analysis/model/ids.h"
#include "analysis/model/sched_event.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/capabilities.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/files.h"
#include "userspace/platform/kernel_symbols.h"
#include "userspace/platform/process.h"
#include "userspace/platform/unique_fd.h"
#include "userspace/platform/virtualization.h"
#include "userspace/trace/bpf_programs.h"
#include "userspace/trace/capture_builder.h"
#include "userspace/trace/capture_host.h"
#include "userspace/trace/drain_thread.h"
#include "userspace/trace/record_store.h"
#include "userspace/trace/sleep_stacks.h"
#include "userspace/trace/wire_decoder.h"

namespace whylate {
namespace {

// The kernel's names are read only where there is a stack to name.
SleepStacks ReadSleepStacks(const BpfPrograms& programs) {
  const std::map<uint32_t, std::vector<uint64_t>> stacks = programs.ReadStacks();
  if (stacks.empty()) return {};
  return NameSleepStacks(stacks, KernelSymbols::OfThisKernel());
}

// Whether a steal of 0 means that nothing was stolen: the kernel counts, and the host tells. The
// kernel adds up from its boot on, so a machine that was ever stolen from shows it.
bool HasStealClock(const std::vector<SchedEvent>& events) {
  bool counts = false;
  for (const SchedEvent& event : events) {
    const auto* switched = std::get_if<SwitchEvent>(&event.body);
    if (switched == nullptr || !switched->stolen.steal_ns.has_value()) continue;
    if (*switched->stolen.steal_ns > 0) return true;
    counts = true;
  }
  if (!counts) return false;
  if (KvmOffersStealClock().value_or(false)) return true;
  const std::string cpuinfo = ReadFile("/proc/cpuinfo").value_or("");
  return Virtualization(cpuinfo, "/proc", "/sys", HypervisorSignature()) == "none";
}

class BpfSource final : public TraceSource {
 public:
  absl::Status Start(const TraceOptions& options) override;
  absl::Status Watch(Tgid tgid) override;
  absl::StatusOr<Capture> Stop(const KeepEvents& keep) override;

 private:
  // Into the store, whatever the ring holds.
  void Drain();
  absl::Status SeedTasks();

  TraceOptions options_;
  std::unique_ptr<BpfPrograms> programs_;
  UniqueFd statistics_;  // BPF run times are counted while it is open
  int64_t begin_ns_ = 0;
  int64_t process_cpu_begin_ns_ = 0;

  std::mutex mutex_;  // guards what follows, and the ring
  std::optional<RecordStore> store_;
  absl::Status drain_status_;
  DrainThread reader_;  // the last: it ends before what it uses
};

absl::Status BpfSource::Start(const TraceOptions& options) {
  if (programs_ != nullptr) return absl::FailedPreconditionError("this trace source was started");
  RETURN_IF_ERROR(InInitialPidNamespace("/proc"));
  options_ = options;
  store_.emplace(options.memory_bytes);
  process_cpu_begin_ns_ = ReadClockNs(CLOCK_PROCESS_CPUTIME_ID);
  ASSIGN_OR_RETURN(programs_,
                   BpfPrograms::Load({.buffer_bytes = options.buffer_bytes,
                                      .watch_affinity_calls = options.watch_affinity_calls}));
  for (Tgid tgid : options.watched) RETURN_IF_ERROR(programs_->Watch(tgid));
  if (options.measure_bpf_time) {
    // CAP_SYS_ADMIN alone may; without it the cost is not known, and everything else works.
    statistics_ = UniqueFd(bpf_enable_stats(BPF_STATS_RUN_TIME));
  }
  RETURN_IF_ERROR(programs_->Attach());
  reader_.Start([this] { Drain(); });
  programs_->SetRecording(true);
  WaitForTracers();
  begin_ns_ = MonotonicNs();
  RETURN_IF_ERROR(programs_->SeedCpus());
  return SeedTasks();
}

absl::Status BpfSource::Watch(Tgid tgid) {
  if (programs_ == nullptr)
    return absl::FailedPreconditionError("this trace source is not running");
  RETURN_IF_ERROR(programs_->Watch(tgid));
  return SeedTasks();
}

absl::Status BpfSource::SeedTasks() {
  ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, programs_->ReadTaskSeeds());
  std::lock_guard<std::mutex> lock(mutex_);
  absl::Span<const uint8_t> rest = bytes;
  while (!rest.empty()) {
    ASSIGN_OR_RETURN(const size_t size, FirstRecordSize(rest));
    if (!store_->Append(rest.data(), size)) {
      return absl::ResourceExhaustedError("no memory is left for the list of tasks");
    }
    rest.remove_prefix(size);
  }
  return absl::OkStatus();
}

void BpfSource::Drain() {
  std::lock_guard<std::mutex> lock(mutex_);
  const absl::Status status = programs_->Drain(
      [this](const void* record, size_t size_bytes) { store_->Append(record, size_bytes); });
  if (drain_status_.ok()) drain_status_ = status;
}

absl::StatusOr<Capture> BpfSource::Stop(const KeepEvents& keep) {
  if (!reader_.is_running())
    return absl::FailedPreconditionError("this trace source is not running");
  programs_->SetRecording(false);
  const int64_t end_ns = MonotonicNs();
  programs_->Detach();
  WaitForTracers();
  reader_.Stop();
  Drain();
  RETURN_IF_ERROR(drain_status_);
  const BpfPrograms::Counters counters = programs_->ReadCounters();
  CaptureInput input;
  input.begin_ns = begin_ns_;
  input.end_ns = end_ns;
  input.attempts = counters.attempts;
  input.keep = keep;
  input.keep.all = keep.all || options_.keep_all;
  input.decoder.abi_version = programs_->abi_version();
  input.decoder.possible_cpus = programs_->possible_cpus();
  input.decoder.has_irq_times = programs_->has_irq_times();
  input.decoder.ext_takes_fair = ExtTakesFair();
  input.decoder.irq_names = programs_->ReadIrqNames();
  SleepStacks stacks = ReadSleepStacks(*programs_);
  input.decoder.stacks = std::move(stacks.index_of);
  ASSIGN_OR_RETURN(BuiltCapture built, BuildCapture(*store_, input));

  Capture capture;
  capture.facts.source = "bpf";
  capture.facts.events = built.record_count;
  capture.facts.lost = built.lost_count;
  capture.facts.recursion_misses = counters.recursion_misses;
  capture.facts.has_steal_clock = HasStealClock(built.events);
  capture.facts.has_timers = true;
  capture.begin_ns = begin_ns_;
  capture.end_ns = end_ns;
  capture.events = std::move(built.events);
  capture.losses = std::move(built.losses);
  capture.omitted = std::move(built.omitted);
  capture.stacks = std::move(stacks.names);
  capture.cpus = DescribeCpus(programs_->possible_cpus());
  capture.buffer_bytes = programs_->buffer_bytes();
  capture.captured_bytes = store_->size_bytes();
  capture.cost.reader_cpu_ns = reader_.cpu_ns();
  capture.cost.process_cpu_ns = ReadClockNs(CLOCK_PROCESS_CPUTIME_ID) - process_cpu_begin_ns_;
  if (statistics_.valid()) {
    capture.cost.bpf_run_ns = static_cast<int64_t>(counters.run_ns);
    capture.cost.bpf_runs = counters.run_count;
  }
  programs_.reset();
  store_.reset();
  return capture;
}

}  // namespace

std::unique_ptr<TraceSource> CreateBpfSource() { return std::make_unique<BpfSource>(); }

absl::Status BpfUsable() {
  const absl::StatusOr<Capabilities> mine = ReadCapabilities("/proc");
  if (mine.ok() && !mine->MayLoadBpf()) {
    return absl::PermissionDeniedError(
        "load eBPF programs: this process has neither CAP_BPF with CAP_PERFMON nor CAP_SYS_ADMIN; "
        "run it as root, or give it those capabilities (setcap cap_bpf,cap_perfmon+ep)");
  }
  RETURN_IF_ERROR(InInitialPidNamespace("/proc"));
  return BpfPrograms::Load({.buffer_bytes = 1 << 20}).status();
}

}  // namespace whylate
