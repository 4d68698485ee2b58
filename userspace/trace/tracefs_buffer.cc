#include "userspace/trace/tracefs_buffer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/errno_status.h"

namespace whylate {
namespace {

std::string FolderOf(const FtraceEventRow& row) {
  return absl::StrCat("events/", row.system, "/", row.name);
}

int32_t PossibleCpus() { return static_cast<int32_t>(sysconf(_SC_NPROCESSORS_CONF)); }

bool IsFilteredOut(const TracefsBufferOptions& options, FtraceKind kind) {
  const auto filter = options.filters.find(kind);
  return filter != options.filters.end() && filter->second.empty();
}

// The events that the kernel has, with their formats.
absl::StatusOr<std::vector<FtraceFormats::Text>> ReadFormats(const TracefsInstance& instance,
                                                             const TracefsBufferOptions& options) {
  std::vector<FtraceFormats::Text> texts;
  for (const FtraceEventRow& row : options.events) {
    const std::string file = absl::StrCat(FolderOf(row), "/format");
    if (IsFilteredOut(options, row.kind)) continue;
    if (instance.Has(file)) {
      ASSIGN_OR_RETURN(std::string format, instance.Read(file));
      texts.push_back({&row, std::move(format)});
    } else if (row.is_required) {
      return absl::FailedPreconditionError(
          absl::StrCat("this kernel has no event ", row.system, "/", row.name));
    }
  }
  return texts;
}

// The numbers of "overrun: 3\ncommit overrun: 0\n.." that stand for records that are no more.
uint64_t LostRecords(absl::string_view stats) {
  uint64_t lost = 0;
  for (absl::string_view line : absl::StrSplit(stats, '\n')) {
    uint64_t count = 0;
    const bool counts = absl::ConsumePrefix(&line, "overrun: ") ||
                        absl::ConsumePrefix(&line, "commit overrun: ") ||
                        absl::ConsumePrefix(&line, "dropped events: ");
    if (counts && absl::SimpleAtoi(line, &count)) lost += count;
  }
  return lost;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TracefsBuffer>> TracefsBuffer::Create(
    const TracefsBufferOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<TracefsInstance> instance, TracefsInstance::Create());
  RETURN_IF_ERROR(instance->Write("tracing_on", "0"));
  ASSIGN_OR_RETURN(const std::vector<FtraceFormats::Text> texts, ReadFormats(*instance, options));
  ASSIGN_OR_RETURN(FtraceFormats formats, FtraceFormats::Parse(texts));
  std::unique_ptr<TracefsBuffer> buffer(new TracefsBuffer(std::move(instance), std::move(formats)));
  for (const FtraceFormats::Text& text : texts) buffer->kinds_.push_back(text.row->kind);
  ASSIGN_OR_RETURN(const std::string header, buffer->instance_->ReadGlobal("events/header_page"));
  ASSIGN_OR_RETURN(buffer->layout_, FtracePageLayout::Parse(header));
  RETURN_IF_ERROR(buffer->Configure(options));
  for (const FtraceFormats::Text& text : texts) {
    RETURN_IF_ERROR(buffer->instance_->Write(absl::StrCat(FolderOf(*text.row), "/enable"), "1"));
  }
  RETURN_IF_ERROR(buffer->OpenPipes());
  return buffer;
}

absl::Status TracefsBuffer::Configure(const TracefsBufferOptions& options) {
  RETURN_IF_ERROR(instance_->Write("trace_clock", "mono"));
  constexpr int64_t kKib = 1024;
  const int64_t per_cpu_kib = std::max<int64_t>(options.bytes / PossibleCpus() / kKib, 1);
  RETURN_IF_ERROR(instance_->Write("buffer_size_kb", absl::StrCat(per_cpu_kib)));
  int64_t total_kib = per_cpu_kib * PossibleCpus();
  ASSIGN_OR_RETURN(const std::string total, instance_->Read("buffer_total_size_kb"));
  (void)absl::SimpleAtoi(absl::StripAsciiWhitespace(total), &total_kib);
  buffer_bytes_ = total_kib * kKib;
  for (const FtraceEventRow& row : options.events) {
    const auto filter = options.filters.find(row.kind);
    const std::string file = absl::StrCat(FolderOf(row), "/filter");
    if (filter == options.filters.end() || filter->second.empty() || !instance_->Has(file))
      continue;
    RETURN_IF_ERROR(instance_->Write(file, filter->second));
  }
  return absl::OkStatus();
}

absl::Status TracefsBuffer::OpenPipes() {
  // One read gives one sub-buffer: a page, or what buffer_subbuf_size_kb says (6.8 and later).
  int64_t page_bytes = sysconf(_SC_PAGESIZE);
  const absl::StatusOr<std::string> text = instance_->Read("buffer_subbuf_size_kb");
  int64_t sub_buffer_kib = 0;
  if (text.ok() && absl::SimpleAtoi(absl::StripAsciiWhitespace(*text), &sub_buffer_kib)) {
    page_bytes = std::max(page_bytes, sub_buffer_kib * 1024);
  }
  page_.resize(static_cast<size_t>(page_bytes));
  for (int32_t cpu = 0; cpu < PossibleCpus(); ++cpu) {
    ASSIGN_OR_RETURN(UniqueFd fd,
                     instance_->Open(absl::StrCat("per_cpu/cpu", cpu, "/trace_pipe_raw"),
                                     O_RDONLY | O_NONBLOCK));
    pipes_.push_back({CpuId{cpu}, std::move(fd)});
  }
  return absl::OkStatus();
}

absl::Status TracefsBuffer::SetRecording(bool on) {
  return instance_->Write("tracing_on", on ? "1" : "0");
}

absl::Status TracefsBuffer::Drain(const PageVisitor& visit) {
  // In turns, so that no CPU's buffer overflows while another's is read.
  constexpr int kPagesPerTurn = 64;
  for (bool found = true; found;) {
    found = false;
    for (const Pipe& pipe : pipes_) {
      for (int i = 0; i < kPagesPerTurn; ++i) {
        const ssize_t got = read(pipe.fd.get(), page_.data(), page_.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno != EAGAIN) {
          return ErrnoStatus(errno, absl::StrCat("read the trace of CPU ", pipe.cpu.value));
        }
        if (got <= 0) break;
        found = true;
        visit(pipe.cpu, absl::MakeConstSpan(page_.data(), static_cast<size_t>(got)));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::map<CpuId, uint64_t>> TracefsBuffer::ReadLost() const {
  std::map<CpuId, uint64_t> lost;
  for (const Pipe& pipe : pipes_) {
    ASSIGN_OR_RETURN(const std::string stats,
                     instance_->Read(absl::StrCat("per_cpu/cpu", pipe.cpu.value, "/stats")));
    if (const uint64_t count = LostRecords(stats); count > 0) lost[pipe.cpu] = count;
  }
  return lost;
}

bool TracefsBuffer::Records(FtraceKind kind) const {
  return std::find(kinds_.begin(), kinds_.end(), kind) != kinds_.end();
}

}  // namespace whylate
