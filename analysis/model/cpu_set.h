// A set of CPUs, of any size, with the kernel's list notation ("0-3,5").
//
//   ASSIGN_OR_RETURN(CpuSet set, CpuSet::Parse("0-1,4"));
//   set.Contains(CpuId{4});  // true
//   set.ToString();          // "0-1,4"
#ifndef WHYLATE_ANALYSIS_MODEL_CPU_SET_H_
#define WHYLATE_ANALYSIS_MODEL_CPU_SET_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/model/ids.h"

namespace whylate {

// One pointer, null for the empty set: events have room for sets and seldom one in it.
class CpuSet {
 public:
  // The kernel's largest NR_CPUS; a list that names a higher number is a mistake.
  static constexpr int32_t kMaxCpus = 8192;

  // Parses the list notation. Empty text, a reversed range, a number past kMaxCpus or anything else
  // but digits, '-' and ',' is InvalidArgument with the offending part named.
  static absl::StatusOr<CpuSet> Parse(absl::string_view text);

  CpuSet() = default;
  CpuSet(const CpuSet& other);
  CpuSet& operator=(const CpuSet& other);
  CpuSet(CpuSet&&) = default;
  CpuSet& operator=(CpuSet&&) = default;
  ~CpuSet() = default;

  void Add(CpuId cpu);
  bool Contains(CpuId cpu) const;
  int32_t Count() const;
  bool empty() const { return words_ == nullptr; }
  // True when every CPU of this set is in `other`.
  bool IsSubsetOf(const CpuSet& other) const;
  // In ascending order.
  std::vector<CpuId> ToVector() const;
  std::string ToString() const;

  friend bool operator==(const CpuSet& a, const CpuSet& b);

 private:
  using Words = absl::InlinedVector<uint64_t, 2>;

  size_t size() const { return words_ == nullptr ? 0 : words_->size(); }
  // 0 past the last.
  uint64_t Word(size_t index) const { return index < size() ? (*words_)[index] : 0; }

  std::unique_ptr<Words> words_;  // bit i of word w is CPU 64 w + i; no trailing zero words
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_MODEL_CPU_SET_H_
