// A throw-away directory that stands for /proc, /sys, /boot, /etc and the kernel log.
//
//   FakeTree tree;
//   tree.Write("proc/cmdline", "quiet\n");
//   ReadHostFacts(tree.paths(), tree.root());
#ifndef WHYLATE_TESTS_USERSPACE_PLATFORM_FAKE_TREE_H_
#define WHYLATE_TESTS_USERSPACE_PLATFORM_FAKE_TREE_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "userspace/platform/host.h"

namespace whylate {

class FakeTree {
 public:
  FakeTree() {
    std::string pattern = absl::StrCat(testing::TempDir(), "/whylate-tree-XXXXXX");
    const char* made = mkdtemp(pattern.data());
    if (made == nullptr) std::abort();
    root_ = std::filesystem::canonical(made).string();
  }
  ~FakeTree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  FakeTree(const FakeTree&) = delete;
  FakeTree& operator=(const FakeTree&) = delete;

  const std::string& root() const { return root_; }
  std::string Path(const std::string& relative) const { return absl::StrCat(root_, "/", relative); }

  // Creates or replaces a file, and the directories above it.
  void Write(const std::string& relative, const std::string& contents) const {
    MakeDirectory(std::filesystem::path(relative).parent_path().string());
    std::ofstream(Path(relative), std::ios::binary) << contents;
  }
  void MakeDirectory(const std::string& relative) const {
    std::filesystem::create_directories(Path(relative));
  }

  HostPaths paths() const {
    HostPaths paths;
    paths.proc = Path("proc");
    paths.sys = Path("sys");
    paths.boot = Path("boot");
    paths.etc = Path("etc");
    paths.kernel_log = Path("kmsg");
    paths.hypervisor_signature = "KVMKVMKVM";
    return paths;
  }

 private:
  std::string root_;
};

}  // namespace whylate

#endif  // WHYLATE_TESTS_USERSPACE_PLATFORM_FAKE_TREE_H_
