// What is known of the machine that a session ran on: an ordered list of named facts.
//
// A fact without a value is unknown (unreadable, not there, not allowed): never "", "0" or "-1".
// Keys are snake_case and unique; values are text as the kernel gave it, hence hostile bytes: a
// writer escapes them. Units are in the key (`ram_bytes`, `base_slice_ns`).
//
//   std::vector<HostFact> host = {{"kernel", "6.18.0"}, {"hz", std::nullopt}};
//   FindFact(host, "kernel");  // "6.18.0"
#ifndef WHYLATE_ANALYSIS_MODEL_HOST_H_
#define WHYLATE_ANALYSIS_MODEL_HOST_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace whylate {

struct HostFact {
  std::string key;
  std::optional<std::string> value;
  friend bool operator==(const HostFact&, const HostFact&) = default;
};

// The value of the fact named `key`; nullopt when it is unknown or not listed.
inline std::optional<std::string> FindFact(const std::vector<HostFact>& facts,
                                           absl::string_view key) {
  for (const HostFact& fact : facts) {
    if (fact.key == key) return fact.value;
  }
  return std::nullopt;
}

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_MODEL_HOST_H_
