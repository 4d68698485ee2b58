#include "tests/support/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "analysis/attribution/explain.h"
#include "analysis/report/explanation_json.h"
#include "userspace/cli/trace_file.h"
#include "userspace/platform/files.h"
#include "userspace/platform/process.h"
#include "userspace/session/session_directory.h"
#include "userspace/session/sweep.h"

extern char** environ;

namespace whylate {
namespace {

constexpr std::chrono::seconds kEndPatience(120);
constexpr std::chrono::seconds kOutputPatience(15);

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

std::vector<std::string> EnvironmentOf(const ProgramRequest& request) {
  std::vector<std::string> variables;
  const auto name_of = [](const std::string& variable) {
    return variable.substr(0, variable.find('='));
  };
  for (char** variable = environ; *variable != nullptr; ++variable) {
    bool replaced = false;
    for (const std::string& change : request.environment) {
      replaced = replaced || name_of(change) == name_of(*variable);
    }
    if (!replaced) variables.emplace_back(*variable);
  }
  for (const std::string& change : request.environment) {
    if (absl::StrContains(change, '=')) variables.push_back(change);
  }
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// As from a user's shell, however the test itself was started: under nohup, in the background.
void ResetSignals() {
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

RunningProgram::RunningProgram(const ProgramRequest& request) {
  std::vector<std::string> arguments = {"whylate"};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  std::vector<std::string> environment = EnvironmentOf(request);
  const std::vector<char*> argument_pointers = Pointers(arguments);
  const std::vector<char*> environment_pointers = Pointers(environment);
  // By descriptor: another user may not be able to walk to where the program was built.
  const UniqueFd program(open(WHYLATE_PROGRAM, O_PATH | O_CLOEXEC));
  const Pipe out;
  const Pipe err;
  pid_ = fork();
  if (pid_ == 0) {
    setpgid(0, 0);
    ResetSignals();
    dup2(out.write.get(), STDOUT_FILENO);
    dup2(err.write.get(), STDERR_FILENO);
    if (!request.directory.empty() && chdir(request.directory.c_str()) != 0) _exit(126);
    request.before_exec();
    execveat(program.get(), "", argument_pointers.data(), environment_pointers.data(),
             AT_EMPTY_PATH);
    _exit(127);
  }
  setpgid(pid_, pid_);
  const std::optional<ProcessFacts> facts = ReadProcess(Tgid{pid_});
  if (facts) run_id_ = MakeRunId(facts->identity);
  out_ = UniqueFd(fcntl(out.read.get(), F_DUPFD_CLOEXEC, 0));
  err_ = UniqueFd(fcntl(err.read.get(), F_DUPFD_CLOEXEC, 0));
  drain_ = std::thread([this] { Drain(); });
}

RunningProgram::~RunningProgram() {
  if (!reaped_) {
    Signal(SIGKILL);
    Wait();
  }
}

// Reads both pipes until their ends.
void RunningProgram::Drain() {
  std::array<pollfd, 2> polled = {{{out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}}};
  std::array<std::string*, 2> texts = {&result_.out, &result_.err};
  while ((polled[0].fd >= 0 || polled[1].fd >= 0) && !give_up_) {
    poll(polled.data(), polled.size(), 50);
    for (size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].fd < 0 || polled[i].revents == 0) continue;
      std::array<char, 65536> buffer;
      const ssize_t count = read(polled[i].fd, buffer.data(), buffer.size());
      if (count <= 0) {
        polled[i].fd = -1;
      } else {
        const std::lock_guard lock(mutex_);
        texts[i]->append(buffer.data(), static_cast<size_t>(count));
      }
    }
  }
  drained_ = true;
}

std::string RunningProgram::err() const {
  const std::lock_guard lock(mutex_);
  return result_.err;
}

bool RunningProgram::HasEnded() const {
  siginfo_t info = {};
  return reaped_ ||
         (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
          info.si_pid == pid_);
}

void RunningProgram::Signal(int number) const { kill(pid_, number); }
void RunningProgram::SignalGroup(int number) const { kill(-pid_, number); }

ProgramResult RunningProgram::Wait() {
  if (reaped_) return result_;
  if (!Eventually([this] { return HasEnded(); }, kEndPatience)) {
    ADD_FAILURE() << "the program did not end; so far it said:\n" << err();
    Signal(SIGKILL);
  }
  int wait_status = 0;
  waitpid(pid_, &wait_status, 0);
  reaped_ = true;
  if (!Eventually([this] { return drained_.load(); }, kOutputPatience)) {
    ADD_FAILURE() << "something keeps the output of the ended program open";
  }
  give_up_ = true;
  drain_.join();
  result_.exit_code =
      WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
  return result_;
}

ProgramResult RunProgram(const ProgramRequest& request) { return RunningProgram(request).Wait(); }

ProgramResult RunProgram(const std::vector<std::string>& arguments) {
  return RunProgram(ProgramRequest{.arguments = arguments});
}

bool Eventually(const std::function<bool()>& condition, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
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

namespace {

// The recording of a cell leads to what the report says of it, to the byte.
void ExpectSameFromRecording(const std::string& directory, const Json& cell) {
  const std::string path = absl::StrCat(directory, "/", cell.at("recording").get<std::string>());
  const absl::StatusOr<ImportedTrace> trace = OpenTrace(path);
  ASSERT_TRUE(trace.ok()) << trace.status();
  ASSERT_TRUE(trace->has_frames) << path;
  const Recording& recording = trace->recording;
  Json again;
  AddExplanation(Explain(recording), recording.frames, again);
  for (const auto& [key, value] : again.items()) {
    const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    EXPECT_EQ(cell.at(key).dump(), text) << key << " of " << path;
  }
}

}  // namespace

Report ReadReport(const std::string& directory) {
  absl::StatusOr<Report> report = ReadSessionReport(directory);
  EXPECT_TRUE(report.ok()) << report.status();
  if (report.ok()) {
    const Json json = Json::parse(ReadText(absl::StrCat(directory, "/", kReportJson)));
    for (const Json& cell : json.at("cells")) {
      if (!cell.at("recording").is_null()) ExpectSameFromRecording(directory, cell);
    }
  }
  return report.ok() ? *std::move(report) : Report();
}

std::string ReadText(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.value_or("");
}

}  // namespace whylate
