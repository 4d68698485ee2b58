#include "userspace/workload/baton.h"

#include <cstdint>
#include <thread>

#include "gtest/gtest.h"

namespace whylate {
namespace {

TEST(BatonTest, WhatWasPassedIsTaken) {
  Baton baton;
  for (const uint32_t number : {uint32_t{0}, uint32_t{1}, uint32_t{2}, Baton::kMostNumber}) {
    baton.Pass(number);
    EXPECT_EQ(baton.Take(), number);
  }
}

// Each side waits for the other, before and after it sleeps; what is written before a pass is seen.
TEST(BatonTest, GoesBackAndForthInOrderWithWhatWasWritten) {
  constexpr uint32_t kTurns = 20000;
  Baton there;
  Baton back;
  uint32_t written = 0;
  std::thread other([&] {
    for (uint32_t i = 0; i < kTurns; ++i) {
      const uint32_t number = there.Take();
      EXPECT_EQ(written, number);
      written = number + 1;
      back.Pass(number);
    }
  });
  for (uint32_t i = 0; i < kTurns; ++i) {
    written = i;
    there.Pass(i);
    ASSERT_EQ(back.Take(), i);
    ASSERT_EQ(written, i + 1);
  }
  other.join();
}

}  // namespace
}  // namespace whylate
