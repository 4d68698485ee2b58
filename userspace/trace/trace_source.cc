#include "userspace/trace/trace_source.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "userspace/trace/bpf_source.h"
#include "userspace/trace/tracefs_source.h"

namespace whylate {
namespace {

// Captures nothing: classic statistics alone.
class NoSource final : public TraceSource {
 public:
  absl::Status Start(const TraceOptions& /*options*/) override { return absl::OkStatus(); }
  absl::Status Watch(Tgid /*tgid*/) override { return absl::OkStatus(); }
  absl::StatusOr<Capture> Stop(const KeepEvents& /*keep*/) override {
    Capture capture;
    capture.facts.source = "none";
    return capture;
  }
};

std::unique_ptr<TraceSource> CreateNoSource() { return std::make_unique<NoSource>(); }

constexpr TraceSourceRow kSources[] = {
    {"bpf", "eBPF programs on the scheduler's tracepoints (root, or CAP_BPF and CAP_PERFMON)",
     CreateBpfSource},
    {"tracefs", "a private instance of ftrace, for kernels without BTF (root)",
     CreateTracefsSource},
    {"none", "no events: statistics without causes", CreateNoSource},
};

}  // namespace

absl::Span<const TraceSourceRow> TraceSources() { return kSources; }

absl::StatusOr<std::unique_ptr<TraceSource>> CreateTraceSource(absl::string_view name) {
  for (const TraceSourceRow& row : kSources) {
    if (row.name == name) return row.create();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no trace source is called '", name, "'; there are: ",
                   absl::StrJoin(kSources, ", ", [](std::string* out, const TraceSourceRow& row) {
                     absl::StrAppend(out, row.name);
                   })));
}

}  // namespace whylate
