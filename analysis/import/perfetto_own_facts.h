// Puts the facts of our generic ftrace events into the events that they complete.
#ifndef WHYLATE_ANALYSIS_IMPORT_PERFETTO_OWN_FACTS_H_
#define WHYLATE_ANALYSIS_IMPORT_PERFETTO_OWN_FACTS_H_

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "analysis/import/perfetto_own_events.h"
#include "analysis/model/sched_event.h"

namespace whylate {

// True where events named `name` complete a standard one; `event` is the one before it. False
// through `understood` where it is not one that such facts belong to, or a fact is not understood.
bool CompleteEvent(absl::string_view name, const std::vector<GenericFact>& facts, SchedEvent* event,
                   bool* understood);

// The event that a generic one is by itself; nullopt where it is none of ours.
std::optional<SchedEventBody> StandaloneEvent(absl::string_view name,
                                              const std::vector<GenericFact>& facts);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_PERFETTO_OWN_FACTS_H_
