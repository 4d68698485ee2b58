// A field of a binary ftrace record, found by the format that the kernel publishes, and never read
// past the record's end: records are untrusted bytes.
//
//   const tep_format_field* pid = tep_find_field(event, "prev_pid");
//   std::optional<int64_t> tid = FtraceNumber(pid, record);
#ifndef WHYLATE_ANALYSIS_IMPORT_FTRACE_FIELD_H_
#define WHYLATE_ANALYSIS_IMPORT_FTRACE_FIELD_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

struct tep_format_field;

namespace whylate {

// nullopt where the format lacks the field (nullptr) or the record is too short for it. Numbers of
// four bytes are signed where the format says so; one of eight keeps its bits.
std::optional<int64_t> FtraceNumber(const tep_format_field* field,
                                    absl::Span<const uint8_t> record);

// Up to the first NUL; "" where there is none. The view is of the record.
absl::string_view FtraceText(const tep_format_field* field, absl::Span<const uint8_t> record);

}  // namespace whylate

#endif  // WHYLATE_ANALYSIS_IMPORT_FTRACE_FIELD_H_
