#include "userspace/session/stop_signal.h"

#include <signal.h>

#include <algorithm>

#include "userspace/platform/clock.h"

namespace whylate {
namespace {

volatile sig_atomic_t stop_requested = 0;

void RequestStop(int) { stop_requested = 1; }

constexpr int kStopSignals[] = {SIGINT, SIGTERM, SIGHUP};

// nohup(1) has SIGHUP ignored on purpose. It must not be blocked then either, or it would be pending
// as if it were not ignored.
bool IsLeftIgnored(int number) {
  struct sigaction action = {};
  return number == SIGHUP && sigaction(number, nullptr, &action) == 0 &&
         action.sa_handler == SIG_IGN;
}

sigset_t StopSet() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : kStopSignals) {
    if (!IsLeftIgnored(number)) sigaddset(&set, number);
  }
  return set;
}

}  // namespace

void InstallStopSignal() {
  signal(SIGPIPE, SIG_IGN);
  // A write past the limit for files (ulimit -f) is an error like a full disk.
  signal(SIGXFSZ, SIG_IGN);
  struct sigaction action = {};
  action.sa_handler = RequestStop;
  for (int number : kStopSignals) {
    if (!IsLeftIgnored(number)) sigaction(number, &action, nullptr);
  }
  const sigset_t set = StopSet();
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

bool StopRequested() {
  // One that is pending counts, though it is let in only by WaitFor().
  sigset_t pending;
  sigpending(&pending);
  for (int number : kStopSignals) {
    if (sigismember(&pending, number) == 1) return true;
  }
  return stop_requested != 0;
}

bool WaitFor(pollfd* polled, size_t count, int64_t time_ns) {
  while (!StopRequested()) {
    const int64_t left_ns = std::max<int64_t>(0, time_ns - MonotonicNs());
    const timespec timeout = {static_cast<time_t>(left_ns / kNsPerSecond),
                              static_cast<long>(left_ns % kNsPerSecond)};
    sigset_t open;
    sigprocmask(SIG_SETMASK, nullptr, &open);
    for (int number : kStopSignals) sigdelset(&open, number);
    const int ready = ppoll(polled, count, &timeout, &open);
    if (ready > 0) return true;
    if (ready == 0 || left_ns == 0) return false;
  }
  return false;
}

void ResetStopSignalInChild() {
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  const sigset_t set = StopSet();
  for (int number : kStopSignals) {
    if (!IsLeftIgnored(number)) signal(number, SIG_DFL);
  }
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace whylate
