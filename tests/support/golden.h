// Outputs that are compared byte for byte with a file in tests/golden/.
//
//   EXPECT_EQ(ReportToText(report), Golden("report.txt", ReportToText(report)));
//
// WHYLATE_UPDATE_GOLDEN=1 in the environment replaces the files by what the tests got: look at the
// difference before you commit it.
#ifndef WHYLATE_TESTS_SUPPORT_GOLDEN_H_
#define WHYLATE_TESTS_SUPPORT_GOLDEN_H_

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"

namespace whylate {

inline std::string Golden(const std::string& name, const std::string& actual) {
  const std::string path = absl::StrCat(WHYLATE_GOLDEN_DIRECTORY, "/", name);
  if (std::getenv("WHYLATE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << actual;
  }
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_GOLDEN_H_
