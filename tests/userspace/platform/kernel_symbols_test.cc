#include "userspace/platform/kernel_symbols.h"

#include <gtest/gtest.h>

#include <optional>

namespace whylate {
namespace {

TEST(KernelSymbols, FunctionThatBeginsAtOrBeforeTheAddress) {
  const KernelSymbols symbols = KernelSymbols::Parse(
      "ffffffff81000200 T b\n"
      "ffffffff81000100 t a\n"
      "ffffffffc0000000 t in_module\t[ext4]\n");
  EXPECT_EQ(symbols.NameAt(0xffffffff81000100), "a");
  EXPECT_EQ(symbols.NameAt(0xffffffff810001ff), "a");
  EXPECT_EQ(symbols.NameAt(0xffffffff81000200), "b");
  EXPECT_EQ(symbols.NameAt(0xffffffffc0000010), "in_module");
  EXPECT_EQ(symbols.NameAt(0xffffffff810000ff), "");
}

TEST(KernelSymbols, WhereAFunctionBegins) {
  const KernelSymbols symbols = KernelSymbols::Parse("ff10 t a\nff20 T b\nff30 t a\tmodule\n");
  EXPECT_EQ(symbols.AddressOf("a"), 0xff10U);
  EXPECT_EQ(symbols.AddressOf("b"), 0xff20U);
  EXPECT_EQ(symbols.AddressOf("c"), std::nullopt);
}

TEST(KernelSymbols, DataAndOtherLinesAreNoFunctions) {
  EXPECT_TRUE(KernelSymbols::Parse("ffffffff81000100 D data\n"
                                   "ffffffff81000100 T\n"
                                   "zz T a\n"
                                   "ffffffffffffffffff T too_long\n"
                                   "\n")
                  .empty());
}

// What /proc/kallsyms shows to who may not see it.
TEST(KernelSymbols, HiddenAddressesNameNothing) {
  EXPECT_TRUE(KernelSymbols::Parse("0000000000000000 T a\n0000000000000000 T b\n").empty());
  EXPECT_EQ(KernelSymbols().NameAt(5), "");
}

}  // namespace
}  // namespace whylate
