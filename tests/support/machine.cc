#include "tests/support/machine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "userspace/platform/cgroup.h"
#include "userspace/platform/files.h"
#include "userspace/platform/process.h"
#include "userspace/session/child_spec.h"
#include "userspace/trace/tracefs_instance.h"

namespace whylate {
namespace {

namespace fs = std::filesystem;

std::string ReadOrNothing(const std::string& path) { return ReadFile(path).value_or(""); }

// proc(5): after the name in parentheses, field 3 is the state, 14 and 15 CPU ticks, 19 the nice.
std::optional<ThreadFacts> ReadThread(pid_t process, pid_t thread) {
  const std::string stat =
      ReadOrNothing(absl::StrCat("/proc/", process, "/task/", thread, "/stat"));
  const size_t name_start = stat.find('(');
  const size_t name_end = stat.rfind(')');
  if (name_end == stat.npos || name_end + 2 >= stat.size()) return std::nullopt;
  const std::vector<std::string> fields = absl::StrSplit(stat.substr(name_end + 2), ' ');
  if (fields.size() < 17 || fields[0] == "Z" || fields[0] == "X") return std::nullopt;
  ThreadFacts facts;
  facts.process = process;
  facts.thread = thread;
  facts.name = stat.substr(name_start + 1, name_end - name_start - 1);
  facts.cpu_ticks = std::strtoull(fields[11].c_str(), nullptr, 10) +
                    std::strtoull(fields[12].c_str(), nullptr, 10);
  facts.nice = std::strtoll(fields[16].c_str(), nullptr, 10);
  return facts;
}

std::string ValueOf(const std::string& text, const std::string& key) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, absl::StrCat(key, ":"))) {
      return std::string(absl::StripAsciiWhitespace(line));
    }
  }
  return "";
}

bool IsOurs(pid_t pid, const std::string& run_id, const std::string& directory) {
  const std::string proc = absl::StrCat("/proc/", pid);
  std::error_code error;
  const fs::path program = fs::read_symlink(proc + "/exe", error);
  if (!error && fs::canonical(WHYLATE_PROGRAM) == program) return true;
  const std::string variable = absl::StrCat(kRunIdVariable, "=", run_id);
  for (absl::string_view text : absl::StrSplit(ReadOrNothing(proc + "/environ"), '\0')) {
    if (text == variable) return true;
  }
  return absl::StrContains(ReadOrNothing(proc + "/cmdline"), directory);
}

std::string LeftoversNow(const std::string& run_id, const std::string& directory) {
  std::string found;
  for (const ProcessFacts& facts : ReadAllProcesses()) {
    const pid_t pid = facts.identity.tgid.value;
    if (facts.state == 'Z' || facts.state == 'X' || pid == getpid()) continue;
    if (!IsOurs(pid, run_id, directory)) continue;
    std::string arguments = ReadOrNothing(absl::StrCat("/proc/", pid, "/cmdline"));
    for (char& c : arguments) c = c == '\0' ? ' ' : c;
    absl::StrAppend(&found, "process ", pid, " ", arguments, "\n");
  }
  VisitOurCgroups([&](const std::string& path) {
    if (absl::EndsWith(path, run_id)) absl::StrAppend(&found, "cgroup ", path, "\n");
  });
  for (const std::string& name : TracefsInstances()) {
    if (absl::StrContains(name, run_id)) absl::StrAppend(&found, "ftrace instance ", name, "\n");
  }
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (absl::StartsWith(name, ".")) absl::StrAppend(&found, "file ", entry.path().string(), "\n");
  }
  return found;
}

bool EnterOwnMountNamespace() {
  static const bool entered =
      unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  return entered;
}

std::string NewDirectory(const ScratchDirectory& scratch, const std::string& name) {
  std::string path = scratch.File(absl::StrCat(name, "-XXXXXX"));
  if (mkdtemp(path.data()) == nullptr) abort();
  chmod(path.c_str(), 0755);
  return path;
}

bool Run(const std::string& command) { return std::system(command.c_str()) == 0; }

}  // namespace

