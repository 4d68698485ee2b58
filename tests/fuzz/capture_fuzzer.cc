// Records as no kernel would write them: each is refused or decoded, and whatever events come of it,
// the explanation of a late frame among them still tiles its time and its waits.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "analysis/attribution/explain.h"
#include "bpf/sched_event.h"
#include "tests/support/explanation_checks.h"
#include "userspace/trace/wire_decoder.h"

namespace whylate {
namespace {

constexpr int64_t kReleaseNs = 1000;
constexpr int64_t kCompletionNs = 60000;
constexpr int32_t kWatched = 1;

std::vector<SchedEvent> DecodeAll(absl::Span<const uint8_t> bytes) {
  WireDecoderOptions options;
  options.abi_version = WHYLATE_ABI_VERSION;
  options.possible_cpus = 4;
  WireDecoder decoder = WireDecoder::Create(options).value();
  std::vector<SchedEvent> events;
  uint64_t sequence = 0;
  while (!bytes.empty()) {
    const absl::StatusOr<size_t> size = FirstRecordSize(bytes);
    if (!size.ok() || *size == 0 || *size > bytes.size()) break;
    if (!decoder.Decode(bytes.first(*size), ++sequence, &events).ok()) break;
    bytes.remove_prefix(*size);
  }
  // With 64 bits of time and 16 of CPU any window would be an empty place: fold them around it.
  for (SchedEvent& event : events) {
    event.time_ns &= 0xffff;
    event.cpu.value &= 3;
  }
  std::stable_sort(events.begin(), events.end(), Before);
  return events;
}

Recording MakeRecording(std::vector<SchedEvent> events) {
  Recording recording;
  recording.frames.period = {20000, 1};
  recording.frames.origin_ns = kReleaseNs;
  recording.frames.end_ns = 100000;
  recording.frames.frames = {{0, kReleaseNs, kReleaseNs, kCompletionNs, 5000, 5000}};
  recording.watched = Tid{kWatched};
  recording.end_ns = 65536;
  recording.trace = TraceFacts{.source = "fuzz", .events = events.size()};
  recording.roles = {{Tgid{kWatched}, {RoleKind::kWorkload, ""}}};
  for (int32_t cpu = 0; cpu < 4; ++cpu) recording.cpus.push_back({.cpu = CpuId{cpu}});
  recording.events = std::move(events);
  return recording;
}

}  // namespace
}  // namespace whylate

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const whylate::Recording recording = whylate::MakeRecording(whylate::DecodeAll({data, size}));
  const whylate::Explanation explanation = whylate::Explain(recording);
  if (!whylate::BrokenInvariants(recording.frames, explanation).empty()) abort();
  return 0;
}
