// A CPU's stints and a task's spans as short text, for tests of drawn traces.
#ifndef WHYLATE_TESTS_SUPPORT_TRACE_TIMELINE_TEXT_H_
#define WHYLATE_TESTS_SUPPORT_TRACE_TIMELINE_TEXT_H_

#include <cstdint>
#include <string>

#include "analysis/timeline/timeline.h"

namespace whylate {

// "10 0-3 | idle 3-8* | ? 8-9 (events lost)": tids, "*" where an end was rebuilt.
std::string StintsText(const Timeline& timeline, int32_t cpu, int64_t unit_ns = 1);

// "blocked 0-1 | waking 1-2 | queued@0 2-5* | running@0 5-9 | unknown 9-10 (hidden task)" of the
// life of the tid that is spoken of at the recording's end; "..." before a span goes on the wait
// before it.
std::string SpansText(const Timeline& timeline, int32_t tid, int64_t unit_ns = 1);

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_TRACE_TIMELINE_TEXT_H_
