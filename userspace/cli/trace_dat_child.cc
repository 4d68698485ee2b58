#include "userspace/cli/trace_dat_child.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "analysis/import/perfetto.h"
#include "analysis/import/trace_dat.h"
#include "analysis/model/status_macros.h"
#include "analysis/report/perfetto_writer.h"
#include "userspace/platform/process.h"
#include "userspace/platform/unique_fd.h"

namespace whylate {
namespace {

constexpr rlim_t kMostBytes = rlim_t{8} << 30;
constexpr rlim_t kMostCpuSeconds = 120;
constexpr unsigned kMostSeconds = 300;

// The answer: whether it is a trace, its format or the error, the notes, and the recording as a
// Perfetto trace, which brings it back exactly. Texts have their length before them.
void AppendText(absl::string_view text, std::string* out) {
  const uint64_t size = text.size();
  out->append(reinterpret_cast<const char*>(&size), sizeof(size));
  out->append(text.data(), text.size());
}

absl::StatusOr<std::string> TakeText(absl::string_view* in) {
  uint64_t size = 0;
  const absl::Status cut = absl::DataLossError("the answer of the child that decodes it is cut");
  if (in->size() < sizeof(size)) return cut;
  std::memcpy(&size, in->data(), sizeof(size));
  in->remove_prefix(sizeof(size));
  if (in->size() < size) return cut;
  std::string text(in->substr(0, size));
  in->remove_prefix(size);
  return text;
}

std::string Answer(const std::string& path) {
  std::string answer;
  absl::StatusOr<ImportedTrace> trace = ImportTraceDat(path, ImportLimits());
  AppendText(trace.ok() ? "trace" : "", &answer);
  AppendText(trace.ok() ? absl::string_view(trace->format) : trace.status().message(), &answer);
  if (!trace.ok()) return answer;
  std::string notes;
  for (const std::string& note : trace->notes) AppendText(note, &notes);
  AppendText(notes, &answer);
  AppendText(RecordingToPerfetto(trace->recording, nullptr), &answer);
  return answer;
}

void Limit(int resource, rlim_t most) {
  const rlimit limit{most, most};
  setrlimit(resource, &limit);
}

[[noreturn]] void RunChild(const std::string& path, int out) {
  Limit(RLIMIT_AS, kMostBytes);
  Limit(RLIMIT_FSIZE, kMostBytes);
  Limit(RLIMIT_CPU, kMostCpuSeconds);
  Limit(RLIMIT_CORE, 0);
  alarm(kMostSeconds);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0) _exit(1);
  try {
    const std::string answer = Answer(path);
    for (size_t at = 0; at < answer.size();) {
      const ssize_t count = write(out, answer.data() + at, answer.size() - at);
      if (count < 0 && errno != EINTR) _exit(1);
      if (count > 0) at += static_cast<size_t>(count);
    }
  } catch (const std::exception&) {
    _exit(1);  // no memory
  }
  _exit(0);
}

absl::StatusOr<std::string> ReadAll(int fd) {
  std::string bytes;
  const off_t size = lseek(fd, 0, SEEK_END);
  if (size < 0) return absl::ErrnoToStatus(errno, "read the answer of the child");
  bytes.resize(static_cast<size_t>(size));
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t count = pread(fd, &bytes[at], bytes.size() - at, static_cast<off_t>(at));
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return absl::DataLossError("read the answer of the child");
    }
    if (count > 0) at += static_cast<size_t>(count);
  }
  return bytes;
}

absl::StatusOr<ImportedTrace> FromAnswer(absl::string_view answer) {
  ASSIGN_OR_RETURN(const std::string kind, TakeText(&answer));
  ASSIGN_OR_RETURN(std::string format, TakeText(&answer));
  if (kind.empty()) return absl::InvalidArgumentError(format);
  ASSIGN_OR_RETURN(const std::string notes, TakeText(&answer));
  ASSIGN_OR_RETURN(const std::string recording, TakeText(&answer));
  ASSIGN_OR_RETURN(ImportedTrace trace, ImportPerfetto(recording, ImportLimits()));
  trace.format = std::move(format);
  trace.has_frames = false;
  trace.notes.clear();
  for (absl::string_view rest = notes; !rest.empty();) {
    ASSIGN_OR_RETURN(std::string note, TakeText(&rest));
    trace.notes.push_back(std::move(note));
  }
  return trace;
}

}  // namespace

absl::StatusOr<ImportedTrace> ImportTraceDatInChild(const std::string& path) {
  const UniqueFd out(memfd_create("whylate-trace-dat", MFD_CLOEXEC));
  if (!out.valid()) return absl::ErrnoToStatus(errno, "make a file in memory");
  const pid_t child = fork();
  if (child < 0) return absl::ErrnoToStatus(errno, "start a child to decode it");
  if (child == 0) RunChild(path, out.get());
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return absl::ErrnoToStatus(errno, "wait for the child that decodes it");
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the child that decodes it ", DescribeWaitStatus(status),
                     ": the file is damaged, or too long for the limits"));
  }
  ASSIGN_OR_RETURN(const std::string answer, ReadAll(out.get()));
  return FromAnswer(answer);
}

}  // namespace whylate
