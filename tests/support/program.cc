#include "tests/support/program.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "userspace/platform/cgroup.h"
#include "userspace/platform/files.h"
#include "userspace/platform/process.h"
#include "userspace/platform/unique_fd.h"
#include "userspace/session/child_spec.h"
#include "userspace/session/session_directory.h"

namespace whylate {
namespace {

struct Pipe {
  Pipe() {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) abort();
    read = UniqueFd(fds[0]);
    write = UniqueFd(fds[1]);
  }
  UniqueFd read;
  UniqueFd write;
};

// Reads both pipes until their ends.
void Drain(const Pipe& out, const Pipe& err, ProgramResult& result) {
  std::array<pollfd, 2> polled = {{{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}}};
  std::array<std::string*, 2> texts = {&result.out, &result.err};
  while (polled[0].fd >= 0 || polled[1].fd >= 0) {
    poll(polled.data(), polled.size(), -1);
    for (size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].fd < 0 || polled[i].revents == 0) continue;
      std::array<char, 65536> buffer;
      const ssize_t count = read(polled[i].fd, buffer.data(), buffer.size());
      if (count <= 0) {
        polled[i].fd = -1;
      } else {
        texts[i]->append(buffer.data(), static_cast<size_t>(count));
      }
    }
  }
}

bool HasRunId(const ProcessFacts& facts, const std::string& run_id) {
  absl::StatusOr<std::string> environment =
      ReadFile(absl::StrCat("/proc/", facts.identity.tgid.value, "/environ"));
  return environment.ok() &&
         absl::StrContains(*environment, absl::StrCat(kRunIdVariable, "=", run_id));
}

std::string LeftoversNow(const std::string& run_id, const std::string& directory) {
  std::string found;
  for (const ProcessFacts& facts : ReadAllProcesses()) {
    if (facts.state == 'Z' || facts.state == 'X') continue;
    if (HasRunId(facts, run_id)) {
      absl::StrAppend(&found, "process ", facts.identity.tgid.value, "\n");
    }
  }
  VisitOurCgroups([&](const std::string& path) {
    if (absl::EndsWith(path, run_id)) absl::StrAppend(&found, "cgroup ", path, "\n");
  });
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (absl::StartsWith(name, ".")) absl::StrAppend(&found, "file ", entry.path().string(), "\n");
  }
  return found;
}

}  // namespace

ProgramResult RunProgram(const std::vector<std::string>& arguments) {
  return RunProgramAnd(arguments, std::chrono::milliseconds(0), [](pid_t) {});
}

ProgramResult RunProgramAnd(const std::vector<std::string>& arguments,
                            std::chrono::milliseconds delay,
                            const std::function<void(pid_t)>& during) {
  std::vector<std::string> texts = {WHYLATE_PROGRAM};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  Pipe out;
  Pipe err;
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    dup2(out.write.get(), STDOUT_FILENO);
    dup2(err.write.get(), STDERR_FILENO);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  out.write.Reset();
  err.write.Reset();
  std::thread other([&] {
    std::this_thread::sleep_for(delay);
    during(pid);
  });
  ProgramResult result;
  Drain(out, err, result);
  other.join();
  int wait_status = 0;
  waitpid(pid, &wait_status, 0);
  result.exit_code =
      WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
  return result;
}

ScratchDirectory::ScratchDirectory() {
  std::string name = absl::StrCat(std::filesystem::current_path().string(), "/scratch-XXXXXX");
  if (mkdtemp(name.data()) == nullptr) abort();
  path_ = name;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

Report ReadReport(const std::string& directory) {
  absl::StatusOr<Report> report = ReadSessionReport(directory);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : Report();
}

std::string Leftovers(const std::string& run_id, const std::string& directory,
                      std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (true) {
    std::string found = LeftoversNow(run_id, directory);
    if (found.empty() || std::chrono::steady_clock::now() >= until) return found;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace whylate
