// One run of whylate: its cells, one after the other, into a session directory.
//
//   ASSIGN_OR_RETURN(SessionResult result, RunSession(request, observer));
//
// The calling process becomes the supervisor: a subreaper with a janitor beside it. One session at
// a time, from a process with one thread.
#ifndef WHYLATE_USERSPACE_SESSION_SESSION_H_
#define WHYLATE_USERSPACE_SESSION_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "analysis/report/report.h"
#include "userspace/session/cell_runner.h"

namespace whylate {

struct SessionRequest {
  SessionOptions options;  // complete, see FillFromPreset()
  std::string label;       // "" for the kernel's release
  std::string out;         // "" for whylate-<label>-<UTC time>
  bool resume = false;     // `out` is a session to go on with; options and label are its own
  std::string version;
};

// Told what happens, in the supervisor, between measurements.
class SessionObserver {
 public:
  virtual ~SessionObserver() = default;
  virtual void OnStart(const std::string& directory) = 0;
  // Before cell `index` of `count`; `left_ns` until the end of the session, about.
  virtual void OnCell(const CellPlan& plan, size_t index, size_t count, int64_t left_ns) = 0;
};

struct SessionResult {
  Report report;
  std::string directory;
  bool interrupted = false;
  bool was_finished = false;  // before: there was nothing to go on with, and nothing was touched
};

// Finished cells are in the directory whatever happens after them, also when an error is returned.
absl::StatusOr<SessionResult> RunSession(const SessionRequest& request, SessionObserver& observer);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SESSION_SESSION_H_
