// Perfetto traces from anywhere: each is refused with a reason, or gives a recording in order, with
// CPUs that exist; one of our own kind can be written again, and is then read back the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/attribution/explain.h"
#include "analysis/import/perfetto.h"
#include "analysis/model/cpu_set.h"
#include "analysis/report/perfetto_writer.h"

namespace whylate {
namespace {

ImportLimits SmallLimits() {
  ImportLimits limits;
  limits.events = 20'000;
  limits.names = 2'000;
  limits.unpacked_bytes = size_t{1} << 20;
  return limits;
}

void CheckRecording(const Recording& recording) {
  if (!std::is_sorted(recording.events.begin(), recording.events.end(), Before)) abort();
  for (const SchedEvent& event : recording.events) {
    if (event.cpu.value < 0 || event.cpu.value >= CpuSet::kMaxCpus) abort();
  }
}

// Not true of every file that reads: what the analysis asks of times is that they can be subtracted.
bool TimesAreAnalysable(const Recording& recording) {
  const auto is_good = [](int64_t time_ns) { return time_ns >= 0 && time_ns < int64_t{1} << 60; };
  bool good = is_good(recording.begin_ns) && is_good(recording.end_ns) &&
              is_good(recording.frames.origin_ns) && recording.begin_ns <= recording.end_ns;
  for (const SchedEvent& event : recording.events) {
    good = good && is_good(event.time_ns);
    if (const auto* switched = std::get_if<SwitchEvent>(&event.body)) {
      good = good && is_good(switched->prev_arrival_ns.value_or(0)) &&
             is_good(switched->next_queued_ns.value_or(0)) &&
             is_good(switched->stolen.irq_ns.value_or(0)) &&
             is_good(switched->stolen.softirq_ns.value_or(0)) &&
             is_good(switched->stolen.steal_ns.value_or(0));
    }
    if (const auto* timer = std::get_if<TimerStartEvent>(&event.body)) {
      good = good && is_good(timer->expires_ns);
    }
    if (const auto* timer = std::get_if<TimerExpireEvent>(&event.body)) {
      good = good && is_good(timer->expires_ns) && is_good(timer->now_ns);
    }
  }
  int64_t last_ns = recording.frames.origin_ns;
  for (const Frame& frame : recording.frames.frames) {
    good = good && is_good(frame.release_ns) && frame.release_ns <= frame.start_ns &&
           frame.start_ns <= frame.completion_ns && last_ns <= frame.completion_ns &&
           is_good(frame.completion_ns) && is_good(frame.cpu_ns) && is_good(frame.demand_ns) &&
           frame.index >= 0;
    last_ns = frame.completion_ns;
  }
  for (const LossInterval& loss : recording.losses) {
    good = good && is_good(loss.begin_ns) && is_good(loss.end_ns);
  }
  for (const OmittedInterval& omitted : recording.omitted) {
    good = good && is_good(omitted.begin_ns) && is_good(omitted.end_ns);
  }
  return good;
}

}  // namespace
}  // namespace whylate

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace whylate;  // NOLINT(google-build-using-namespace): an entry point, no header
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<ImportedTrace> trace = ImportPerfetto(bytes, SmallLimits());
  if (!trace.ok()) {
    if (trace.status().message().empty()) abort();
    return 0;
  }
  CheckRecording(trace->recording);
  if (!trace->has_frames) return 0;
  const std::string written = RecordingToPerfetto(trace->recording, nullptr);
  const absl::StatusOr<ImportedTrace> again = ImportPerfetto(written, ImportLimits());
  if (!again.ok() || !again->notes.empty()) abort();
  if (again->recording.events != trace->recording.events) abort();
  if (RecordingToPerfetto(again->recording, nullptr) != written) abort();
  if (TimesAreAnalysable(trace->recording)) Explain(trace->recording);
  return 0;
}
