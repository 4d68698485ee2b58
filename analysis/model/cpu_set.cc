#include "analysis/model/cpu_set.h"

#include <bit>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace whylate {
namespace {

absl::StatusOr<int32_t> ParseCpu(absl::string_view text) {
  int32_t value = 0;
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  if (!digits || !absl::SimpleAtoi(text, &value) || value >= CpuSet::kMaxCpus) {
    return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a CPU number (0 to ",
                                                   CpuSet::kMaxCpus - 1,
                                                   "); a list looks like 0-3,5"));
  }
  return value;
}

}  // namespace

absl::StatusOr<CpuSet> CpuSet::Parse(absl::string_view text) {
  CpuSet set;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(part, absl::MaxSplits('-', 1));
    absl::StatusOr<int32_t> first = ParseCpu(ends.first);
    if (!first.ok()) return first.status();
    absl::StatusOr<int32_t> last = part.find('-') == part.npos ? first : ParseCpu(ends.second);
    if (!last.ok()) return last.status();
    if (*last < *first) {
      return absl::InvalidArgumentError(absl::StrCat("the CPU range '", part, "' runs backwards"));
    }
    for (int32_t cpu = *first; cpu <= *last; ++cpu) set.Add(CpuId{cpu});
  }
  return set;
}

CpuSet::CpuSet(const CpuSet& other)
    : words_(other.words_ == nullptr ? nullptr : std::make_unique<Words>(*other.words_)) {}

CpuSet& CpuSet::operator=(const CpuSet& other) { return *this = CpuSet(other); }

void CpuSet::Add(CpuId cpu) {
  if (words_ == nullptr) words_ = std::make_unique<Words>();
  const auto word = static_cast<size_t>(cpu.value) / 64;
  if (word >= words_->size()) words_->resize(word + 1);
  (*words_)[word] |= uint64_t{1} << (static_cast<unsigned>(cpu.value) % 64);
}

bool CpuSet::Contains(CpuId cpu) const {
  if (cpu.value < 0) return false;
  const uint64_t word = Word(static_cast<size_t>(cpu.value) / 64);
  return (word >> (static_cast<unsigned>(cpu.value) % 64) & 1) != 0;
}

int32_t CpuSet::Count() const {
  int32_t count = 0;
  for (size_t i = 0; i < size(); ++i) count += std::popcount(Word(i));
  return count;
}

bool CpuSet::IsSubsetOf(const CpuSet& other) const {
  for (size_t i = 0; i < size(); ++i) {
    if ((Word(i) & ~other.Word(i)) != 0) return false;
  }
  return true;
}

std::vector<CpuId> CpuSet::ToVector() const {
  std::vector<CpuId> cpus;
  for (size_t i = 0; i < size() * 64; ++i) {
    const CpuId cpu{static_cast<int32_t>(i)};
    if (Contains(cpu)) cpus.push_back(cpu);
  }
  return cpus;
}

std::string CpuSet::ToString() const {
  std::vector<std::string> ranges;
  const std::vector<CpuId> cpus = ToVector();
  for (size_t i = 0; i < cpus.size();) {
    size_t j = i;
    while (j + 1 < cpus.size() && cpus[j + 1].value == cpus[j].value + 1) ++j;
    ranges.push_back(i == j ? absl::StrCat(cpus[i].value)
                            : absl::StrCat(cpus[i].value, "-", cpus[j].value));
    i = j + 1;
  }
  return absl::StrJoin(ranges, ",");
}

bool operator==(const CpuSet& a, const CpuSet& b) {
  if (a.empty() || b.empty()) return a.empty() == b.empty();
  return *a.words_ == *b.words_;
}

}  // namespace whylate
