// Fewer page faults in what is filled from begin to end.
//
//   events.reserve(count);
//   PreferHugePages(events.data(), count * sizeof(SchedEvent));
#ifndef WHYLATE_ANALYSIS_MODEL_HUGE_PAGES_H_
#define WHYLATE_ANALYSIS_MODEL_HUGE_PAGES_H_

#include <cstddef>

namespace whylate {

// Hints to the kernel that this memory, not used yet, is to come in huge pages. Nothing else changes,
// and where the kernel has none, or the memory is less than one, nothing at all.
void PreferHugePages(void* data, size_t size_bytes);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_MODEL_HUGE_PAGES_H_
