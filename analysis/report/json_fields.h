// Small helpers that the JSON writers and readers of this folder share.
//
// Reading throws nlohmann::json exceptions; the public reader catches them in one place.
#ifndef WHYLATE_ANALYSIS_REPORT_JSON_FIELDS_H_
#define WHYLATE_ANALYSIS_REPORT_JSON_FIELDS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

namespace whylate {

using Json = nlohmann::ordered_json;

// null for nullopt.
template <typename T>
Json OptionalJson(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// nullopt for null and for an absent key.
template <typename T>
std::optional<T> OptionalField(const Json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return std::nullopt;
  return it->get<T>();
}

// `origin_ns` + the relative time that `value` holds. Throws where either is past what a clock can
// say (2^60 ns are 36 years), so that no difference of two times overflows.
inline int64_t TimeFrom(const Json& value, int64_t origin_ns) {
  constexpr int64_t kMostNs = int64_t{1} << 60;
  const auto relative_ns = value.get<int64_t>();
  if (relative_ns < -kMostNs || relative_ns > kMostNs || origin_ns < -kMostNs ||
      origin_ns > kMostNs) {
    throw std::invalid_argument("a time is out of range");
  }
  return origin_ns + relative_ns;
}

// An amount of time or a count. Throws past 2^50 (13 days), so that thousands of them sum.
inline int64_t AmountFrom(const Json& value) {
  constexpr int64_t kMost = int64_t{1} << 50;
  const auto amount = value.get<int64_t>();
  if (amount < -kMost || amount > kMost) throw std::invalid_argument("an amount is out of range");
  return amount;
}

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_JSON_FIELDS_H_
