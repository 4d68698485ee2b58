// How the running kernel was built and booted: its configuration, preemption mode, command line.
//
//   std::optional<std::string> config = ReadKernelConfig("/proc", "/boot", "6.18.0");
//   if (config) KernelConfigValue(*config, "CONFIG_HZ");  // "250"
#ifndef WHYLATE_USERSPACE_PLATFORM_KERNEL_CONFIG_H_
#define WHYLATE_USERSPACE_PLATFORM_KERNEL_CONFIG_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace whylate {

// Text of `proc`/config.gz, else of `boot`/config-`release`; nullopt where neither can be read.
std::optional<std::string> ReadKernelConfig(const std::string& proc, const std::string& boot,
                                            const std::string& release);

// "y", "m", "250", a quoted string with its quotes; nullopt when `name` is not set.
std::optional<std::string> KernelConfigValue(absl::string_view config, absl::string_view name);

// 16 hex digits that tell configurations apart: 64-bit FNV-1a (Fowler, Noll, Vo) of the text.
std::string KernelConfigHash(absl::string_view config);

// Where the preemption mode may show. Each is unset where it can't be read.
struct PreemptSources {
  std::optional<std::string> debugfs;       // /sys/kernel/debug/sched/preempt: "none (full)"
  std::optional<std::string> version;       // uname -v: "#1 SMP PREEMPT_DYNAMIC Mon ..."
  std::optional<std::string> kernel_log;    // holds "Dynamic Preempt: none" since the last change
  std::optional<std::string> command_line;  // preempt=full
  std::optional<std::string> config;
};

// "none", "voluntary", "full", "lazy" or "rt"; where a static kernel without a readable config
// leaves two, "none or voluntary" or "full or lazy" (lazy: 6.13 and later). nullopt when nothing
// tells.
std::optional<std::string> PreemptMode(const PreemptSources& sources);

// Words of a kernel command line that the kernel itself gets: those before "--", with "quoted
// spaces" kept together.
std::vector<std::string> KernelParameters(absl::string_view command_line);

// Those that name a scheduler switch (sched*) which mainline does not document: a patched kernel.
// Documented ones are those of Documentation/admin-guide/kernel-parameters.txt up to 6.18.
std::vector<std::string> OutOfTreeSchedulerSwitches(absl::string_view command_line);

// The kernel's log as far as `path` (/dev/kmsg) gives it, in record format; nullopt when
// unreadable.
std::optional<std::string> ReadKernelLog(const std::string& path);

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_KERNEL_CONFIG_H_
