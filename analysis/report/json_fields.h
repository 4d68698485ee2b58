// Small helpers that the JSON writers and readers of this folder share.
//
// Reading throws nlohmann::json exceptions; the public reader catches them in one place.
#ifndef WHYLATE_ANALYSIS_REPORT_JSON_FIELDS_H_
#define WHYLATE_ANALYSIS_REPORT_JSON_FIELDS_H_

#include <nlohmann/json.hpp>
#include <optional>
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

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_REPORT_JSON_FIELDS_H_
