#include "userspace/cli/trace_dat_child.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "analysis/import/perfetto.h"
#include "analysis/import/trace_dat.h"
#include "analysis/model/status_macros.h"
#include "analysis/report/perfetto_writer.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/process.h"
#include "userspace/platform/unique_fd.h"

namespace whylate {
namespace {

constexpr int kOutOfMemory = 3;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

// What goes over the pipe: texts, each after its length. "" and the recording as a Perfetto trace,
// the format and the notes; or the error's code and message.
void Put(absl::string_view text, std::string* out) {
  const uint64_t size = text.size();
  char bytes[sizeof(size)];
  std::memcpy(bytes, &size, sizeof(size));
  out->append(bytes, sizeof(size));
  out->append(text.data(), text.size());
}

std::optional<absl::string_view> Take(absl::string_view* in) {
  uint64_t size = 0;
  if (in->size() < sizeof(size)) return std::nullopt;
  std::memcpy(&size, in->data(), sizeof(size));
  in->remove_prefix(sizeof(size));
  if (size > in->size()) return std::nullopt;
  const absl::string_view text = in->substr(0, static_cast<size_t>(size));
  in->remove_prefix(static_cast<size_t>(size));
  return text;
}

std::string Encode(const absl::StatusOr<ImportedTrace>& trace) {
  std::string out;
  Put(absl::StrCat(static_cast<int>(trace.status().code())), &out);
  Put(std::string(trace.status().message()), &out);
  if (!trace.ok()) return out;
  Put(trace->format, &out);
  Put(RecordingToPerfetto(trace->recording, nullptr), &out);
  for (const std::string& note : trace->notes) Put(note, &out);
  return out;
}

absl::StatusOr<ImportedTrace> Decode(absl::string_view in, const ImportLimits& limits) {
  const absl::Status cut = absl::InvalidArgumentError("trace.dat: its decoder ended halfway");
  const std::optional<absl::string_view> code = Take(&in);
  const std::optional<absl::string_view> message = Take(&in);
  if (!code.has_value() || !message.has_value()) return cut;
  if (*code != "0") {
    const int number = std::atoi(std::string(*code).c_str());
    return absl::Status(static_cast<absl::StatusCode>(number), *message);
  }
  const std::optional<absl::string_view> format = Take(&in);
  const std::optional<absl::string_view> recording = Take(&in);
  if (!format.has_value() || !recording.has_value()) return cut;
  // All of it is wanted that the child kept.
  ImportLimits all = limits;
  all.names = SIZE_MAX;
  ASSIGN_OR_RETURN(ImportedTrace trace, ImportPerfetto(*recording, all));
  trace.format = std::string(*format);
  trace.has_frames = false;
  trace.notes.clear();
  while (!in.empty()) {
    const std::optional<absl::string_view> note = Take(&in);
    if (!note.has_value()) return cut;
    trace.notes.emplace_back(*note);
  }
  return trace;
}

void Limit(__rlimit_resource resource, uint64_t value) {
  const struct rlimit limit = {value, value};
  setrlimit(resource, &limit);
}

bool WriteAll(int fd, absl::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

void WriteFile(const char* path, absl::string_view text) {
  const UniqueFd file(open(path, O_WRONLY | O_CLOEXEC));
  if (file.valid()) WriteAll(file.get(), text);
}

// The library unpacks compressed traces into /tmp, by names that it has built in. For this process
// that is a file system of its own, gone with it however it ends; where none can be mounted, the
// names are still removed as soon as the files are open.
void MountOwnTmp(uint64_t most_bytes) {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWNS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return;
    WriteFile("/proc/self/setgroups", "deny");
    WriteFile("/proc/self/uid_map", absl::StrCat(user, " ", user, " 1"));
    WriteFile("/proc/self/gid_map", absl::StrCat(group, " ", group, " 1"));
  }
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
  mount("whylate", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
        absl::StrCat("mode=0700,size=", most_bytes).c_str());
}

// Opened before /tmp becomes another one.
absl::StatusOr<ImportedTrace> Import(const std::string& path, const TraceDatLimits& limits) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return ImportTraceDat(path, limits.import);
  MountOwnTmp(limits.file_bytes);
  const std::string opened = absl::StrCat("/proc/self/fd/", file.get());
  absl::StatusOr<ImportedTrace> trace = ImportTraceDat(opened, limits.import);
  if (trace.ok()) return trace;
  return absl::Status(trace.status().code(),
                      absl::StrReplaceAll(trace.status().message(), {{opened, path}}));
}

[[noreturn]] void RunChild(const std::string& path, const TraceDatLimits& limits, pid_t parent,
                           int pipe_fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  // Handlers are the caller's; a crash is to be one.
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGXCPU, SIGXFSZ, SIGPIPE}) {
    signal(number, SIG_DFL);
  }
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_CPU, limits.cpu_seconds);
  Limit(RLIMIT_FSIZE, limits.file_bytes);
  // A sanitizer's shadow memory is larger than any limit.
  if (!kSanitized) Limit(RLIMIT_AS, limits.memory_bytes);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0) _exit(1);
  try {
    const std::string encoded = Encode(Import(path, limits));
    _exit(WriteAll(pipe_fd, encoded) ? 0 : 1);
  } catch (const std::bad_alloc&) {
    _exit(kOutOfMemory);
  }
}

