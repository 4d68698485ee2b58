#include "userspace/workload/work.h"

namespace whylate {

[[gnu::noinline, gnu::aligned(64)]] uint64_t Work(uint64_t loops) {
  uint64_t value = loops;
  for (uint64_t i = 0; i < loops; ++i) {
    // Knuth's MMIX linear congruential generator: each step needs the one before.
    value = value * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(value));  // keeps the loop; costs no instruction
  }
  return value;
}

}  // namespace whylate
