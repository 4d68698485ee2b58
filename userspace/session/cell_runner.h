// Runs one cell: one workload under one load, from processes that are ready to a finished Cell.
//
// Protocol: load and workload are started and prepare; all ready -> the load begins -> it settles
// -> the workload begins -> the duration, and a grace for the last frame -> all are ended and
// reaped. Whatever of them ends too early ends the cell, which is then not valid and says why.
#ifndef WHYLATE_USERSPACE_SESSION_CELL_RUNNER_H_
#define WHYLATE_USERSPACE_SESSION_CELL_RUNNER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analysis/report/report.h"
#include "userspace/load/load.h"
#include "userspace/platform/cgroup.h"
#include "userspace/session/cell_trace.h"
#include "userspace/session/child_process.h"
#include "userspace/session/cleanup_registry.h"
#include "userspace/session/load_files.h"
#include "userspace/session/session_directory.h"
#include "userspace/workload/frame_log.h"
#include "userspace/workload/workload.h"

namespace whylate {

inline constexpr int64_t kSettleNs = 1000000000;

struct CellPlan {
  Workload workload;
  std::string load;  // as the user wrote it
  std::vector<const LoadRow*> parts;
  int32_t run = 0;
  std::string title() const;  // "video/burn", "video/burn #2"
};

// What all cells of a session share. Owned by the session; outlives the runner.
struct CellEnvironment {
  SessionOptions options;
  std::string run_id;
  std::string kernel;  // its release
  int64_t loops_per_ms = 0;
  int32_t load_threads = 1;
  CleanupRegistry* registry = nullptr;
  LoadFiles* files = nullptr;
  const SessionDirectory* directory = nullptr;  // where recordings go
  std::vector<Tgid> observers;                  // our own processes, which may get in the way too
};

class CellRunner {
 public:
  CellRunner(const CellEnvironment& environment, const CellPlan& plan)
      : environment_(environment), plan_(plan) {}

  // A cell that was not run to its end is returned too, with `invalid` reasons. Cancelled when a
  // stop was requested; other errors mean that the session cannot go on.
  absl::StatusOr<Cell> Run();

 private:
  struct RunningLoad {
    const LoadRow* row = nullptr;
    LoadFiles::File file;
    std::optional<ProgressCounters> progress;
    std::unique_ptr<ChildProcess> child;
    uint64_t at_origin = 0;
    int64_t disk_at_origin = 0;
    ProgressPart part;
  };

  absl::Status StartLoad(const LoadRow& row);
  absl::Status StartWorkload();
  absl::Status EnterMemoryCgroup(ChildProcess& child);
  absl::Status AwaitReady();
  absl::Status StartTrace();
  // Waits till `time_ns`, or where asked till the workload is done; an error names the child that
  // ended or failed before.
  absl::Status Watch(int64_t time_ns, bool until_done);
  absl::Status HandleMessage(ChildProcess& child);
  // Tells a child that is ready to begin.
  absl::Status LetGo(ChildProcess& child);
  // How a child ended that no longer answers: "load burn was killed by signal 9 (Killed)".
  static std::string DescribeEnd(ChildProcess& child);
  absl::Status Measure();

  std::vector<ChildProcess*> Children();
  uint64_t ReadProgress(const RunningLoad& load) const;
  std::optional<int64_t> ReadDisk(const RunningLoad& load) const;
  void NoteProgressAtOrigin();
  void NoteProgressOfSecond();
  void NoteProgressAtEnd();
  void EndChildren();

  absl::StatusOr<Cell> FinishCell(const absl::Status& end);
  void CopyFrames(CellFrames& frames) const;
  // Of the workload's thread, and of the stages of a chain beside the first.
  void ReadAffinity(std::optional<CpuSet>& of_first, std::optional<CpuSet> Stage::*of_others);
  // Why frames were late, from the trace where there is one; returns what it was told from.
  absl::StatusOr<Recording> Explain(Cell& cell);
  // Into a file, with what is worth knowing of the cell.
  void Record(Recording& recording, Cell& cell) const;
  std::vector<RoleAssignment> Roles() const;
  void Stamp(Cell& cell) const;

  const CellEnvironment& environment_;
  const CellPlan& plan_;
  std::vector<RunningLoad> loads_;
  std::optional<FrameLog> log_;
  // The cgroup is registered before it is made, and outlives the child in it.
  Registration cgroup_registration_;
  std::optional<MemoryCgroup> cgroup_;
  int64_t reclaims_at_origin_ = 0;
  std::unique_ptr<ChildProcess> workload_;
  bool workload_done_ = false;
  std::optional<CellTrace> trace_;
  std::optional<CpuSet> allowed_before_;
  std::optional<CpuSet> allowed_after_;
  std::vector<Stage> stages_;  // of a chain, as they run
  int64_t origin_ns_ = 0;
  int64_t ended_ns_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_SESSION_CELL_RUNNER_H_