int64_t NowMs() {
  struct timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// All that comes until the other end closes, for as long and as much as the limits allow.
absl::StatusOr<std::string> ReadAll(int fd, const TraceDatLimits& limits) {
  const int64_t deadline_ms = NowMs() + int64_t{limits.wall_seconds} * 1000;
  std::string all;
  std::vector<char> buffer(size_t{1} << 16);
  while (true) {
    const int64_t left_ms = deadline_ms - NowMs();
    if (left_ms <= 0) {
      return absl::InvalidArgumentError(absl::StrCat("took more than ", limits.wall_seconds, " s"));
    }
    struct pollfd waiting = {fd, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left_ms, 60'000)));
    if (ready <= 0) continue;
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return all;
    all.append(buffer.data(), static_cast<size_t>(got));
    // More than a child can hold: it is no decoder any more.
    if (all.size() > limits.memory_bytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("wrote more than ", limits.memory_bytes >> 20, " MiB"));
    }
  }
}

absl::Status EndStatus(int wait_status, const TraceDatLimits& limits) {
  std::string how = DescribeWaitStatus(wait_status);
  if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGXCPU) {
    how = absl::StrCat("took more than ", limits.cpu_seconds, " s of CPU time");
  } else if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGXFSZ) {
    how = absl::StrCat("unpacked more than ", limits.file_bytes >> 20, " MiB");
  } else if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == kOutOfMemory) {
    how = absl::StrCat("needed more than ", limits.memory_bytes >> 20, " MiB of memory");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("trace.dat cannot be read: its decoder ", how, "; the file may be damaged"));
}

}  // namespace

bool LimitsMemory() { return !kSanitized; }

absl::StatusOr<ImportedTrace> ReadTraceDatInChild(const std::string& path,
                                                  const TraceDatLimits& limits) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "make a pipe");
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return ErrnoStatus(errno, "start a child to read trace.dat");
  if (child == 0) RunChild(path, limits, parent, write_end.get());
  write_end.Reset();
  const absl::StatusOr<std::string> encoded = ReadAll(read_end.get(), limits);
  if (!encoded.ok()) kill(child, SIGKILL);
  int wait_status = 0;
  while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR) {
  }
  // However the child ended: what it wrote was not read to its end.
  if (!encoded.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("trace.dat cannot be read: its decoder ", encoded.status().message()));
  }
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) {
    return Decode(*encoded, limits.import);
  }
  return EndStatus(wait_status, limits);
}

}  // namespace whylate
