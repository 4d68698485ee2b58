// A Perfetto trace as text, as far as the tests look at it: a line a packet or ftrace event.
//
//   PacketLines(bytes);  // {"track 3: frames", "begin 1000 on 3: frame 7", "cpu 0: 2 sched_switch"}
#ifndef WHYLATE_TESTS_SUPPORT_PERFETTO_TEXT_H_
#define WHYLATE_TESTS_SUPPORT_PERFETTO_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace whylate {

// "track NAME", "begin TIME NAME", "end TIME", "instant TIME NAME", "counter TIME VALUE", with
// " leaves" or " arrives" where an arrow does; of a bundle "cpu N", with " lost" where events were,
// and then its events: "  TIME FIELD", by the field's number, or by the name of a generic event.
std::vector<std::string> PacketLines(absl::string_view trace);

// Every string of the trace's own texts, to whatever depth: what could be invalid UTF-8.
bool IsValidUtf8(absl::string_view text);

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_PERFETTO_TEXT_H_
