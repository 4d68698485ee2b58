// A set of CPUs, of any size, with the kernel's list notation ("0-3,5").
//
//   ASSIGN_OR_RETURN(CpuSet set, CpuSet::Parse("0-1,4"));
//   set.Contains(CpuId{4});  // true
//   set.ToString();          // "0-1,4"
#ifndef WHYLATE_ANALYSIS_MODEL_CPU_SET_H_
#define WHYLATE_ANALYSIS_MODEL_CPU_SET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "analysis/model/ids.h"

namespace whylate {

class CpuSet {
 public:
  // The kernel's largest NR_CPUS; a list that names a higher number is a mistake.
  static constexpr int32_t kMaxCpus = 8192;

  // Parses the list notation. Empty text, a reversed range, a number past kMaxCpus or anything else
  // but digits, '-' and ',' is InvalidArgument with the offending part named.
  static absl::StatusOr<CpuSet> Parse(absl::string_view text);

  void Add(CpuId cpu);
  bool Contains(CpuId cpu) const;
  int32_t Count() const;
  bool empty() const { return Count() == 0; }
  // True when every CPU of this set is in `other`.
  bool IsSubsetOf(const CpuSet& other) const;
  // In ascending order.
  std::vector<CpuId> ToVector() const;
  std::string ToString() const;

  friend bool operator==(const CpuSet& a, const CpuSet& b);

 private:
  std::vector<uint64_t> words_;  // bit i of word w is CPU 64 w + i; no trailing zero words
};

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_MODEL_CPU_SET_H_
