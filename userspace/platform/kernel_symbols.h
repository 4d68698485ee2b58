// Names of the kernel's functions, by address.
//
//   const KernelSymbols symbols = KernelSymbols::Parse(ReadFile("/proc/kallsyms").value_or(""));
//   symbols.NameAt(0xffffffff81a2b3c4);  // "futex_wait_queue"
//
// The kernel shows addresses only to who may see them (kptr_restrict, CAP_SYSLOG); to others all are
// 0, and no name is found. Immutable, hence thread-safe.
#ifndef WHYLATE_USERSPACE_PLATFORM_KERNEL_SYMBOLS_H_
#define WHYLATE_USERSPACE_PLATFORM_KERNEL_SYMBOLS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace whylate {

class KernelSymbols {
 public:
  // `text` has the form of /proc/kallsyms: address, type, name, and perhaps a module. Code alone is
  // kept; lines of another form are skipped. O(n log n).
  static KernelSymbols Parse(absl::string_view text);
  // Those of the running kernel, read once in the life of a process: it takes tenths of a second.
  // Functions of modules that are loaded later have no names.
  static const KernelSymbols& OfThisKernel();

  // The function that begins at or before `address`; "" where none does. O(log n).
  absl::string_view NameAt(uint64_t address) const;
  // Where `function` begins, the first one of several; nullopt for none of that name. O(n).
  std::optional<uint64_t> AddressOf(absl::string_view function) const;
  bool empty() const { return functions_.empty(); }

 private:
  std::vector<std::pair<uint64_t, std::string>> functions_;  // by address
};

}  // namespace whylate

#endif  // WHYLATE_USERSPACE_PLATFORM_KERNEL_SYMBOLS_H_