std::vector<ThreadFacts> ThreadsBelow(pid_t root) {
  std::vector<ThreadFacts> threads;
  for (const ProcessFacts& facts : DescendantsOf(Tgid{root}, ReadAllProcesses())) {
    const pid_t process = facts.identity.tgid.value;
    std::error_code error;
    fs::directory_iterator tasks(absl::StrCat("/proc/", process, "/task"), error);
    for (; !error && tasks != fs::directory_iterator(); tasks.increment(error)) {
      pid_t thread = 0;
      if (!absl::SimpleAtoi(tasks->path().filename().string(), &thread)) continue;
      if (std::optional<ThreadFacts> found = ReadThread(process, thread)) {
        threads.push_back(*std::move(found));
      }
    }
  }
  return threads;
}

std::vector<std::string> ThreadNamesBelow(pid_t root) {
  std::vector<std::string> names;
  for (const ThreadFacts& thread : ThreadsBelow(root)) names.push_back(thread.name);
  return names;
}

std::optional<ThreadFacts> FindThread(pid_t root, const std::string& name) {
  for (const ThreadFacts& thread : ThreadsBelow(root)) {
    if (thread.name == name) return thread;
  }
  return std::nullopt;
}

std::string StatusOf(pid_t pid, const std::string& key) {
  return ValueOf(ReadOrNothing(absl::StrCat("/proc/", pid, "/status")), key);
}

int64_t IoOf(pid_t pid, const std::string& key) {
  int64_t value = 0;
  (void)absl::SimpleAtoi(ValueOf(ReadOrNothing(absl::StrCat("/proc/", pid, "/io")), key), &value);
  return value;
}

std::string CgroupsBesideMemory(pid_t pid) {
  std::vector<std::string> kept;
  const std::string text = ReadOrNothing(absl::StrCat("/proc/", pid, "/cgroup"));
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    if (!absl::StrContains(line, ":memory:")) kept.push_back(line);
  }
  return absl::StrJoin(kept, "\n");
}

std::string Leftovers(const std::string& run_id, const std::string& directory,
                      std::chrono::milliseconds patience) {
  std::string found;
  Eventually(
      [&] {
        found = LeftoversNow(run_id, directory);
        return found.empty();
      },
      patience);
  return found;
}

std::optional<PrivateMount> PrivateMount::Disk(const ScratchDirectory& scratch,
                                               int64_t size_bytes) {
  // In memory, so that who else uses the machine's disk cannot halt it. It is there as long as the
  // loop device is.
  const std::optional<PrivateMount> memory = Memory(scratch, size_bytes + (int64_t{1} << 20));
  if (!memory) return std::nullopt;
  const std::string path = NewDirectory(scratch, "disk");
  const std::string image = memory->path() + "/image";
  const UniqueFd file(open(image.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid() || ftruncate(file.get(), size_bytes) != 0) return std::nullopt;
  // No journal and no reserve: what the test writes is what the device sees, and fits.
  if (!Run(absl::StrCat("mkfs.ext4 -q -F -m 0 -O ^has_journal ", image)) ||
      !Run(absl::StrCat("mount -o loop ", image, " ", path))) {
    return std::nullopt;
  }
  return PrivateMount(path);
}

std::optional<PrivateMount> PrivateMount::Memory(const ScratchDirectory& scratch,
                                                 int64_t size_bytes) {
  if (!EnterOwnMountNamespace()) return std::nullopt;
  const std::string path = NewDirectory(scratch, "memory");
  const std::string size = absl::StrCat("size=", size_bytes);
  if (mount("none", path.c_str(), "tmpfs", 0, size.c_str()) != 0) return std::nullopt;
  return PrivateMount(path);
}

PrivateMount::PrivateMount(PrivateMount&& other) noexcept : path_(std::exchange(other.path_, "")) {}

PrivateMount::~PrivateMount() {
  if (!path_.empty()) umount2(path_.c_str(), MNT_DETACH);
}

int64_t PrivateMount::FreeBytes() const {
  struct statvfs facts = {};
  statvfs(path_.c_str(), &facts);
  return static_cast<int64_t>(facts.f_bavail * facts.f_frsize);
}

int64_t PrivateMount::DeviceBytes(size_t field) const {
  struct stat facts = {};
  stat(path_.c_str(), &facts);
  const std::string text = ReadOrNothing(
      absl::StrCat("/sys/dev/block/", major(facts.st_dev), ":", minor(facts.st_dev), "/stat"));
  const std::vector<std::string> fields = absl::StrSplit(text, ' ', absl::SkipWhitespace());
  int64_t sectors = 0;
  if (field < fields.size()) (void)absl::SimpleAtoi(fields[field], &sectors);
  return sectors * 512;
}

}  // namespace whylate
