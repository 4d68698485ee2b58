#include "userspace/platform/errno_status.h"

#include <cerrno>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace whylate {
namespace {

TEST(ErrnoStatusTest, SaysWhatWasAttemptedAndWhatWentWrong) {
  EXPECT_EQ(ErrnoStatus(ENOENT, "open /x").message(), "open /x: No such file or directory");
}

TEST(ErrnoStatusTest, TheCodeFitsTheErrno) {
  using absl::StatusCode;
  EXPECT_EQ(ErrnoStatus(EACCES, "").code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(ErrnoStatus(EPERM, "").code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(ErrnoStatus(EROFS, "").code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(ErrnoStatus(ENOENT, "").code(), StatusCode::kNotFound);
  EXPECT_EQ(ErrnoStatus(ESRCH, "").code(), StatusCode::kNotFound);
  EXPECT_EQ(ErrnoStatus(EEXIST, "").code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(ErrnoStatus(ENOSPC, "").code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrnoStatus(EDQUOT, "").code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrnoStatus(ENOMEM, "").code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrnoStatus(EINVAL, "").code(), StatusCode::kFailedPrecondition);
}

TEST(ErrnoStatusTest, AnErrnoOfNoClassIsStillAnError) {
  EXPECT_EQ(ErrnoStatus(EIO, "read").code(), absl::StatusCode::kInternal);
  EXPECT_FALSE(ErrnoStatus(99999, "read").ok());
}

// A wrong flag of the user's is InvalidArgument; what the kernel refuses never is.
TEST(ErrnoStatusTest, IsNeverInvalidArgument) {
  for (int error = 1; error < 140; ++error) {
    EXPECT_FALSE(absl::IsInvalidArgument(ErrnoStatus(error, ""))) << error;
  }
}

}  // namespace
}  // namespace whylate
