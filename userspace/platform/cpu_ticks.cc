#include "userspace/platform/cpu_ticks.h"

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "userspace/platform/files.h"

namespace whylate {

// cpu user nice system idle iowait irq softirq steal guest guest_nice
std::optional<CpuTicks> ReadCpuTicks(const std::string& proc) {
  constexpr size_t kIdleField = 4;
  constexpr size_t kIowaitField = 5;
  constexpr size_t kStealField = 8;
  const absl::StatusOr<std::string> text = ReadFile(absl::StrCat(proc, "/stat"));
  if (!text.ok()) return std::nullopt;
  const absl::string_view line = absl::string_view(*text).substr(0, text->find('\n'));
  const std::vector<absl::string_view> fields = absl::StrSplit(line, ' ', absl::SkipEmpty());
  if (fields.size() <= kStealField || fields[0] != "cpu") return std::nullopt;
  CpuTicks ticks;
  for (size_t i = 1; i <= kStealField; ++i) {
    int64_t value = 0;
    if (!absl::SimpleAtoi(fields[i], &value)) return std::nullopt;
    ticks.all += value;
    if (i != kIdleField && i != kIowaitField) ticks.busy += value;
    ticks.steal = value;
  }
  return ticks;
}

}  // namespace whylate
