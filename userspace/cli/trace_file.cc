#include "userspace/cli/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "analysis/import/open_trace.h"
#include "analysis/model/huge_pages.h"
#include "analysis/model/recording.h"
#include "analysis/model/status_macros.h"
#include "userspace/cli/trace_dat_child.h"
#include "userspace/platform/unique_fd.h"

namespace whylate {
namespace {

constexpr int64_t kMostBytes = int64_t{4} << 30;
constexpr int64_t kHeadBytes = int64_t{256} << 10;  // that tell the format
absl::Status Failed(const std::string& path, const std::string& why) {
  return absl::FailedPreconditionError(absl::StrCat("read the trace '", path, "': ", why));
}

// Of a regular file: its size, and an open descriptor.
struct OpenedFile {
  UniqueFd fd;
  int64_t size_bytes = 0;
};

absl::StatusOr<OpenedFile> OpenRegularFile(const std::string& path) {
  // Not to wait for the writer of a pipe.
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return Failed(path, std::strerror(errno));
  struct stat status;
  if (fstat(fd.get(), &status) != 0) return Failed(path, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) {
    return Failed(path, "it is a directory; whylate explain reads sessions");
  }
  if (!S_ISREG(status.st_mode)) {
    return Failed(path, "it is no regular file; write it to one first");
  }
  if (status.st_size == 0) return Failed(path, "it is empty");
  if (status.st_size > kMostBytes) return Failed(path, "it is longer than 4 GiB; cut it first");
  return OpenedFile{std::move(fd), status.st_size};
}

// What was read of a file.
struct FileBytes {
  std::unique_ptr<char[]> data;
  size_t size = 0;

  absl::string_view view() const { return {data.get(), size}; }
};

// Its first `most_bytes`.
absl::StatusOr<FileBytes> ReadHead(const std::string& path, const OpenedFile& file,
                                   int64_t most_bytes) {
  const auto most = static_cast<size_t>(std::min(file.size_bytes, most_bytes));
  FileBytes bytes{std::make_unique_for_overwrite<char[]>(most)};
  PreferHugePages(bytes.data.get(), most);
  // It may be shorter by now, and grows no longer for us.
  while (bytes.size < most) {
    const ssize_t count = pread(file.fd.get(), bytes.data.get() + bytes.size, most - bytes.size,
                                static_cast<off_t>(bytes.size));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failed(path, std::strerror(errno));
    if (count == 0) break;
    bytes.size += static_cast<size_t>(count);
  }
  return bytes;
}

}  // namespace

absl::StatusOr<ImportedTrace> OpenTrace(const std::string& path) {
  ASSIGN_OR_RETURN(const OpenedFile file, OpenRegularFile(path));
  ASSIGN_OR_RETURN(const FileBytes head, ReadHead(path, file, kHeadBytes));
  const absl::StatusOr<TraceFormat> format = TellTraceFormat(head.view());
  if (!format.ok()) {
    return Failed(path, absl::StrCat(format.status().message(),
                                     "; what can be read: trace.dat, Perfetto traces and their "
                                     "text form, ftrace and trace-cmd report text, systrace HTML, "
                                     "latency tracers' text, perf script and perf sched timehist "
                                     "text"));
  }
  absl::StatusOr<ImportedTrace> trace;
  if (*format == TraceFormat::kTraceDat) {
    trace = ReadTraceDatInChild(path, TraceDatLimits());
  } else {
    ASSIGN_OR_RETURN(const FileBytes bytes, ReadHead(path, file, file.size_bytes));
    trace = ImportTraceBytes(bytes.view(), ImportLimits());
  }
  if (!trace.ok()) return Failed(path, std::string(trace.status().message()));
  if (!HasUsableTimes(trace->recording)) return Failed(path, "its times are out of range: damaged");
  return trace;
}

}  // namespace whylate
