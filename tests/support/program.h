// Runs the built program as a user does: a command line in, exit code and output back.
#ifndef WHYLATE_TESTS_SUPPORT_PROGRAM_H_
#define WHYLATE_TESTS_SUPPORT_PROGRAM_H_

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace whylate {

struct ProgramResult {
  int exit_code = -1;  // 128 + N where signal N ended it
  std::string out;
  std::string err;
};

// Runs `whylate ARGUMENTS` to its end.
ProgramResult RunProgram(const std::vector<std::string>& arguments);

// Runs it in a process group of its own, calls `during` with its pid after `delay`, and waits.
ProgramResult RunProgramAnd(const std::vector<std::string>& arguments,
                            std::chrono::milliseconds delay,
                            const std::function<void(pid_t)>& during);

// A directory of the test's own, removed with everything in it.
class ScratchDirectory {
 public:
  // In the current directory: a disk load needs a disk, and /tmp may be memory.
  ScratchDirectory();
  ~ScratchDirectory();
  std::string path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// The session's report; fails the test where it is no valid one.
Report ReadReport(const std::string& directory);

// What a run with this id left on the machine: live processes, cgroups, files in `directory`; one
// line each, "" for nothing. Waits up to `patience` for it to be nothing.
std::string Leftovers(const std::string& run_id, const std::string& directory,
                      std::chrono::milliseconds patience);

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_PROGRAM_H_
