// Runs a command under the eBPF capture, and says on stderr what the capture saw and cost.
//
//   trace_capture [--buffer-bytes N] [--no-affinity-calls] [--bpf-time] COMMAND [ARGUMENT...]
//
// For scripts/benchmark.sh. The exit code is the command's, or 125 when the capture failed.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "analysis/model/ids.h"
#include "userspace/trace/bpf_source.h"
#include "userspace/trace/trace_source.h"

namespace whylate {
namespace {

constexpr int kCaptureFailed = 125;

int Fail(const absl::Status& status) {
  std::cerr << "trace_capture: " << status << "\n";
  return kCaptureFailed;
}

int RunCommand(char** command) {
  const pid_t child = fork();
  if (child == 0) {
    execvp(command[0], command);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return kCaptureFailed;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kCaptureFailed;
}

// Advances past the flags; nullptr when they are wrong.
char** ParseFlags(char** arguments, TraceOptions* options) {
  for (; *arguments != nullptr; ++arguments) {
    const absl::string_view flag = *arguments;
    if (flag == "--no-affinity-calls") {
      options->watch_affinity_calls = false;
    } else if (flag == "--bpf-time") {
      options->measure_bpf_time = true;
    } else if (flag == "--buffer-bytes") {
      ++arguments;
      if (*arguments == nullptr || !absl::SimpleAtoi(*arguments, &options->buffer_bytes)) {
        return nullptr;
      }
    } else {
      return arguments;
    }
  }
  return nullptr;
}

int Main(char** arguments) {
  TraceOptions options;
  options.memory_bytes = int64_t{4} << 30;
  char** command = ParseFlags(arguments, &options);
  if (command == nullptr) return Fail(absl::InvalidArgumentError("no command, or a wrong flag"));
  options.watched = {Tgid{getpid()}};
  std::unique_ptr<TraceSource> source = CreateBpfSource();
  const absl::Status started = source->Start(options);
  if (!started.ok()) return Fail(started);
  const int exit_code = RunCommand(command);
  const auto capture = source->Stop(KeepAround({}, 0));
  if (!capture.ok()) return Fail(capture.status());
  std::cerr << "capture: events=" << capture->facts.events << " lost=" << capture->facts.lost
            << " recursion_misses=" << capture->facts.recursion_misses
            << " bytes=" << capture->captured_bytes
            << " reader_cpu_ns=" << capture->cost.reader_cpu_ns
            << " bpf_run_ns=" << capture->cost.bpf_run_ns.value_or(-1)
            << " bpf_runs=" << capture->cost.bpf_runs
            << " wall_ns=" << capture->end_ns - capture->begin_ns << "\n";
  return exit_code;
}

}  // namespace
}  // namespace whylate

int main(int /*argc*/, char** argv) { return whylate::Main(argv + 1); }
