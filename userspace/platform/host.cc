#include "userspace/platform/host.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "analysis/model/cpu_set.h"
#include "userspace/platform/files.h"
#include "userspace/platform/kernel_config.h"
#include "userspace/platform/mounts.h"
#include "userspace/platform/virtualization.h"

namespace whylate {
namespace {

using Value = std::optional<std::string>;

Value NonEmpty(Value value) {
  if (value && value->empty()) return std::nullopt;
  return value;
}

// "key<blanks>:<blanks>value" of /proc/cpuinfo and /proc/meminfo; the first line with that key.
Value ColonField(absl::string_view text, absl::string_view key) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::pair<absl::string_view, absl::string_view> field =
        absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (absl::StripAsciiWhitespace(field.first) == key) {
      return NonEmpty(std::string(absl::StripAsciiWhitespace(field.second)));
    }
  }
  return std::nullopt;
}

// "24684096 kB" in bytes.
Value MemoryBytes(absl::string_view meminfo, absl::string_view key) {
  const Value field = ColonField(meminfo, key);
  if (!field) return std::nullopt;
  int64_t kib = 0;
  if (!absl::SimpleAtoi(absl::StripSuffix(*field, " kB"), &kib)) return std::nullopt;
  return absl::StrCat(kib * 1024);
}

Value CpuModel(absl::string_view cpuinfo, const std::string& proc) {
  if (Value model = ColonField(cpuinfo, "model name")) return model;
  Value board = ReadFileLine(absl::StrCat(proc, "/device-tree/model"));
  if (board) board->resize(std::min(board->find('\0'), board->size()));
  const Value implementer = ColonField(cpuinfo, "CPU implementer");
  const Value part = ColonField(cpuinfo, "CPU part");
  if (!implementer || !part) return NonEmpty(board);
  const std::string cpu = absl::StrCat("implementer ", *implementer, " part ", *part);
  return board && !board->empty() ? absl::StrCat(*board, ", ", cpu) : cpu;
}

Value OnlineCount(const Value& online) {
  if (!online) return std::nullopt;
  const absl::StatusOr<CpuSet> cpus = CpuSet::Parse(*online);
  if (!cpus.ok()) return std::nullopt;
  return absl::StrCat(cpus->Count());
}

// Names in directory `path`, sorted; empty where it can't be listed.
std::set<std::string> ListDirectory(const std::string& path) {
  std::set<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    names.insert(entry->path().filename().string());
  }
  return names;
}

Value Governors(const std::string& sys) {
  const std::string cpufreq = absl::StrCat(sys, "/devices/system/cpu/cpufreq");
  std::set<std::string> governors;
  for (const std::string& policy : ListDirectory(cpufreq)) {
    const Value governor =
        NonEmpty(ReadFileLine(absl::StrCat(cpufreq, "/", policy, "/scaling_governor")));
    if (governor) governors.insert(*governor);
  }
  if (governors.empty()) return std::nullopt;
  return absl::StrJoin(governors, ",");
}

Value Mitigations(const std::string& sys) {
  const std::string directory = absl::StrCat(sys, "/devices/system/cpu/vulnerabilities");
  std::vector<std::string> affected;
  const std::set<std::string> names = ListDirectory(directory);
  for (const std::string& name : names) {
    const Value state = NonEmpty(ReadFileLine(absl::StrCat(directory, "/", name)));
    if (state && *state != "Not affected") affected.push_back(absl::StrCat(name, ": ", *state));
  }
  if (names.empty()) return std::nullopt;
  return affected.empty() ? "none needed" : absl::StrJoin(affected, " | ");
}

Value Autogroup(const std::string& proc) {
  const Value enabled = ReadFileLine(absl::StrCat(proc, "/sys/kernel/sched_autogroup_enabled"));
  if (!enabled) return std::nullopt;
  return *enabled == "0" ? "off" : "on";
}

Value SchedExtOps(const std::string& sys) {
  std::error_code error;
  const std::string directory = absl::StrCat(sys, "/kernel/sched_ext");
  if (!std::filesystem::is_directory(directory, error)) return std::nullopt;
  const Value ops = ReadFileLine(absl::StrCat(directory, "/root/ops"));
  return ops && !ops->empty() ? *ops : "none";
}

Value SchedulerSwitches(const Value& command_line) {
  if (!command_line) return std::nullopt;
  const std::vector<std::string> switches = OutOfTreeSchedulerSwitches(*command_line);
  return switches.empty() ? "none" : absl::StrJoin(switches, " ");
}

Value Distribution(const std::string& etc) {
  const absl::StatusOr<std::string> text = ReadFile(absl::StrCat(etc, "/os-release"));
  if (!text.ok()) return std::nullopt;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    if (!absl::ConsumePrefix(&line, "PRETTY_NAME=")) continue;
    for (const absl::string_view quote : {"\"", "'"}) {
      if (absl::StartsWith(line, quote) && absl::EndsWith(line, quote) && line.size() >= 2) {
        line = line.substr(1, line.size() - 2);
        break;
      }
    }
    return NonEmpty(std::string(line));
  }
  return std::nullopt;
}

