// The user's wish to stop: SIGINT, SIGTERM, SIGHUP.
//
// The signals are blocked but while the supervisor waits, so that none is missed between looking
// and sleeping, and no call is cut short by one.
#ifndef WHYLATE_USERSPACE_SESSION_STOP_SIGNAL_H_
#define WHYLATE_USERSPACE_SESSION_STOP_SIGNAL_H_

#include <poll.h>

#include <cstddef>
#include <cstdint>

namespace whylate {

// Handles the signals from here to the end of the process; a SIGHUP that was ignored stays so.
// Ignores SIGPIPE and SIGXFSZ.
void InstallStopSignal();
bool StopRequested();

// ppoll() until `time_ns` at the latest, letting stop signals in. A past time polls without
// waiting. Returns true when a descriptor is ready; not when the time is up or a stop was
// requested.
bool WaitFor(pollfd* polled, size_t count, int64_t time_ns);

// In a child between fork and exec: as if InstallStopSignal() had not been called.
void ResetStopSignalInChild();

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SESSION_STOP_SIGNAL_H_
