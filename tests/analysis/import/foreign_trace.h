// Tasks and shorthands that the tests of foreign Perfetto traces share.
#ifndef WHYLATE_TESTS_ANALYSIS_IMPORT_FOREIGN_TRACE_H_
#define WHYLATE_TESTS_ANALYSIS_IMPORT_FOREIGN_TRACE_H_

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "analysis/import/imported_trace.h"
#include "analysis/import/perfetto.h"
#include "gtest/gtest.h"
#include "tests/support/made_perfetto.h"
#include "tests/support/status_matchers.h"

namespace whylate {

inline const MadeTask kIdle = {0, "swapper/0", 120};
inline const MadeTask kSeven = {7, "seven", 120};
inline const MadeTask kEight = {8, "eight", 98};

inline ImportedTrace Import(const std::string& bytes) {
  absl::StatusOr<ImportedTrace> trace = ImportPerfetto(bytes, ImportLimits());
  EXPECT_THAT(trace, IsOk());
  return trace.ok() ? *std::move(trace) : ImportedTrace();
}

template <typename Event>
std::vector<Event> EventsOf(const ImportedTrace& trace) {
  std::vector<Event> events;
  for (const SchedEvent& event : trace.recording.events) {
    if (const auto* body = std::get_if<Event>(&event.body)) events.push_back(*body);
  }
  return events;
}

}  // namespace whylate

#endif  // WHYLATE_TESTS_ANALYSIS_IMPORT_FOREIGN_TRACE_H_
