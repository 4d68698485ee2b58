#include "userspace/platform/process.h"

#include <dirent.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "userspace/platform/clock.h"
#include "userspace/platform/errno_status.h"
#include "userspace/platform/files.h"

namespace whylate {
namespace {

// Fields of /proc/PID/stat after the name, which stands in parentheses and may hold any byte.
// Numbers are those of proc(5), where the state is field 3.
std::optional<ProcessFacts> ParseStat(Tgid tgid, absl::string_view stat) {
  const size_t name_end = stat.rfind(')');
  if (name_end == stat.npos || name_end + 2 >= stat.size()) return std::nullopt;
  const std::vector<absl::string_view> fields =
      absl::StrSplit(stat.substr(name_end + 2), ' ', absl::SkipWhitespace());
  constexpr size_t kFirstField = 3;
  const auto number = [&](size_t field) {
    uint64_t value = 0;
    if (field - kFirstField < fields.size()) {
      (void)absl::SimpleAtoi(fields[field - kFirstField], &value);
    }
    return value;
  };
  ProcessFacts facts;
  facts.identity = {tgid, number(22)};
  facts.parent = Tgid{static_cast<int32_t>(number(4))};
  facts.state = fields.empty() || fields[0].empty() ? '?' : fields[0][0];
  facts.cpu_ticks = number(14) + number(15);
  facts.reaped_ticks = number(16) + number(17);
  return facts;
}

bool IsDead(const ProcessFacts& facts) { return facts.state == 'Z' || facts.state == 'X'; }

}  // namespace

std::string MakeRunId(const ProcessIdentity& process) {
  return absl::StrCat(process.tgid.value, "-", process.start_ticks);
}

std::optional<ProcessIdentity> ParseRunId(absl::string_view run_id) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(run_id, absl::MaxSplits('-', 1));
  ProcessIdentity identity;
  if (!absl::SimpleAtoi(parts.first, &identity.tgid.value) ||
      !absl::SimpleAtoi(parts.second, &identity.start_ticks) || identity.tgid.value <= 0) {
    return std::nullopt;
  }
  return identity;
}

std::optional<ProcessFacts> ReadProcess(Tgid tgid) {
  absl::StatusOr<std::string> stat = ReadFile(absl::StrCat("/proc/", tgid.value, "/stat"));
  if (!stat.ok()) return std::nullopt;
  return ParseStat(tgid, *stat);
}

std::vector<ProcessFacts> ReadAllProcesses() {
  std::vector<ProcessFacts> processes;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(opendir("/proc"), closedir);
  if (proc == nullptr) return processes;
  while (const dirent* entry = readdir(proc.get())) {
    int32_t pid = 0;
    if (!absl::SimpleAtoi(entry->d_name, &pid)) continue;
    if (std::optional<ProcessFacts> facts = ReadProcess(Tgid{pid})) processes.push_back(*facts);
  }
  return processes;
}

std::vector<ProcessFacts> DescendantsOf(Tgid root, const std::vector<ProcessFacts>& all) {
  absl::flat_hash_map<Tgid, std::vector<const ProcessFacts*>> children;
  for (const ProcessFacts& facts : all) children[facts.parent].push_back(&facts);
  std::vector<ProcessFacts> descendants;
  std::vector<Tgid> open = {root};
  absl::flat_hash_set<Tgid> seen = {root};
  while (!open.empty()) {
    const Tgid parent = open.back();
    open.pop_back();
    for (const ProcessFacts* child : children[parent]) {
      if (!seen.insert(child->identity.tgid).second) continue;
      descendants.push_back(*child);
      open.push_back(child->identity.tgid);
    }
  }
  return descendants;
}

bool IsAlive(const ProcessIdentity& identity) {
  const std::optional<ProcessFacts> facts = ReadProcess(identity.tgid);
  return facts && facts->identity == identity && !IsDead(*facts);
}

void KillProcess(const ProcessIdentity& identity) {
  // The pidfd pins the process, so that the check and the signal mean the same one.
  absl::StatusOr<UniqueFd> pidfd = OpenPidfd(identity.tgid);
  if (!pidfd.ok()) return;
  const std::optional<ProcessFacts> facts = ReadProcess(identity.tgid);
  if (!facts || facts->identity != identity) return;
  syscall(SYS_pidfd_send_signal, pidfd->get(), SIGKILL, nullptr, 0);
}

size_t KillDescendants(Tgid root, int64_t timeout_ns) {
  const int64_t until_ns = MonotonicNs() + timeout_ns;
  while (true) {
    size_t left = 0;
    for (const ProcessFacts& facts : DescendantsOf(root, ReadAllProcesses())) {
      if (IsDead(facts)) continue;
      ++left;
      KillProcess(facts.identity);
    }
    if (left == 0 || MonotonicNs() >= until_ns) return left;
    SleepUntilNs(MonotonicNs() + 5 * kNsPerMs);
  }
}

uint64_t DescendantsCpuMs(Tgid root) {
  uint64_t ticks = 0;
  for (const ProcessFacts& facts : DescendantsOf(root, ReadAllProcesses())) {
    ticks += facts.cpu_ticks + facts.reaped_ticks;
  }
  if (const std::optional<ProcessFacts> facts = ReadProcess(root)) ticks += facts->reaped_ticks;
  return ticks * 1000 / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
}

absl::Status InInitialPidNamespace(const std::string& proc) {
  // PROC_PID_INIT_INO of include/linux/proc_ns.h: the number of the first one, on every machine.
  constexpr absl::string_view kInitial = "pid:[4026531836]";
  std::array<char, 64> link = {};
  const ssize_t length =
      readlink(absl::StrCat(proc, "/self/ns/pid").c_str(), link.data(), link.size());
  if (length < 0) return ErrnoStatus(errno, "read /proc/self/ns/pid");
  if (absl::string_view(link.data(), static_cast<size_t>(length)) == kInitial) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      "this process is in a PID namespace of its own (a container), where its thread ids are not "
      "those that the kernel records; run it on the host, or in a container with the host's PID "
      "namespace (--pid=host)");
}

absl::StatusOr<UniqueFd> OpenPidfd(Tgid tgid) {
  UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, tgid.value, 0)));
  if (!fd.valid()) return ErrnoStatus(errno, absl::StrCat("open process ", tgid.value));
  return fd;
}

std::string DescribeWaitStatus(int wait_status) {
  if (WIFEXITED(wait_status)) {
    return absl::StrCat("exited with status ", WEXITSTATUS(wait_status));
  }
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    return absl::StrCat("was killed by signal ", signal, " (", strsignal(signal), ")");
  }
  return absl::StrCat("ended with wait status ", wait_status);
}

}  // namespace whylate
