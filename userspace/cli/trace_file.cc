#include "userspace/cli/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "analysis/import/open_trace.h"
#include "analysis/model/status_macros.h"
#include "userspace/cli/trace_dat_child.h"
#include "userspace/platform/unique_fd.h"

namespace whylate {
namespace {

constexpr int64_t kMostBytes = int64_t{4} << 30;
absl::Status Failed(const std::string& path, const std::string& why) {
  return absl::FailedPreconditionError(absl::StrCat("read the trace '", path, "': ", why));
}

absl::StatusOr<std::string> ReadRegularFile(const std::string& path) {
  // Not to wait for the writer of a pipe.
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) return Failed(path, std::strerror(errno));
  struct stat status;
  if (fstat(file.get(), &status) != 0) return Failed(path, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) {
    return Failed(path, "it is a directory; whylate explain reads sessions");
  }
  if (!S_ISREG(status.st_mode)) {
    return Failed(path, "it is no regular file; write it to one first");
  }
  if (status.st_size == 0) return Failed(path, "it is empty");
  if (status.st_size > kMostBytes) return Failed(path, "it is longer than 4 GiB; cut it first");
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  size_t size_bytes = 0;
  // It may be shorter by now, and grows no longer for us.
  while (size_bytes < bytes.size()) {
    const ssize_t count = read(file.get(), &bytes[size_bytes], bytes.size() - size_bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failed(path, std::strerror(errno));
    if (count == 0) break;
    size_bytes += static_cast<size_t>(count);
  }
  bytes.resize(size_bytes);
  return bytes;
}

}  // namespace

absl::StatusOr<ImportedTrace> OpenTrace(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadRegularFile(path));
  const absl::StatusOr<TraceFormat> format = TellTraceFormat(bytes);
  if (!format.ok()) {
    return Failed(path, absl::StrCat(format.status().message(),
                                     "; what can be read: trace.dat, Perfetto traces and their "
                                     "text form, ftrace and trace-cmd report text, systrace HTML, "
                                     "latency tracers' text, perf script and perf sched timehist "
                                     "text"));
  }
  absl::StatusOr<ImportedTrace> trace = *format == TraceFormat::kTraceDat
                                            ? ReadTraceDatInChild(path, TraceDatLimits())
                                            : ImportTraceBytes(bytes, ImportLimits());
  if (!trace.ok()) return Failed(path, std::string(trace.status().message()));
  return trace;
}

}  // namespace whylate
