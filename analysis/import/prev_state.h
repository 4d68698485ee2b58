// What sched_switch says of the state in which a task left its CPU: numbers that changed their
// meaning between kernels, or the letters that those were printed as.
//
// Up to 4.13 the number is the task's state as it is, and a bit above all states marks a preempted
// task. 4.14 records the index of the state, and prints it as if it were flags: an idle kernel
// thread (8) reads "t". From 4.15 on it is one flag of eight, and 0x100 a preempted task
// (include/trace/events/sched.h).
#ifndef WHYLATE_ANALYSIS_IMPORT_PREV_STATE_H_
#define WHYLATE_ANALYSIS_IMPORT_PREV_STATE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "analysis/model/sched_event.h"

namespace whylate {

enum class StateLayout : uint8_t { kFlags, kIndices, kOldFlags };

struct PrevState {
  SwitchOut out = SwitchOut::kUnknown;
  uint32_t flags = 0;     // as 4.15 and later record it
  bool is_index = false;  // cannot be anything but 4.14's index
};

// Of "4.14.15-v7+" and the like; nullopt where that is no kernel's release.
std::optional<StateLayout> LayoutOfKernel(absl::string_view release);
// What a trace's largest numeric state tells, where the kernel is not known.
StateLayout LayoutOfLargest(uint32_t largest_state);

PrevState PrevStateOfNumber(uint32_t number, StateLayout layout);
// "R", "R+", "S", "D|K" ..; nullopt for anything else.
std::optional<PrevState> PrevStateOfLetters(absl::string_view letters);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_PREV_STATE_H_
