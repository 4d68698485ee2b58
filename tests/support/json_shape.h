// Checks that a JSON object has the keys of a schema, each of the right type.
//
//   ExpectShape(report, {{"schema", "string"}, {"finished", "string|null"}});
#ifndef WHYLATE_TESTS_SUPPORT_JSON_SHAPE_H_
#define WHYLATE_TESTS_SUPPORT_JSON_SHAPE_H_

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "analysis/report/json_fields.h"
#include "gtest/gtest.h"

namespace whylate {

// "integer", "float", "string", "boolean", "array", "object" or "null".
inline std::string JsonTypeName(const Json& value) {
  if (value.is_number_integer()) return "integer";
  if (value.is_number_float()) return "float";
  return value.type_name();
}

// Other keys than those listed may be there: a schema may grow.
inline void ExpectShape(const Json& object,
                        const std::vector<std::pair<std::string, std::string>>& shape) {
  ASSERT_TRUE(object.is_object()) << object;
  for (const auto& [key, types] : shape) {
    ASSERT_TRUE(object.contains(key)) << "no key " << key << " in " << object;
    const std::vector<std::string> allowed = absl::StrSplit(types, '|');
    const std::string type = JsonTypeName(object.at(key));
    EXPECT_NE(std::find(allowed.begin(), allowed.end(), type), allowed.end())
        << key << " is " << type << ", not " << types;
  }
}

inline void ExpectArrayOf(const Json& array, absl::string_view type) {
  ASSERT_TRUE(array.is_array()) << array;
  for (const Json& element : array) EXPECT_EQ(JsonTypeName(element), type) << array;
}

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_JSON_SHAPE_H_
