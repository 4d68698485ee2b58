// Recordings that no machine made: every kind of event, each optional fact set or not, names of
// hostile bytes, numbers at the ends of their types. In total order; else arbitrary. For what must
// keep a recording as it is, not for what understands it.
#ifndef WHYLATE_TESTS_SUPPORT_RANDOM_RECORDING_H_
#define WHYLATE_TESTS_SUPPORT_RANDOM_RECORDING_H_

#include <cstdint>
#include <string>

#include "analysis/model/recording.h"

namespace whylate {

Recording MakeRandomRecording(uint64_t seed, int events);

// The first thing that differs between the two, in words; empty where they are the same.
std::string Difference(const Recording& a, const Recording& b);

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_RANDOM_RECORDING_H_
