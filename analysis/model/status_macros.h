// RETURN_IF_ERROR and ASSIGN_OR_RETURN, which Debian 12's Abseil (20220623) does not ship.
#ifndef WHYLATE_ANALYSIS_MODEL_STATUS_MACROS_H_
#define WHYLATE_ANALYSIS_MODEL_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define RETURN_IF_ERROR(expression)                    \
  do {                                                 \
    absl::Status whylate_status_ = (expression);       \
    if (!whylate_status_.ok()) return whylate_status_; \
  } while (false)

#define WHYLATE_CONCAT_INNER(a, b) a##b
#define WHYLATE_CONCAT(a, b) WHYLATE_CONCAT_INNER(a, b)

#define ASSIGN_OR_RETURN(declaration, expression) \
  WHYLATE_ASSIGN_OR_RETURN(WHYLATE_CONCAT(whylate_statusor_, __LINE__), declaration, expression)

#define WHYLATE_ASSIGN_OR_RETURN(temporary, declaration, expression) \
  auto temporary = (expression);                                     \
  if (!temporary.ok()) return temporary.status();                    \
  declaration = *std::move(temporary)

#endif  // WHYLATE_ANALYSIS_MODEL_STATUS_MACROS_H_
