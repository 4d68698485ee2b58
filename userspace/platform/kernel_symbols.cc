#include "userspace/platform/kernel_symbols.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "absl/strings/str_split.h"

namespace whylate {

KernelSymbols KernelSymbols::Parse(absl::string_view text) {
  KernelSymbols symbols;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> fields =
        absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (fields.size() < 3) continue;
    const absl::string_view type = fields[1];
    if (type != "t" && type != "T" && type != "w" && type != "W") continue;
    uint64_t address = 0;
    const char* end = fields[0].data() + fields[0].size();
    const auto [at, error] = std::from_chars(fields[0].data(), end, address, 16);
    if (error != std::errc() || at != end || address == 0) continue;
    symbols.functions_.emplace_back(address, std::string(fields[2]));
  }
  std::stable_sort(symbols.functions_.begin(), symbols.functions_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return symbols;
}

absl::string_view KernelSymbols::NameAt(uint64_t address) const {
  const auto after =
      std::partition_point(functions_.begin(), functions_.end(),
                           [&](const auto& function) { return function.first <= address; });
  return after == functions_.begin() ? absl::string_view() : std::prev(after)->second;
}

}  // namespace whylate
