// Runs the built program as a user does: a command line in, exit code and output back.
//
//   RunProgram({"run", "-W", "audio", "-w", "none", "-o", scratch.File("session")}).exit_code;
//
//   RunningProgram program({.arguments = {"run", ...}});
//   ASSERT_TRUE(Eventually([&] { return FindThread(program.pid(), "burn-0").has_value(); }));
//   program.Signal(SIGINT);
//   EXPECT_EQ(program.Wait().exit_code, 130);
#ifndef WHYLATE_TESTS_SUPPORT_PROGRAM_H_
#define WHYLATE_TESTS_SUPPORT_PROGRAM_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "analysis/report/report.h"
#include "userspace/platform/unique_fd.h"

namespace whylate {

struct ProgramResult {
  int exit_code = -1;  // 128 + N where signal N ended it
  std::string out;
  std::string err;
};

struct ProgramRequest {
  std::vector<std::string> arguments;
  // "NAME=VALUE" sets, "NAME" takes away; all else is as in the test.
  std::vector<std::string> environment = {};
  std::string directory = "";                 // to run in; "" for the test's own
  std::function<void()> before_exec = [] {};  // in the new process
};

// The program while it runs, in a process group of its own. SIGKILLed if the test leaves it alone.
class RunningProgram {
 public:
  explicit RunningProgram(const ProgramRequest& request);
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  pid_t pid() const { return pid_; }
  // That of its run, see MakeRunId().
  const std::string& run_id() const { return run_id_; }
  std::string err() const;  // so far
  bool HasEnded() const;
  void Signal(int number) const;
  void SignalGroup(int number) const;
  // Fails the test when the program does not end, or its output is held open, for too long.
  ProgramResult Wait();

 private:
  void Drain();

  pid_t pid_ = -1;
  std::string run_id_;
  UniqueFd out_;
  UniqueFd err_;
  std::atomic<bool> give_up_ = false;
  std::atomic<bool> drained_ = false;
  mutable std::mutex mutex_;
  ProgramResult result_;  // guarded by mutex_
  bool reaped_ = false;
  std::thread drain_;
};

// To its end.
ProgramResult RunProgram(const ProgramRequest& request);
ProgramResult RunProgram(const std::vector<std::string>& arguments);

// True once `condition` holds; asks again and again for as long as a busy machine may need.
bool Eventually(const std::function<bool()>& condition,
                std::chrono::milliseconds patience = std::chrono::seconds(60));

// A directory of the test's own, removed with everything in it.
class ScratchDirectory {
 public:
  // In the current directory: a disk load needs a disk, and /tmp may be memory.
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// The session's report; fails the test where it is no valid one, or where a cell's recording does not
// lead to what the report says of it.
Report ReadReport(const std::string& directory);

// Contents of a file; fails the test where it can't be read.
std::string ReadText(const std::string& path);

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_PROGRAM_H_
