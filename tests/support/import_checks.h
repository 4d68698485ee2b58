// What must hold of whatever a reader of foreign traces returns.
#ifndef WHYLATE_TESTS_SUPPORT_IMPORT_CHECKS_H_
#define WHYLATE_TESTS_SUPPORT_IMPORT_CHECKS_H_

#include "absl/status/statusor.h"
#include "analysis/import/imported_trace.h"

namespace whylate {

// An error of one line; or a recording in total order, numbered without holes, within its bounds,
// with notes of one line, of which a Timeline can be made. Without an event the notes tell something.
bool IsRefusedOrSound(const absl::StatusOr<ImportedTrace>& trace);

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_IMPORT_CHECKS_H_
