// gMock matchers for absl::Status and absl::StatusOr, which Debian 12's Abseil does not ship.
//
//   EXPECT_THAT(WriteFile(...), IsOk());
//   EXPECT_THAT(CpuSet::Parse("x"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'x'")));
//   EXPECT_THAT(FreeBytes("/"), IsOkAndHolds(Gt(0)));
#ifndef WHYLATE_TESTS_SUPPORT_STATUS_MATCHERS_H_
#define WHYLATE_TESTS_SUPPORT_STATUS_MATCHERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"

namespace whylate {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

MATCHER(IsOk, negation ? "is an error" : "is OK") {
  *result_listener << "which is " << StatusOf(arg).ToString();
  return StatusOf(arg).ok();
}

// A status of `code` and with a message, text, that are or match what is given.
MATCHER_P2(StatusIs, code, message, "has the expected status code and message") {
  const absl::Status& status = StatusOf(arg);
  *result_listener << "which is " << status.ToString() << " ";
  return testing::ExplainMatchResult(code, status.code(), result_listener) &&
         testing::ExplainMatchResult(message, std::string(status.message()), result_listener);
}

// A StatusOr that is OK and whose value matches `value`, a value or a matcher.
MATCHER_P(IsOkAndHolds, value, "is OK and holds the expected value") {
  if (!arg.ok()) {
    *result_listener << "which is " << arg.status().ToString();
    return false;
  }
  return testing::ExplainMatchResult(value, *arg, result_listener);
}

}  // namespace whylate

#endif  // WHYLATE_TESTS_SUPPORT_STATUS_MATCHERS_H_
