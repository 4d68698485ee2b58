// Where tests play the scenarios of the selftest.
#ifndef WHYLATE_TESTS_SUPPORT_STAGE_H_
#define WHYLATE_TESTS_SUPPORT_STAGE_H_

#include <cstdint>
#include <string>

#include "userspace/selftest/scenario.h"

namespace whylate {

// The value of an environment variable that is a number above 0, else `otherwise`.
int64_t NumberFromEnvironment(const char* name, int64_t otherwise);

// Why scenarios cannot be played here; "" where they can.
std::string WhyNoStage();
// CPUs 0 and 1, runs of WHYLATE_SECONDS (2).
ScenarioStage MakeStage();

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_STAGE_H_
