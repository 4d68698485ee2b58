// Random recordings, one for each seed, for tests of what holds of all of them.
#ifndef WHYLATE_TESTS_ANALYSIS_ATTRIBUTION_GENERATED_STREAMS_H_
#define WHYLATE_TESTS_ANALYSIS_ATTRIBUTION_GENERATED_STREAMS_H_

#include <cstdint>
#include <cstdlib>
#include <random>

#include "gtest/gtest.h"
#include "tests/support/trace_generator.h"

namespace whylate {

inline constexpr int64_t kUnitNs = 50'000;

inline GeneratorOptions OptionsOf(uint64_t seed) {
  GeneratorOptions options;
  options.seed = seed;
  options.cpus = static_cast<int32_t>(1 + seed % 3);
  options.actions = static_cast<int32_t>(60 + seed % 5 * 60);
  options.unit_ns = kUnitNs;
  options.rt_workload = seed % 4 == 0;
  options.asleep_at_release = seed % 2 == 0;
  options.exact_demand = seed % 3 == 0;
  return options;
}

// The seed is its parameter.
class GeneratedStreamTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  GeneratedStreamTest() : options_(OptionsOf(GetParam())), random_(GetParam() * 7919 + 1) {}

  int64_t Pick(int64_t below) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(below));
  }

  GeneratorOptions options_;
  std::mt19937_64 random_;
};

// More of them: WHYLATE_PROPERTY_SEEDS=5000.
inline uint64_t Seeds() {
  const char* text = std::getenv("WHYLATE_PROPERTY_SEEDS");
  return text == nullptr ? 120 : std::strtoull(text, nullptr, 10);
}

}  // namespace whylate

#endif  // WHYLATE_TESTS_ANALYSIS_ATTRIBUTION_GENERATED_STREAMS_H_
