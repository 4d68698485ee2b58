#include "userspace/platform/ability_probes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "analysis/model/status_macros.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/unique_fd.h"
#include "userspace/platform/virtualization.h"

namespace whylate {
namespace {

constexpr int64_t kStealWindowNs = 200 * kNsPerMs;

// Runs `attempt`, which returns 0 or an errno and makes system calls alone, in a child.
absl::Status TryInChild(int (*attempt)(), const char* what) {
  const pid_t child = fork();
  if (child < 0) return ErrnoStatus(errno, absl::StrCat("fork to ", what));
  if (child == 0) _exit(attempt());
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return ErrnoStatus(errno, absl::StrCat("wait for the child to ", what));
  }
  if (!WIFEXITED(status)) return absl::InternalError(absl::StrCat(what, ": the child was killed"));
  const int error_number = WEXITSTATUS(status);
  return error_number == 0 ? absl::OkStatus() : ErrnoStatus(error_number, what);
}

// libbpf would write to stderr; the errors are in what it returns.
class QuietLibbpf {
 public:
  QuietLibbpf() : previous_(libbpf_set_print(nullptr)) {}
  ~QuietLibbpf() { libbpf_set_print(previous_); }
  QuietLibbpf(const QuietLibbpf&) = delete;
  QuietLibbpf& operator=(const QuietLibbpf&) = delete;

 private:
  libbpf_print_fn_t previous_;
};

// Loads "return 0" as a program of `type`; `options` says what it would attach to.
absl::Status LoadEmptyProgram(bpf_prog_type type, bpf_prog_load_opts options, const char* what) {
  bpf_insn program[2] = {};
  program[0].code = BPF_ALU64 | BPF_MOV | BPF_K;  // r0 = 0
  program[0].dst_reg = BPF_REG_0;
  program[1].code = BPF_JMP | BPF_EXIT;
  options.sz = sizeof(options);
  const UniqueFd fd(
      bpf_prog_load(type, "whylate_check", "Dual BSD/GPL", program, std::size(program), &options));
  if (!fd.valid()) return ErrnoStatus(-fd.get(), absl::StrCat("load ", what));
  return absl::OkStatus();
}

int SetFifo() {
  sched_param parameters = {};
  parameters.sched_priority = 1;
  return sched_setscheduler(0, SCHED_FIFO, &parameters) == 0 ? 0 : errno;
}

int MountTracefsPrivately() {
  if (unshare(CLONE_NEWNS) != 0) return errno;
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return errno;
  return mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, nullptr) == 0 ? 0 : errno;
}

}  // namespace

AbilityProbes::AbilityProbes()
    : steal_clock(KvmOffersStealClock),
      wait([] { SleepUntilNs(MonotonicNs() + kStealWindowNs); }) {}

std::string SystemName() {
  utsname names;
  return uname(&names) == 0 ? names.sysname : "";
}

absl::Status TryMonotonicClock() {
  timespec first;
  timespec second;
  if (clock_gettime(CLOCK_MONOTONIC, &first) != 0 || clock_gettime(CLOCK_MONOTONIC, &second) != 0) {
    return ErrnoStatus(errno, "read CLOCK_MONOTONIC");
  }
  if (second.tv_sec < first.tv_sec ||
      (second.tv_sec == first.tv_sec && second.tv_nsec < first.tv_nsec)) {
    return absl::InternalError("CLOCK_MONOTONIC ran backwards");
  }
  return absl::OkStatus();
}

std::optional<int64_t> MonotonicResolutionNs() {
  timespec resolution;
  if (clock_getres(CLOCK_MONOTONIC, &resolution) != 0) return std::nullopt;
  return int64_t{resolution.tv_sec} * kNsPerSecond + resolution.tv_nsec;
}

absl::Status TryLoadBpf() {
  const QuietLibbpf quiet;
  RETURN_IF_ERROR(LoadEmptyProgram(BPF_PROG_TYPE_RAW_TRACEPOINT, {}, "a raw tracepoint program"));
  const int type_id = libbpf_find_vmlinux_btf_id("sched_switch", BPF_TRACE_RAW_TP);
  // libbpf's errno (ESRCH for a missing file) would only mislead.
  if (type_id < 0) return absl::NotFoundError("load BTF: no sched_switch in the kernel's BTF");
  bpf_prog_load_opts options = {};
  options.expected_attach_type = BPF_TRACE_RAW_TP;
  options.attach_btf_id = static_cast<uint32_t>(type_id);
  return LoadEmptyProgram(BPF_PROG_TYPE_TRACING, options, "a BTF tracepoint program");
}

absl::Status TryRealTime() { return TryInChild(SetFifo, "set SCHED_FIFO"); }

absl::Status TryMountTracefs() { return TryInChild(MountTracefsPrivately, "mount tracefs"); }

}  // namespace whylate
