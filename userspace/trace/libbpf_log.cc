#include "userspace/trace/libbpf_log.h"

#include <bpf/libbpf.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "userspace/platform/errno_status.h"

namespace whylate {
namespace {

constexpr size_t kKeptBytes = 4000;

// libbpf's callback has no argument for state of ours, so the text is the process's.
struct SharedText {
  std::mutex mutex;
  std::string text;
};

SharedText& Shared() {
  static SharedText shared;
  return shared;
}

int Capture(enum libbpf_print_level level, const char* format, va_list arguments) {
  if (level > LIBBPF_INFO) return 0;
  char line[1024];
  const int written = vsnprintf(line, sizeof(line), format, arguments);
  if (written <= 0) return written;
  SharedText& shared = Shared();
  std::lock_guard<std::mutex> lock(shared.mutex);
  shared.text.append(line, std::min(static_cast<size_t>(written), sizeof(line) - 1));
  // The end of a verifier's log is the part that says why.
  if (shared.text.size() > kKeptBytes) shared.text.erase(0, shared.text.size() - kKeptBytes);
  return written;
}

absl::string_view Advice(int error) {
  switch (error) {
    case EPERM:
    case EACCES:
      return "; this needs root, or CAP_BPF and CAP_PERFMON, and a kernel that is not locked down";
    case ENOMEM:
    case E2BIG:
      return "; ask for a smaller buffer";
    default:
      return "";
  }
}

}  // namespace

LibbpfLog::LibbpfLog() {
  {
    SharedText& shared = Shared();
    std::lock_guard<std::mutex> lock(shared.mutex);
    shared.text.clear();
  }
  previous_ = libbpf_set_print(Capture);
}

LibbpfLog::~LibbpfLog() { libbpf_set_print(previous_); }

absl::Status LibbpfLog::Failure(int error, absl::string_view attempt) const {
  const absl::Status status = ErrnoStatus(error, attempt);
  SharedText& shared = Shared();
  std::lock_guard<std::mutex> lock(shared.mutex);
  std::string message = absl::StrCat(status.message(), Advice(error));
  const absl::string_view text = absl::StripAsciiWhitespace(shared.text);
  if (!text.empty()) absl::StrAppend(&message, "; libbpf said: ", text);
  return absl::Status(status.code(), message);
}

}  // namespace whylate
