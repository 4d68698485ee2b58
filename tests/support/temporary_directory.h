// A directory of a test's own, removed with all that is in it.
#ifndef WHYLATE_TESTS_SUPPORT_TEMPORARY_DIRECTORY_H_
#define WHYLATE_TESTS_SUPPORT_TEMPORARY_DIRECTORY_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace whylate {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = absl::StrCat(testing::TempDir(), "/whylate-test-XXXXXX");
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = std::filesystem::canonical(pattern).string();
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string Path(const std::string& name) const { return absl::StrCat(path_, "/", name); }

  void Write(const std::string& name, const std::string& contents) const {
    std::ofstream(Path(name), std::ios::binary) << contents;
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool Has(const std::string& name) const {
    std::error_code ignored;
    return std::filesystem::exists(std::filesystem::symlink_status(Path(name), ignored));
  }
  std::ptrdiff_t EntryCount() const {
    return std::distance(std::filesystem::directory_iterator(path_), {});
  }

 private:
  std::string path_;
};

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_TEMPORARY_DIRECTORY_H_
