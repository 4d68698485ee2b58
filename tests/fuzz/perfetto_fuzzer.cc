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
  if (HasUsableTimes(trace->recording)) Explain(trace->recording);
  return 0;
}
