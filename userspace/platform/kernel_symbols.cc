#include "userspace/platform/kernel_symbols.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "absl/strings/str_split.h"
#include "userspace/platform/files.h"

namespace whylate {

KernelSymbols KernelSymbols::Parse(absl::string_view text) {
  KernelSymbols symbols;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    uint64_t address = 0;
    const char* const end = line.data() + line.size();
    const auto [at, error] = std::from_chars(line.data(), end, address, 16);
    if (error != std::errc() || address == 0) continue;
    // " T name", and perhaps a module behind a tab.
    const absl::string_view rest(at, static_cast<size_t>(end - at));
    if (rest.size() < 4 || rest[0] != ' ' || rest[2] != ' ') continue;
    if (absl::string_view("tTwW").find(rest[1]) == absl::string_view::npos) continue;
    const absl::string_view name = rest.substr(3, rest.find_first_of(" \t", 3) - 3);
    symbols.functions_.emplace_back(address, std::string(name));
  }
  std::stable_sort(symbols.functions_.begin(), symbols.functions_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return symbols;
}

const KernelSymbols& KernelSymbols::OfThisKernel() {
  static const KernelSymbols* const symbols =
      new KernelSymbols(Parse(ReadFile("/proc/kallsyms").value_or("")));
  return *symbols;
}

std::optional<uint64_t> KernelSymbols::AddressOf(absl::string_view function) const {
  for (const auto& [address, name] : functions_) {
    if (name == function) return address;
  }
  return std::nullopt;
}

absl::string_view KernelSymbols::NameAt(uint64_t address) const {
  const auto after =
      std::partition_point(functions_.begin(), functions_.end(),
                           [&](const auto& function) { return function.first <= address; });
  return after == functions_.begin() ? absl::string_view() : std::prev(after)->second;
}

}  // namespace whylate