// `path`, absolute and free of symbolic links; of one that does not exist, its nearest parent.
std::string ExistingPath(const std::string& path) {
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::absolute(path, error);
  while (!absolute.empty()) {
    const std::filesystem::path real = std::filesystem::canonical(absolute, error);
    if (!error) return real.string();
    if (absolute == absolute.parent_path()) break;
    absolute = absolute.parent_path();
  }
  return "/";
}

Value Machine(const std::string& proc) {
  // /proc/sys/kernel/arch is of 6.1 and later.
  if (Value arch = NonEmpty(ReadFileLine(absl::StrCat(proc, "/sys/kernel/arch")))) return arch;
  utsname names;
  if (uname(&names) != 0) return std::nullopt;
  return std::string(names.machine);
}

void AddKernelFacts(const HostPaths& paths, std::vector<HostFact>& facts) {
  const Value release = ReadFileLine(absl::StrCat(paths.proc, "/sys/kernel/osrelease"));
  const Value version = ReadFileLine(absl::StrCat(paths.proc, "/sys/kernel/version"));
  const Value command_line = ReadFileLine(absl::StrCat(paths.proc, "/cmdline"));
  const Value config = ReadKernelConfig(paths.proc, paths.boot, release.value_or(""));
  PreemptSources preempt;
  preempt.debugfs = ReadFileLine(absl::StrCat(paths.sys, "/kernel/debug/sched/preempt"));
  preempt.version = version;
  preempt.kernel_log = ReadKernelLog(paths.kernel_log);
  preempt.command_line = command_line;
  preempt.config = config;
  facts.push_back({"kernel", release});
  facts.push_back({"kernel_version", version});
  facts.push_back({"machine", Machine(paths.proc)});
  facts.push_back({"config_hash", config ? Value(KernelConfigHash(*config)) : std::nullopt});
  facts.push_back({"hz", config ? KernelConfigValue(*config, "CONFIG_HZ") : std::nullopt});
  facts.push_back({"preempt", PreemptMode(preempt)});
  facts.push_back({"command_line", command_line});
}

void AddHardwareFacts(const HostPaths& paths, const std::string& cpuinfo,
                      std::vector<HostFact>& facts) {
  const std::string meminfo = ReadFile(absl::StrCat(paths.proc, "/meminfo")).value_or("");
  const Value online =
      NonEmpty(ReadFileLine(absl::StrCat(paths.sys, "/devices/system/cpu/online")));
  facts.push_back({"cpu_model", CpuModel(cpuinfo, paths.proc)});
  facts.push_back({"cpus_online", online});
  facts.push_back({"cpus", OnlineCount(online)});
  facts.push_back({"ram_bytes", MemoryBytes(meminfo, "MemTotal")});
  facts.push_back({"swap_bytes", MemoryBytes(meminfo, "SwapTotal")});
}

void AddSchedulerFacts(const HostPaths& paths, std::vector<HostFact>& facts) {
  const std::string debug_sched = absl::StrCat(paths.sys, "/kernel/debug/sched");
  facts.push_back({"governor", Governors(paths.sys)});
  facts.push_back(
      {"clocksource",
       NonEmpty(ReadFileLine(absl::StrCat(
           paths.sys, "/devices/system/clocksource/clocksource0/current_clocksource")))});
  Value features = ReadFileLine(absl::StrCat(debug_sched, "/features"));
  if (features) absl::StripAsciiWhitespace(&*features);  // ends in a blank
  facts.push_back({"sched_features", features});
  facts.push_back({"base_slice_ns", ReadFileLine(absl::StrCat(debug_sched, "/base_slice_ns"))});
  facts.push_back({"autogroup", Autogroup(paths.proc)});
  facts.push_back({"mitigations", Mitigations(paths.sys)});
  facts.push_back({"sched_ext_ops", SchedExtOps(paths.sys)});
}

}  // namespace

std::vector<HostFact> ReadHostFacts(const HostPaths& paths, const std::string& workdir) {
  const std::string cpuinfo = ReadFile(absl::StrCat(paths.proc, "/cpuinfo")).value_or("");
  const std::vector<Mount> mounts = ReadMounts(paths.proc);
  const Mount* mount = FindMount(mounts, ExistingPath(workdir));
  std::vector<HostFact> facts;
  AddKernelFacts(paths, facts);
  AddHardwareFacts(paths, cpuinfo, facts);
  facts.push_back({"workdir_file_system", mount ? Value(mount->fs_type) : std::nullopt});
  facts.push_back({"workdir_device", mount ? Value(mount->source) : std::nullopt});
  AddSchedulerFacts(paths, facts);
  const Value signature =
      paths.hypervisor_signature ? paths.hypervisor_signature : HypervisorSignature();
  facts.push_back({"virtualization", Virtualization(cpuinfo, paths.proc, paths.sys, signature)});
  facts.push_back({"scheduler_switches", SchedulerSwitches(FindFact(facts, "command_line"))});
  facts.push_back({"distribution", Distribution(paths.etc)});
  facts.push_back({"cgroup_version",
                   mounts.empty() ? std::nullopt : Value(ReadCgroupLayout(mounts).ToString())});
  facts.push_back(
      {"rt_runtime_us", ReadFileLine(absl::StrCat(paths.proc, "/sys/kernel/sched_rt_runtime_us"))});
  return facts;
}

}  // namespace whylate
