// Trace pages as no kernel would write them: whatever events come of them, the explanation of a late
// frame among them still tiles its time and its waits.
//
// The input is a sequence of pages, each behind a byte for its CPU and two for its length.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "analysis/attribution/explain.h"
#include "tests/support/explanation_checks.h"
#include "tests/support/made_ftrace.h"
#include "userspace/trace/affinity_calls.h"
#include "userspace/trace/ftrace_capture.h"

namespace whylate {
namespace {

constexpr int64_t kReleaseNs = 1000;
constexpr int64_t kCompletionNs = 60000;
constexpr int32_t kWatched = 1;
constexpr int64_t kEndNs = 65536;

struct FuzzedPage {
  CpuId cpu;
  std::vector<uint8_t> bytes;
};

std::vector<FuzzedPage> Split(absl::Span<const uint8_t> input) {
  constexpr size_t kHead = 3;
  std::vector<FuzzedPage> pages;
  while (input.size() >= kHead) {
    const size_t length =
        std::min<size_t>(input[1] | static_cast<size_t>(input[2]) << 8, input.size() - kHead);
    FuzzedPage page{CpuId{input[0] & 3}, {input.begin() + kHead, input.begin() + kHead + length}};
    // With 64 bits of time any window would be an empty place.
    if (page.bytes.size() >= 8) std::memset(page.bytes.data() + 2, 0, 6);
    pages.push_back(std::move(page));
    input.remove_prefix(kHead + length);
  }
  return pages;
}

Recording MakeRecording(BuiltCapture built) {
  Recording recording;
  recording.frames.period = {20000, 1};
  recording.frames.origin_ns = kReleaseNs;
  recording.frames.end_ns = 100000;
  recording.frames.frames = {{0, kReleaseNs, kReleaseNs, kCompletionNs, 5000, 5000}};
  recording.watched = Tid{kWatched};
  recording.end_ns = kEndNs;
  recording.trace = TraceFacts{.source = "fuzz", .events = built.record_count};
  recording.roles = {{Tgid{kWatched}, {RoleKind::kWorkload, ""}}};
  for (int32_t cpu = 0; cpu < 4; ++cpu) recording.cpus.push_back({.cpu = CpuId{cpu}});
  recording.events = std::move(built.events);
  recording.losses = std::move(built.losses);
  recording.omitted = std::move(built.omitted);
  return recording;
}

Recording Decode(absl::Span<const uint8_t> input) {
  static const FtraceFormats* const formats = new FtraceFormats(MadeFtrace().Formats());
  FtracePageStore store(FtracePageLayout(), int64_t{1} << 20);
  AffinityCalls calls(formats, FtracePageLayout());
  for (const FuzzedPage& page : Split(input)) {
    store.Add(page.cpu, page.bytes);
    calls.Take(page.cpu, page.bytes);
  }
  calls.ReadMasks([](Tid) { return true; },
                  [](Tid) -> absl::StatusOr<CpuSet> { return *CpuSet::Parse("0-1"); });
  FtraceCaptureInput capture;
  capture.end_ns = kEndNs;
  capture.decoder.watched = {Tgid{kWatched}};
  capture.decoder.tasks = {{Tid{kWatched}, Tgid{kWatched}, "video", false, 0, false},
                           {Tid{2}, Tgid{2}, "limited", false, 0, true}};
  capture.decoder.cpu_hierarchy = 1;
  capture.others = calls.Finish();
  return MakeRecording(BuildFtraceCapture(store, *formats, capture));
}

}  // namespace
}  // namespace whylate

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const whylate::Recording recording = whylate::Decode({data, size});
  for (const whylate::SchedEvent& event : recording.events) {
    if (event.time_ns < 0 || event.time_ns > whylate::kEndNs) abort();
  }
  const whylate::Explanation explanation = whylate::Explain(recording);
  if (!whylate::BrokenInvariants(recording.frames, explanation).empty()) abort();
  return 0;
}
