#include "userspace/platform/kernel_config.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "userspace/platform/files.h"
#include "userspace/platform/unique_fd.h"

namespace whylate {
namespace {

// A configuration has some 250 KiB, a kernel log at most CONFIG_LOG_BUF_SHIFT's few MiB.
constexpr size_t kMaxTextBytes = size_t{16} << 20;

struct GzClose {
  void operator()(gzFile_s* file) const { gzclose(file); }
};

std::optional<std::string> ReadGzip(const std::string& path) {
  const std::unique_ptr<gzFile_s, GzClose> file(gzopen(path.c_str(), "rbe"));
  if (file == nullptr) return std::nullopt;
  std::string text;
  std::array<char, 65536> buffer;
  while (text.size() < kMaxTextBytes) {
    const int count = gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    text.append(buffer.data(), static_cast<size_t>(count));
  }
  // A file cut short ends a read without an error of its own; gzerror knows (Z_BUF_ERROR).
  int error = Z_OK;
  gzerror(file.get(), &error);
  if (error != Z_OK || text.empty()) return std::nullopt;
  return text;
}

bool HasWord(absl::string_view text, absl::string_view word) {
  const std::vector<absl::string_view> words = absl::StrSplit(text, absl::ByAnyChar(" \t\n"));
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::optional<std::string> KnownMode(absl::string_view mode) {
  for (const absl::string_view known : {"none", "voluntary", "full", "lazy"}) {
    if (mode == known) return std::string(known);
  }
  return std::nullopt;
}

// "none voluntary (full) lazy": the current one is in brackets.
std::optional<std::string> Bracketed(absl::string_view text) {
  const size_t open = text.find('(');
  const size_t close = text.find(')');
  if (open == absl::string_view::npos || close == absl::string_view::npos || close < open) {
    return std::nullopt;
  }
  return KnownMode(text.substr(open + 1, close - open - 1));
}

// sched_dynamic_update() (kernel/sched/core.c) logs each change; the last one holds.
std::optional<std::string> LoggedMode(absl::string_view kernel_log) {
  constexpr absl::string_view kPrefix = "Dynamic Preempt: ";
  const size_t at = kernel_log.rfind(kPrefix);
  if (at == absl::string_view::npos) return std::nullopt;
  const absl::string_view rest = kernel_log.substr(at + kPrefix.size());
  return KnownMode(rest.substr(0, rest.find_first_of("\n ;")));
}

std::optional<std::string> BootMode(absl::string_view command_line) {
  std::optional<std::string> mode;
  for (const std::string& parameter : KernelParameters(command_line)) {
    absl::string_view value = parameter;
    if (!absl::ConsumePrefix(&value, "preempt=")) continue;
    if (const std::optional<std::string> known = KnownMode(value)) mode = known;
  }
  return mode;
}

// What the build chose; with PREEMPT_DYNAMIC, what it boots with.
std::optional<std::string> BuiltMode(absl::string_view config) {
  constexpr std::pair<absl::string_view, absl::string_view> kChoices[] = {
      {"CONFIG_PREEMPT_RT", "rt"},
      {"CONFIG_PREEMPT_NONE", "none"},
      {"CONFIG_PREEMPT_VOLUNTARY", "voluntary"},
      {"CONFIG_PREEMPT_LAZY", "lazy"},
      {"CONFIG_PREEMPT", "full"},
  };
  for (const auto& [name, mode] : kChoices) {
    if (KernelConfigValue(config, name) == "y") return std::string(mode);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> ReadKernelConfig(const std::string& proc, const std::string& boot,
                                            const std::string& release) {
  std::optional<std::string> config = ReadGzip(absl::StrCat(proc, "/config.gz"));
  if (config) return config;
  absl::StatusOr<std::string> text = ReadFile(absl::StrCat(boot, "/config-", release));
  if (!text.ok() || text->empty()) return std::nullopt;
  return *std::move(text);
}

std::optional<std::string> KernelConfigValue(absl::string_view config, absl::string_view name) {
  for (absl::string_view line : absl::StrSplit(config, '\n')) {
    if (absl::ConsumePrefix(&line, name) && absl::ConsumePrefix(&line, "=")) {
      return std::string(absl::StripAsciiWhitespace(line));
    }
  }
  return std::nullopt;
}

std::string KernelConfigHash(absl::string_view config) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : config) {
    hash ^= static_cast<uint8_t>(byte);
    hash *= 0x100000001b3;
  }
  return absl::StrFormat("%016x", hash);
}

std::optional<std::string> PreemptMode(const PreemptSources& sources) {
  const std::string version = sources.version.value_or("");
  const std::string config = sources.config.value_or("");
  if (HasWord(version, "PREEMPT_RT")) return "rt";
  const bool dynamic = HasWord(version, "PREEMPT_DYNAMIC") ||
                       KernelConfigValue(config, "CONFIG_PREEMPT_DYNAMIC") == "y";
  if (dynamic) {
    if (sources.debugfs) {
      if (std::optional<std::string> mode = Bracketed(*sources.debugfs)) return mode;
    }
    if (sources.kernel_log) {
      if (std::optional<std::string> mode = LoggedMode(*sources.kernel_log)) return mode;
    }
    if (sources.command_line) {
      if (std::optional<std::string> mode = BootMode(*sources.command_line)) return mode;
    }
    return BuiltMode(config);
  }
  if (std::optional<std::string> mode = BuiltMode(config)) return mode;
  if (!sources.version) return std::nullopt;
  return HasWord(version, "PREEMPT") ? "full or lazy" : "none or voluntary";
}

std::vector<std::string> KernelParameters(absl::string_view command_line) {
  std::vector<std::string> parameters;
  std::string word;
  bool quoted = false;
  const auto end_word = [&] {
    if (!word.empty()) parameters.push_back(word);
    word.clear();
  };
  for (const char character : command_line) {
    if (character == '"') quoted = !quoted;
    if (absl::ascii_isspace(static_cast<unsigned char>(character)) && !quoted) {
      end_word();
      if (!parameters.empty() && parameters.back() == "--") break;
    } else {
      word.push_back(character);
    }
  }
  end_word();
  if (!parameters.empty() && parameters.back() == "--") parameters.pop_back();
  return parameters;
}

std::vector<std::string> OutOfTreeSchedulerSwitches(absl::string_view command_line) {
  constexpr absl::string_view kMainline[] = {"sched_debug", "sched_verbose", "sched_proxy_exec",
                                             "sched_thermal_decay_shift", "schedstats"};
  std::vector<std::string> unknown;
  for (const std::string& parameter : KernelParameters(command_line)) {
    // The kernel takes '-' and '_' in a name for the same (kernel/params.c).
    const std::string name = absl::StrReplaceAll(
        absl::string_view(parameter).substr(0, parameter.find('=')), {{"-", "_"}});
    if (!absl::StartsWith(name, "sched")) continue;
    if (std::find(std::begin(kMainline), std::end(kMainline), name) == std::end(kMainline)) {
      unknown.push_back(parameter);
    }
  }
  return unknown;
}

// /dev/kmsg gives one record a read, EPIPE where records were overwritten meanwhile, and EAGAIN at
// the end (Documentation/ABI/testing/dev-kmsg).
std::optional<std::string> ReadKernelLog(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) return std::nullopt;
  std::string log;
  std::array<char, 8192> record;
  while (log.size() < kMaxTextBytes) {
    const ssize_t count = read(fd.get(), record.data(), record.size());
    if (count < 0 && (errno == EINTR || errno == EPIPE)) continue;
    if (count < 0 && errno != EAGAIN && log.empty()) return std::nullopt;
    if (count <= 0) break;
    log.append(record.data(), static_cast<size_t>(count));
  }
  return log;
}

}  // namespace whylate
